// RUN: moec-opt %s | moec-opt | FileCheck %s
// RUN: moec-opt %s --mlir-print-op-generic | moec-opt | FileCheck %s

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<?x256xf8E4M3FN>, %xs: tensor<?x2xf32>, %w: tensor<64x256xf8E4M3FN>, %s: tensor<1x2xf32>,
                  %r: tensor<?x64xbf16>, %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // CHECK: fused.linear %{{.*}} scales %{{.*}} weights(%{{.*}}, %{{.*}}) weight_scales(%{{.*}}, %{{.*}}) residual %{{.*}} outs(%{{.*}}) {block = array<i64: 128, 128>, epilogue = #fused<epilogue swiglu>}
  %y = fused.linear %x scales %xs weights(%w, %w) weight_scales(%s, %s) residual %r outs(%o)
    {block = array<i64: 128, 128>, epilogue = #fused<epilogue swiglu>}
    : (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<64x256xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<?x256xbf16>, %g: tensor<256xf32>, %o: tensor<?x256xbf16>, %p: tensor<?x256xbf16>,
                %c: tensor<?x256xf8E4M3FN>, %s: tensor<?x2xf32>) -> tensor<?x256xbf16> {
  // CHECK: fused.rms_norm %{{.*}}, %{{.*}} residual %{{.*}} outs(%{{.*}}, %{{.*}}) {eps = 9.9999999999999995E-7 : f64}
  %y:2 = fused.rms_norm %x, %g residual %x outs(%o, %p) {eps = 1.0e-06 : f64}
    : (tensor<?x256xbf16>, tensor<256xf32>, tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>)
  // CHECK: fused.quantize %{{.*}} outs(%{{.*}}, %{{.*}}) {group = 128 : i64}
  %q:2 = fused.quantize %y#0 outs(%c, %s) {group = 128} : (tensor<?x256xbf16>, tensor<?x256xf8E4M3FN>, tensor<?x2xf32>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>)
  // CHECK: fused.add
  %a = fused.add %y#0, %y#1 outs(%o) : (tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  // CHECK: fused.swiglu
  %b = fused.swiglu %a, %a outs(%p) : (tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %b : tensor<?x256xbf16>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%n: tensor<?x4x32xbf16>, %r: tensor<?x4x16xbf16>, %cache: memref<4x?x64x144xbf16>, %table: memref<?x?xi32>,
                     %seq: memref<?xi32>, %pos: tensor<?xi32>, %layer: index, %w: tensor<256x128xbf16>, %o: tensor<?x4x32xbf16>) -> tensor<?x4x32xbf16> {
  // CHECK: fused.mla_attention %{{.*}} weights(%{{.*}}) outs(%{{.*}}) {form = #fused<form expanded>, scale = 2.500000e-01 : f64}
  %y = fused.mla_attention %n, %r, %cache, %table, %seq, %pos, %layer weights(%w) outs(%o) {form = #fused<form expanded>, scale = 0.25 : f64}
    : (tensor<?x4x32xbf16>, tensor<?x4x16xbf16>, memref<4x?x64x144xbf16>, memref<?x?xi32>, memref<?xi32>, tensor<?xi32>, index, tensor<256x128xbf16>, tensor<?x4x32xbf16>) -> tensor<?x4x32xbf16>
  return %y : tensor<?x4x32xbf16>
}
