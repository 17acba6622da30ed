// When a pass fails, the module before it and the pipeline are kept, and moec-opt
// runs into the same error. (The buffer's size is unknown to the plan.)
// RUN: rm -f %t.reproducer.mlir
// RUN: not moec compile --quiet --from=linalg --emit=bufferized \
// RUN:   --mlir-pass-pipeline-crash-reproducer=%t.reproducer.mlir %s 2>&1 | FileCheck %s
// CHECK: crash-reproducer.mlir:[[# @LINE + 15]]:{{[0-9]+}}: error: 'memref.alloc' op expects a size that is static or linear in the number of tokens
// CHECK: reproducer generated at `{{.*}}.reproducer.mlir`

// RUN: FileCheck %s --check-prefix=KEPT < %t.reproducer.mlir
// KEPT: func.func @moec_step(
// KEPT: memref.alloc
// KEPT: mlir_reproducer
// KEPT: plan-workspace

// RUN: not moec-opt --run-reproducer %t.reproducer.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: 'memref.alloc' op expects a size that is static or linear in the number of tokens

func.func @moec_step(%step: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %buffer = memref.alloc(%size) : memref<?xf32>
  memref.copy %x, %buffer : memref<?xf32> to memref<?xf32>
  memref.copy %buffer, %x : memref<?xf32> to memref<?xf32>
  return
}
