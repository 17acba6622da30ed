// RUN: moec-opt %s --split-input-file --verify-diagnostics

func.func @width(%x: tensor<?x64xbf16>, %w: tensor<32x128xbf16>, %o: tensor<?x32xbf16>) {
  // expected-error @below {{'fused.linear' op expects x of the shape ?x128, found ?x64}}
  %y = fused.linear %x weights(%w) outs(%o) : (tensor<?x64xbf16>, tensor<32x128xbf16>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @gate_without_up(%x: tensor<?x64xbf16>, %w: tensor<32x64xbf16>, %o: tensor<?x32xbf16>) {
  // expected-error @below {{'fused.linear' op expects 2 weights with epilogue swiglu, found 1}}
  %y = fused.linear %x weights(%w) outs(%o) {epilogue = #fused<epilogue swiglu>} : (tensor<?x64xbf16>, tensor<32x64xbf16>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @no_scales(%x: tensor<?x64xbf16>, %w: tensor<32x64xf8E4M3FN>, %o: tensor<?x32xbf16>) {
  // expected-error @below {{'fused.linear' op expects 1 tensors of weight scales, found 0}}
  %y = fused.linear %x weights(%w) outs(%o) : (tensor<?x64xbf16>, tensor<32x64xf8E4M3FN>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @scale_shape(%x: tensor<?x64xbf16>, %w: tensor<32x64xf8E4M3FN>, %s: tensor<2x1xf32>, %o: tensor<?x32xbf16>) {
  // expected-error @below {{'fused.linear' op expects weight scales of the shape 1x1, found 2x1}}
  %y = fused.linear %x weights(%w) weight_scales(%s) outs(%o) {block = array<i64: 128, 128>} : (tensor<?x64xbf16>, tensor<32x64xf8E4M3FN>, tensor<2x1xf32>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @block(%x: tensor<?x64xbf16>, %w: tensor<32x64xf8E4M3FN>, %s: tensor<1x1xf32>, %o: tensor<?x32xbf16>) {
  // expected-error @below {{'fused.linear' op expects a block of two positive sizes}}
  %y = fused.linear %x weights(%w) weight_scales(%s) outs(%o) {block = array<i64: 0, 128>} : (tensor<?x64xbf16>, tensor<32x64xf8E4M3FN>, tensor<1x1xf32>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @codes_without_scales(%x: tensor<?x64xf8E4M3FN>, %w: tensor<32x64xbf16>, %o: tensor<?x32xbf16>) {
  // expected-error @below {{'fused.linear' op expects scales of x exactly with x in f8E4M3FN}}
  %y = fused.linear %x weights(%w) outs(%o) : (tensor<?x64xf8E4M3FN>, tensor<32x64xbf16>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @residual(%x: tensor<?x64xbf16>, %w: tensor<32x64xbf16>, %r: tensor<?x64xbf16>, %o: tensor<?x32xbf16>) {
  // expected-error @below {{'fused.linear' op expects the residual of the shape ?x32, found ?x64}}
  %y = fused.linear %x weights(%w) residual %r outs(%o) : (tensor<?x64xbf16>, tensor<32x64xbf16>, tensor<?x64xbf16>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @no_destination(%x: tensor<?x64xbf16>, %w: tensor<32x64xbf16>) {
  // expected-error @below {{'fused.linear' op expects 1 destinations, found 0}}
  fused.linear %x weights(%w) outs() : (tensor<?x64xbf16>, tensor<32x64xbf16>) -> ()
  return
}

// -----

// expected-error @below {{expects columns to be a positive multiple of 16, found 24}}
func.func @tiles(%t: index) attributes {a = #fused.tiles<columns = 24, rows = 1, register_rows = 1, stream_rows = 1>} {
  return
}

// -----

func.func @dispatch(%i: tensor<?x4xi32>, %a: tensor<8xi64>, %b: tensor<?xi32>, %c: tensor<?x4xi32>, %d: tensor<?x3xi32>, %e: tensor<1xi64>) {
  // expected-error @below {{'fused.dispatch' op expects offsets of the shape 9, found 8}}
  %x:5 = fused.dispatch %i outs(%a, %b, %c, %d, %e) {experts = 8 : i64, rows_per_piece = 256 : i64}
    : (tensor<?x4xi32>, tensor<8xi64>, tensor<?xi32>, tensor<?x4xi32>, tensor<?x3xi32>, tensor<1xi64>)
    -> (tensor<8xi64>, tensor<?xi32>, tensor<?x4xi32>, tensor<?x3xi32>, tensor<1xi64>)
  return
}

// -----

func.func @slots(%step: !llvm.ptr, %x: tensor<?x64xbf16>, %f: tensor<9xi64>, %w: tensor<?x3xi32>, %p: tensor<1xi64>, %s: index, %o: tensor<?x32xbf16>) {
  // expected-error @below {{'fused.grouped_linear' op expects 2 slots with epilogue swiglu, found 1}}
  %y = fused.grouped_linear %x offsets %f work %w, %p step %step slots(%s) outs(%o) {experts = 8 : i64, epilogue = #fused<epilogue swiglu>, weight_type = memref<32x64xbf16>}
    : (tensor<?x64xbf16>, tensor<9xi64>, tensor<?x3xi32>, tensor<1xi64>, !llvm.ptr, index, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @norm(%x: tensor<?x64xbf16>, %g: tensor<32xf32>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'fused.rms_norm' op expects the gain of the shape 64, found 32}}
  %y = fused.rms_norm %x, %g outs(%o) {eps = 1.0e-06 : f64} : (tensor<?x64xbf16>, tensor<32xf32>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}
