// RUN: moec-opt %s --split-input-file --convert-forall-to-parallel --canonicalize | FileCheck %s

// Tokens times heads in one range; the buffer of an iteration becomes one of its
// thread, in front of the loop.

// CHECK-LABEL: func.func @two_dimensions(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr, %[[TOKENS:.*]]: index, %[[Y:.*]]: memref<?x16xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[COUNT:.*]] = arith.muli %[[TOKENS]], %[[C16]]
// CHECK: %[[COUNT64:.*]] = arith.index_cast %[[COUNT]] : index to i64
// CHECK: rt.parallel %[[STEP]] %[[COUNT64]]
// CHECK: ^bb0(%[[BEGIN64:.*]]: i64, %[[END64:.*]]: i64):
// CHECK: %[[TEMPORARY:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[BEGIN64]] : i64 to index
// CHECK: %[[END:.*]] = arith.index_cast %[[END64]] : i64 to index
// CHECK: scf.for %[[FLAT:.*]] = %[[BEGIN]] to %[[END]] step %[[C1]]
// CHECK: %[[AT:.*]]:2 = affine.delinearize_index %[[FLAT]] into (%[[TOKENS]], 16)
// CHECK: memref.load %[[TEMPORARY]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[AT]]#0, %[[AT]]#1]
// CHECK: rt.yield
func.func @two_dimensions(%step: !llvm.ptr, %tokens: index, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%n, %h) in (%tokens, 16) {
    %temporary = memref.alloc() : memref<4xf32>
    %value = memref.load %temporary[%c0] : memref<4xf32>
    memref.store %value, %y[%n, %h] : memref<?x16xf32>
  }
  return
}

// -----

// One dimension needs no division.

// CHECK-LABEL: func.func @one_dimension(
// CHECK: rt.parallel
// CHECK: scf.for %[[N:.*]] =
// CHECK-NOT: affine.delinearize_index
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[N]]]
func.func @one_dimension(%step: !llvm.ptr, %tokens: index, %y: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%n) in (%tokens) {
    memref.store %zero, %y[%n] : memref<?xf32>
  }
  return
}

// -----

// A loop in a parallel region is a loop.

// CHECK-LABEL: func.func @nested(
// CHECK: rt.parallel
// CHECK: scf.for %[[N:.*]] =
// CHECK-NOT: rt.parallel
// CHECK: scf.for %[[M:.*]] =
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[N]], %[[M]]]
// CHECK: rt.yield
func.func @nested(%step: !llvm.ptr, %tokens: index, %y: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%n) in (%tokens) {
    scf.forall (%m) in (%tokens) {
      memref.store %zero, %y[%n, %m] : memref<?x?xf32>
    }
  }
  return
}

// -----

// Buffers outside of parallel regions are not the stack's.

// CHECK-LABEL: func.func @outside(
// CHECK: memref.alloc() : memref<4xf32>
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @outside(%step: !llvm.ptr, %tokens: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %buffer = memref.alloc() : memref<4xf32>
  scf.forall (%n) in (%tokens) {
    memref.store %zero, %buffer[%c0] : memref<4xf32>
  }
  %value = memref.load %buffer[%c0] : memref<4xf32>
  return %value : f32
}
