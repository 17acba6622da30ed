// Every message of the dialect's verifiers and of its parsers.
// RUN: moec-opt %s --split-input-file --verify-diagnostics

func.func @f(%step: !llvm.ptr) {
  // expected-error@+2 {{expected one of [num_tokens, num_sequences, num_logits, page_table_stride, cache_pages] for a size in moec_step_args, got: num_layers}}
  // expected-error@+1 {{failed to parse Runtime_ExtentAttr parameter 'value' which is to be a `::moec::rt::Extent`}}
  %0 = rt.extent %step num_layers : !llvm.ptr
  return
}

// -----

// The step is a pointer.
func.func @f(%step: i64) {
  // expected-error@+1 {{'rt.extent' op operand #0 must be LLVM pointer type, but got 'i64'}}
  %0 = "rt.extent"(%step) <{extent = #rt<extent num_tokens>}> : (i64) -> index
  return
}

// -----

func.func @f(%step: !llvm.ptr, %n: index) {
  // expected-error@+2 {{expected one of [token_ids, positions, sequences, page_table, logit_rows, cache, workspace, logits, taps] for a buffer in moec_step_args, got: hidden}}
  // expected-error@+1 {{failed to parse Runtime_BufferAttr parameter 'value' which is to be a `::moec::rt::Buffer`}}
  %0 = rt.buffer %step hidden [%n] : !llvm.ptr -> memref<?xi32>
  return
}

// -----

func.func @f(%step: !llvm.ptr) {
  // expected-error@+1 {{'rt.buffer' op expects a size for each of the 1 dynamic dimensions, found 0}}
  %0 = rt.buffer %step token_ids : !llvm.ptr -> memref<?xi32>
  return
}

// -----

func.func @f(%step: !llvm.ptr, %n: index) {
  // expected-error@+1 {{'rt.buffer' op expects a size for each of the 0 dynamic dimensions, found 1}}
  %0 = rt.buffer %step workspace [%n] : !llvm.ptr -> memref<16xi32>
  return
}

// -----

func.func @f(%step: !llvm.ptr, %n: index) {
  // expected-error@+1 {{'rt.buffer' op expects a dense row-major memref, found 'memref<?x16xf32, strided<[32, 1]>>'}}
  %0 = rt.buffer %step workspace [%n]
    : !llvm.ptr -> memref<?x16xf32, strided<[32, 1]>>
  return
}

// -----

func.func @f(%step: !llvm.ptr, %slot: index) {
  // expected-error@+2 {{expected one of [payload, scales] for a pointer of a weight slot, got: zeros}}
  // expected-error@+1 {{failed to parse Runtime_WeightPartAttr parameter 'value' which is to be a `::moec::rt::WeightPart`}}
  %0 = rt.weight %step zeros[%slot] : !llvm.ptr -> memref<12x56xf32>
  return
}

// -----

func.func @f(%step: !llvm.ptr, %slot: index) {
  // expected-error@+1 {{'rt.weight' op expects a dense row-major memref, found 'memref<12x56xf32, strided<[64, 1]>>'}}
  %0 = rt.weight %step payload[%slot]
    : !llvm.ptr -> memref<12x56xf32, strided<[64, 1]>>
  return
}

// -----

// A checkpoint's tensor has a shape.
func.func @f(%step: !llvm.ptr, %slot: index) {
  // expected-error@+1 {{'rt.weight' op result #0 must be statically shaped memref of any type values, but got 'memref<?x56xf32>'}}
  %0 = rt.weight %step payload[%slot] : !llvm.ptr -> memref<?x56xf32>
  return
}

// -----

func.func @f(%step: !llvm.ptr, %count: i64) {
  // expected-error@+1 {{'rt.parallel' op expects the body's arguments to be (i64, i64), found 'i64'}}
  rt.parallel %step %count : !llvm.ptr {
  ^bb0(%begin: i64):
    rt.yield
  }
  return
}

// -----

func.func @f(%step: !llvm.ptr, %count: i64) {
  // expected-error@+1 {{'rt.parallel' op expects the body's arguments to be (i64, i64), found 'index', 'index'}}
  rt.parallel %step %count : !llvm.ptr {
  ^bb0(%begin: index, %end: index):
    rt.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'rt.yield' op expects parent op 'rt.parallel'}}
  rt.yield
}
