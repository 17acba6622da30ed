// RUN: moec-opt %s --split-input-file --plan-workspace --canonicalize --cse | FileCheck %s

// Buffers per token lie behind the fixed ones: N * 64 bytes for each 16 floats.
// %c lives when %a is dead, so it takes its place; %b lives with both.

// CHECK-LABEL: func.func @lives(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr
// CHECK-SAME: attributes {moec.workspace_bytes_fixed = 0 : i64, moec.workspace_bytes_per_token = 128 : i64}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[N:.*]] = rt.extent %[[STEP]] num_tokens
// CHECK: %[[A:.*]] = rt.buffer %[[STEP]] workspace offset %[[C0]][%[[N]]] : !llvm.ptr -> memref<?x16xf32>
// CHECK: %[[BEHIND:.*]] = arith.muli %[[N]], %[[C16]]
// CHECK: %[[B:.*]] = rt.buffer %[[STEP]] workspace offset %[[BEHIND]][%[[N]]] : !llvm.ptr -> memref<?x16xf32>
// CHECK: linalg.copy ins(%[[A]] : {{.*}}) outs(%[[B]] : {{.*}})
// The same place, and for canonicalisation the same value.
// CHECK: linalg.copy ins(%[[B]] : {{.*}}) outs(%[[A]] : {{.*}})
func.func @lives(%step: !llvm.ptr) {
  %n = rt.extent %step num_tokens : !llvm.ptr
  %a = memref.alloc(%n) : memref<?x16xf32>
  %b = memref.alloc(%n) : memref<?x16xf32>
  linalg.copy ins(%a : memref<?x16xf32>) outs(%b : memref<?x16xf32>)
  %c = memref.alloc(%n) : memref<?x16xf32>
  linalg.copy ins(%b : memref<?x16xf32>) outs(%c : memref<?x16xf32>)
  return
}

// -----

// Offsets count elements of the buffer's own type; each place is a multiple of 64
// bytes, so 3 x bf16 per token take 64 as well.

// CHECK-LABEL: func.func @fixed_and_per_token(
// CHECK-SAME: attributes {moec.workspace_bytes_fixed = 192 : i64, moec.workspace_bytes_per_token = 64 : i64}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK: rt.buffer %{{.*}} workspace offset %[[C0]] : !llvm.ptr -> memref<17xf32>
// CHECK: rt.buffer %{{.*}} workspace offset %[[C128]] : !llvm.ptr -> memref<5xi8>
// CHECK: rt.buffer %{{.*}} workspace offset %[[C96]][%{{.*}}] : !llvm.ptr -> memref<?x3xbf16>
func.func @fixed_and_per_token(%step: !llvm.ptr, %f: memref<17xf32>, %i: memref<5xi8>) {
  %n = rt.extent %step num_tokens : !llvm.ptr
  %a = memref.alloc() : memref<17xf32>
  %b = memref.alloc() : memref<5xi8>
  %c = memref.alloc(%n) : memref<?x3xbf16>
  linalg.copy ins(%f : memref<17xf32>) outs(%a : memref<17xf32>)
  linalg.copy ins(%i : memref<5xi8>) outs(%b : memref<5xi8>)
  %zero = arith.constant 0.0 : bf16
  linalg.fill ins(%zero : bf16) outs(%c : memref<?x3xbf16>)
  linalg.copy ins(%a : memref<17xf32>) outs(%f : memref<17xf32>)
  linalg.copy ins(%b : memref<5xi8>) outs(%i : memref<5xi8>)
  return
}

// -----

// What a loop touches lives until its end, whatever comes last in its body; a
// buffer of the body itself may follow one that died earlier in the body.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME: attributes {moec.workspace_bytes_fixed = 128 : i64, moec.workspace_bytes_per_token = 0 : i64}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[OUTER:.*]] = rt.buffer %{{.*}} workspace offset %[[C0]] : !llvm.ptr -> memref<16xf32>
// CHECK: scf.for
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[OUTER]] :
// CHECK: %[[INNER:.*]] = rt.buffer %{{.*}} workspace offset %[[C16]] : !llvm.ptr -> memref<16xf32>
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[INNER]] :
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[INNER]] :
func.func @loop(%step: !llvm.ptr, %layers: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %outer = memref.alloc() : memref<16xf32>
  scf.for %layer = %c0 to %layers step %c1 {
    linalg.fill ins(%zero : f32) outs(%outer : memref<16xf32>)
    %a = memref.alloc() : memref<16xf32>
    linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>)
    %b = memref.alloc() : memref<16xf32>
    linalg.fill ins(%zero : f32) outs(%b : memref<16xf32>)
  }
  return
}

// -----

// A view keeps its buffer alive.

// CHECK-LABEL: func.func @views(
// CHECK-SAME: moec.workspace_bytes_fixed = 128 : i64
func.func @views(%step: !llvm.ptr, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<16xf32>
  %half = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %b = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<16xf32>)
  linalg.copy ins(%half : memref<8xf32, strided<[1]>>) outs(%y : memref<8xf32>)
  return
}

// -----

// Sizes that are linear in the tokens: multiples, the rows of the logits (at most
// the tokens), minima, the extent of another such buffer.

// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: attributes {moec.workspace_bytes_fixed = 0 : i64, moec.workspace_bytes_per_token = 768 : i64}
func.func @sizes(%step: !llvm.ptr, %bound: index) {
  %zero = arith.constant 0.0 : f32
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %n = rt.extent %step num_tokens : !llvm.ptr
  %logits = rt.extent %step num_logits : !llvm.ptr
  %routed = arith.muli %n, %c8 : index
  %some = arith.minui %bound, %routed : index
  %ids = rt.buffer %step token_ids[%n] : !llvm.ptr -> memref<?xi32>
  %rows = memref.dim %ids, %c0 : memref<?xi32>
  %a = memref.alloc(%routed) : memref<?xf64>
  %b = memref.alloc(%some) : memref<?x16xf32>
  %c = memref.alloc(%logits) : memref<?x32xf32>
  %d = memref.alloc(%rows) : memref<?x16xf32>
  %double = arith.constant 0.0 : f64
  linalg.fill ins(%double : f64) outs(%a : memref<?xf64>)
  linalg.fill ins(%zero : f32) outs(%b : memref<?x16xf32>)
  linalg.fill ins(%zero : f32) outs(%c : memref<?x32xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<?x16xf32>)
  linalg.fill ins(%double : f64) outs(%a : memref<?xf64>)
  linalg.fill ins(%zero : f32) outs(%b : memref<?x16xf32>)
  linalg.fill ins(%zero : f32) outs(%c : memref<?x32xf32>)
  return
}

// -----

// Buffers of parallel tasks go to the stack, which is not this pass's business.

// CHECK-LABEL: func.func @parallel(
// CHECK-SAME: moec.workspace_bytes_fixed = 0 : i64
// CHECK: scf.forall
// CHECK: memref.alloc() : memref<16xf32>
func.func @parallel(%step: !llvm.ptr, %n: index) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    %a = memref.alloc() : memref<16xf32>
    linalg.fill ins(%zero : f32) outs(%a : memref<16xf32>)
  }
  return
}
