// RUN: moec-opt %s --convert-runtime-to-llvm | FileCheck %s

// Fields of moec_step_args, 8 bytes each: num_tokens is the first, weights at 72,
// the workspace at 96. A descriptor around the pointer; everything is 64 bits wide.

// CHECK-LABEL: func.func @sizes_and_buffers(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr
// CHECK-DAG: %[[WIDTH:.*]] = llvm.mlir.constant(16 : i64) : i64
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 2 : i64
// CHECK: %[[N:.*]] = llvm.load %[[STEP]] : !llvm.ptr -> i64
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STEP]][96] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: %[[WORKSPACE:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %[[BYTES]] : i64
// CHECK: %[[POINTER:.*]] = llvm.getelementptr %[[WORKSPACE]][%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.insertvalue %[[POINTER]], %{{.*}}[0]
// CHECK: llvm.insertvalue %[[POINTER]], %{{.*}}[1]
// CHECK: llvm.insertvalue %{{.*}}, %{{.*}}[3, 0]
// CHECK: llvm.insertvalue %[[WIDTH]], %{{.*}}[3, 1]
// CHECK: %[[DESCRIPTOR:.*]] = llvm.insertvalue %{{.*}}, %{{.*}}[4, 1]
// CHECK: builtin.unrealized_conversion_cast %[[DESCRIPTOR]] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<?x16xbf16>
// CHECK-NOT: rt.
func.func @sizes_and_buffers(%step: !llvm.ptr) -> bf16 {
  %c0 = arith.constant 0 : index
  %n = rt.extent %step num_tokens : !llvm.ptr
  %buffer = rt.buffer %step workspace offset %n[%n] : !llvm.ptr -> memref<?x16xbf16>
  %value = memref.load %buffer[%c0, %c0] : memref<?x16xbf16>
  return %value : bf16
}

// Two pointers of 8 bytes to a slot; the scales' is the second.

// CHECK-LABEL: func.func @weights(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr, %[[SLOT:.*]]: index
// CHECK: %[[BYTES:.*]] = arith.constant 16 : i64
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STEP]][72]
// CHECK: %[[TABLE:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[SLOT]] : index to i64
// CHECK: %[[OFFSET:.*]] = arith.muli %[[NUMBER]], %[[BYTES]] : i64
// CHECK: %[[PAYLOAD:.*]] = llvm.getelementptr %[[TABLE]][%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.load %[[PAYLOAD]] : !llvm.ptr -> !llvm.ptr
// CHECK: builtin.unrealized_conversion_cast {{.*}} to memref<384x2048xf8E4M3FN>
// CHECK: %[[SCALES:.*]] = llvm.getelementptr %{{.*}}[8] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: llvm.load %[[SCALES]] : !llvm.ptr -> !llvm.ptr
// CHECK: builtin.unrealized_conversion_cast {{.*}} to memref<3x16xf32>
// CHECK-NOT: rt.
func.func @weights(%step: !llvm.ptr, %slot: index) -> (f8E4M3FN, f32) {
  %c0 = arith.constant 0 : index
  %codes = rt.weight %step payload[%slot] : !llvm.ptr -> memref<384x2048xf8E4M3FN>
  %scales = rt.weight %step scales[%slot] : !llvm.ptr -> memref<3x16xf32>
  %code = memref.load %codes[%c0, %c0] : memref<384x2048xf8E4M3FN>
  %scale = memref.load %scales[%c0, %c0] : memref<3x16xf32>
  return %code, %scale : f8E4M3FN, f32
}

// The parallel loop waits for its body to be LLVM.

// CHECK-LABEL: func.func @parallel(
// CHECK: rt.parallel
func.func @parallel(%step: !llvm.ptr, %count: i64) {
  rt.parallel %step %count : !llvm.ptr {
  ^bb0(%begin: i64, %end: i64):
    rt.yield
  }
  return
}
