// Nothing allocates inside a step: every buffer has its place in the workspace or
// on the stack of a task, and the last level calls nothing but the caller's
// parallel-for.
// RUN: moec compile --quiet --taps --emit=bufferized %S/../models/tiny-kimi/config.json \
// RUN:   | FileCheck %s --check-prefix=BUFFERS --implicit-check-not='memref.alloc(' --implicit-check-not=memref.dealloc
// RUN: moec compile --quiet --taps --attention=expanded --activations=fp8 --emit=bufferized \
// RUN:   %S/../models/tiny-kimi/config.json \
// RUN:   | FileCheck %s --check-prefix=BUFFERS --implicit-check-not='memref.alloc(' --implicit-check-not=memref.dealloc
// RUN: moec compile --quiet --taps --emit=llvm %S/../models/tiny-kimi/config.json \
// RUN:   | FileCheck %s --check-prefix=LLVM --implicit-check-not=malloc --implicit-check-not=@free
// RUN: moec compile --quiet --emit=bufferized %S/../models/configs/moonshotai__Kimi-K2-Instruct.json \
// RUN:   | FileCheck %s --check-prefix=BUFFERS --implicit-check-not='memref.alloc(' --implicit-check-not=memref.dealloc

// BUFFERS-LABEL: func.func @moec_step(
// BUFFERS-SAME: moec.workspace_bytes_fixed = {{[0-9]+}} : i64, moec.workspace_bytes_per_token = {{[1-9][0-9]*}} : i64
// BUFFERS: rt.buffer %{{.*}} workspace offset
// BUFFERS: rt.parallel
// BUFFERS: return

// No function is declared, so none is called by name.
// LLVM-LABEL: llvm.func @moec_step(
// LLVM-NOT: llvm.call @{{([^m]|m[^o]|mo[^e])}}
// LLVM: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> ()
// LLVM-NOT: llvm.call @{{([^m]|m[^o]|mo[^e])}}
// LLVM: llvm.func internal @moec_step_task_
// LLVM-NOT: llvm.call @{{([^m]|m[^o]|mo[^e])}}
