// Every op of the rt dialect in the custom assembly, with every case of its
// enums; through text and through bytecode.
// RUN: moec-opt %s | moec-opt | FileCheck %s
// RUN: moec-opt --emit-bytecode %s | moec-opt | FileCheck %s

// CHECK-LABEL: func.func @extent
// CHECK-SAME: (%[[STEP:.*]]: !llvm.ptr)
func.func @extent(%step: !llvm.ptr) {
  // CHECK: rt.extent %[[STEP]] num_tokens : !llvm.ptr
  %0 = rt.extent %step num_tokens : !llvm.ptr
  // CHECK: rt.extent %[[STEP]] num_sequences : !llvm.ptr
  %1 = rt.extent %step num_sequences : !llvm.ptr
  // CHECK: rt.extent %[[STEP]] num_logits : !llvm.ptr
  %2 = rt.extent %step num_logits : !llvm.ptr
  // CHECK: rt.extent %[[STEP]] page_table_stride : !llvm.ptr
  %3 = rt.extent %step page_table_stride : !llvm.ptr
  // CHECK: rt.extent %[[STEP]] cache_pages : !llvm.ptr
  %4 = rt.extent %step cache_pages : !llvm.ptr
  return
}

// CHECK-LABEL: func.func @batch
// CHECK-SAME: (%[[STEP:.*]]: !llvm.ptr, %[[N:.*]]: index, %[[S:.*]]: index, %[[P:.*]]: index)
func.func @batch(%step: !llvm.ptr, %n: index, %s: index, %p: index) {
  // CHECK: rt.buffer %[[STEP]] token_ids[%[[N]]] : !llvm.ptr -> memref<?xi32>
  %0 = rt.buffer %step token_ids [%n] : !llvm.ptr -> memref<?xi32>
  // CHECK: rt.buffer %[[STEP]] positions[%[[N]]] : !llvm.ptr -> memref<?xi32>
  %1 = rt.buffer %step positions [%n] : !llvm.ptr -> memref<?xi32>
  // CHECK: rt.buffer %[[STEP]] sequences[%[[N]]] : !llvm.ptr -> memref<?xi32>
  %2 = rt.buffer %step sequences [%n] : !llvm.ptr -> memref<?xi32>
  // CHECK: rt.buffer %[[STEP]] page_table[%[[S]], %[[P]]] : !llvm.ptr -> memref<?x?xi32>
  %3 = rt.buffer %step page_table [%s, %p] : !llvm.ptr -> memref<?x?xi32>
  // CHECK: rt.buffer %[[STEP]] logit_rows[%[[N]]] : !llvm.ptr -> memref<?xi32>
  %4 = rt.buffer %step logit_rows [%n] : !llvm.ptr -> memref<?xi32>
  return
}

// CHECK-LABEL: func.func @memory
// CHECK-SAME: (%[[STEP:.*]]: !llvm.ptr, %[[N:.*]]: index, %[[OFFSET:.*]]: index)
func.func @memory(%step: !llvm.ptr, %n: index, %offset: index) {
  // CHECK: rt.buffer %[[STEP]] cache[%[[N]]] : !llvm.ptr -> memref<61x?x64x576xbf16>
  %0 = rt.buffer %step cache [%n] : !llvm.ptr -> memref<61x?x64x576xbf16>
  // CHECK: rt.buffer %[[STEP]] workspace offset %[[OFFSET]][%[[N]]] : !llvm.ptr -> memref<?x7168xf32>
  %1 = rt.buffer %step workspace offset %offset [%n]
    : !llvm.ptr -> memref<?x7168xf32>
  // Static: neither sizes nor, at the buffer's first byte, an offset.
  // CHECK: rt.buffer %[[STEP]] workspace : !llvm.ptr -> memref<385xi64>
  %2 = rt.buffer %step workspace : !llvm.ptr -> memref<385xi64>
  // CHECK: rt.buffer %[[STEP]] workspace offset %[[OFFSET]] : !llvm.ptr -> memref<f32>
  %3 = rt.buffer %step workspace offset %offset : !llvm.ptr -> memref<f32>
  // CHECK: rt.buffer %[[STEP]] logits[%[[N]]] : !llvm.ptr -> memref<?x163840xf32>
  %4 = rt.buffer %step logits [%n] : !llvm.ptr -> memref<?x163840xf32>
  // CHECK: rt.buffer %[[STEP]] taps offset %[[OFFSET]][%[[N]]] : !llvm.ptr -> memref<?x7168xf32>
  %5 = rt.buffer %step taps offset %offset [%n]
    : !llvm.ptr -> memref<?x7168xf32>
  return
}

// CHECK-LABEL: func.func @weight
// CHECK-SAME: (%[[STEP:.*]]: !llvm.ptr, %[[SLOT:.*]]: index)
func.func @weight(%step: !llvm.ptr, %slot: index) {
  // CHECK: rt.weight %[[STEP]] payload[%[[SLOT]]] : !llvm.ptr -> memref<1536x7168xf8E4M3FN>
  %0 = rt.weight %step payload[%slot] : !llvm.ptr -> memref<1536x7168xf8E4M3FN>
  // CHECK: rt.weight %[[STEP]] scales[%[[SLOT]]] : !llvm.ptr -> memref<12x56xf32>
  %1 = rt.weight %step scales[%slot] : !llvm.ptr -> memref<12x56xf32>
  return
}

// CHECK-LABEL: func.func @parallel
// CHECK-SAME: (%[[STEP:.*]]: !llvm.ptr, %[[COUNT:.*]]: i64)
func.func @parallel(%step: !llvm.ptr, %count: i64) {
  // CHECK: rt.parallel %[[STEP]] %[[COUNT]] : !llvm.ptr {
  rt.parallel %step %count : !llvm.ptr {
  // CHECK-NEXT: ^bb0(%{{.*}}: i64, %{{.*}}: i64):
  ^bb0(%begin: i64, %end: i64):
    // CHECK-NEXT: rt.yield
    rt.yield
  // CHECK-NEXT: }
  }
  return
}

// The body may hold control flow, as it does once it is lowered to LLVM.
// CHECK-LABEL: func.func @parallel_with_blocks
func.func @parallel_with_blocks(%step: !llvm.ptr, %count: i64) {
  // CHECK: rt.parallel
  rt.parallel %step %count : !llvm.ptr {
  // CHECK-NEXT: ^bb0(%[[BEGIN:.*]]: i64, %{{.*}}: i64):
  ^bb0(%begin: i64, %end: i64):
    // CHECK-NEXT: cf.br ^[[LOOP:.*]](%[[BEGIN]] : i64)
    cf.br ^loop(%begin : i64)
  // CHECK-NEXT: ^[[LOOP]](
  ^loop(%at: i64):
    %more = arith.cmpi slt, %at, %end : i64
    // CHECK: cf.cond_br %{{.*}}, ^[[LOOP]](%{{.*}} : i64), ^[[END:.*]]
    cf.cond_br %more, ^loop(%at : i64), ^end
  // CHECK-NEXT: ^[[END]]:
  ^end:
    // CHECK-NEXT: rt.yield
    rt.yield
  }
  return
}

// The same as attributes, which is how the enums print in the generic form.
// CHECK-LABEL: func.func private @enums
// CHECK-SAME: buffer = #rt<buffer cache>
// CHECK-SAME: extent = #rt<extent num_tokens>
// CHECK-SAME: part = #rt<weight_part scales>
func.func private @enums() attributes {
  buffer = #rt<buffer cache>,
  extent = #rt<extent num_tokens>,
  part = #rt<weight_part scales>
}
