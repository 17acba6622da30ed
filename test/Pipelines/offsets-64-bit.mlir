// One stack of K2's experts, 384 x 2048 x 7168, has 5 637 144 576 elements: more
// than 32 bits count. Addresses are formed from i64 throughout.
// RUN: moec-opt %s --moec-bufferize --moec-vectorize --moec-llvm | FileCheck %s

// CHECK-LABEL: llvm.func internal @moec_step_task_0(
// CHECK-NOT: llvm.trunc
// CHECK-DAG: %[[EXPERT:.*]] = llvm.mlir.constant(14680064 : index) : i64
// CHECK: %[[ROWS:.*]] = llvm.mul %{{.*}}, %[[EXPERT]]{{.*}} : i64
// CHECK: llvm.add %{{.*}} : i64
// CHECK: llvm.getelementptr {{.*}} : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NOT: llvm.trunc
// CHECK: llvm.return
func.func @moec_step(%step: !llvm.ptr) {
  %slot = arith.constant 0 : index
  %stack = rt.weight %step payload[%slot] : !llvm.ptr -> memref<384x2048x7168xf32>
  %copy_in = rt.weight %step scales[%slot] : !llvm.ptr -> memref<384x2048x7168xf32>
  linalg.copy ins(%stack : memref<384x2048x7168xf32>)
              outs(%copy_in : memref<384x2048x7168xf32>)
  return
}
