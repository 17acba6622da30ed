// RUN: moec-opt %s --fuse-mla | FileCheck %s

// The example of the pass's page.
// CHECK-LABEL: func.func @prepared
// CHECK-SAME: (%[[L:.*]]: tensor<?x32xbf16>, %[[G:.*]]: tensor<32xf32>, %[[KR:.*]]: tensor<?x16xbf16>, %[[QR:.*]]: tensor<?x4x16xbf16>, %[[COS:.*]]: tensor<?x8xf32>, %[[SIN:.*]]: tensor<?x8xf32>, %[[CACHE:.*]]: memref<2x?x8x48xbf16>, %[[TABLE:.*]]: memref<?x?xi32>, %[[SEQ:.*]]: memref<?xi32>, %[[POS:.*]]: tensor<?xi32>, %[[LAYER:.*]]: index,
// CHECK-NEXT: %[[Q:.*]] = fused.mla_prepare %[[L]], %[[G]], %[[KR]], %[[QR]], %[[COS]], %[[SIN]], %[[CACHE]], %[[TABLE]], %[[SEQ]], %[[POS]], %[[LAYER]] outs(%{{.*}}) {eps = 9.9999999999999995E-7 : f64, interleaved}
// CHECK-NEXT: fused.mla_attention %{{.*}}, %[[Q]], %[[CACHE]]
// CHECK-NOT: fused.cache_write
func.func @prepared(%latent: tensor<?x32xbf16>, %gain: tensor<32xf32>, %kr: tensor<?x16xbf16>,
    %qr: tensor<?x4x16xbf16>, %cos: tensor<?x8xf32>, %sin: tensor<?x8xf32>, %cache: memref<2x?x8x48xbf16>,
    %table: memref<?x?xi32>, %seq: memref<?xi32>, %pos: tensor<?xi32>, %layer: index,
    %qn: tensor<?x4x16xbf16>, %w: tensor<128x32xbf16>, %o0: tensor<?x4x16xbf16>, %o1: tensor<?x32xbf16>,
    %o2: tensor<?x16xbf16>, %o: tensor<?x4x16xbf16>) -> tensor<?x4x16xbf16> {
  %q = fused.rope %qr, %cos, %sin outs(%o0) {interleaved} : (tensor<?x4x16xbf16>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4x16xbf16>) -> tensor<?x4x16xbf16>
  %l = fused.rms_norm %latent, %gain outs(%o1) {eps = 1.0e-06 : f64} : (tensor<?x32xbf16>, tensor<32xf32>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  %k = fused.rope %kr, %cos, %sin outs(%o2) {interleaved} : (tensor<?x16xbf16>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x16xbf16>) -> tensor<?x16xbf16>
  fused.cache_write %l, %k, %cache, %table, %seq, %pos, %layer : (tensor<?x32xbf16>, tensor<?x16xbf16>, memref<2x?x8x48xbf16>, memref<?x?xi32>, memref<?xi32>, tensor<?xi32>, index) -> ()
  %y = fused.mla_attention %qn, %q, %cache, %table, %seq, %pos, %layer weights(%w) outs(%o) {scale = 0.25 : f64} : (tensor<?x4x16xbf16>, tensor<?x4x16xbf16>, memref<2x?x8x48xbf16>, memref<?x?xi32>, memref<?xi32>, tensor<?xi32>, index, tensor<128x32xbf16>, tensor<?x4x16xbf16>) -> tensor<?x4x16xbf16>
  return %y : tensor<?x4x16xbf16>
}

// Queries that are rotated otherwise than keys stay apart, and so does a latent
// that is used elsewhere.
// CHECK-LABEL: func.func @apart
// CHECK: fused.rope
// CHECK: fused.rms_norm
// CHECK: fused.rope
// CHECK: fused.cache_write
// CHECK-NOT: fused.mla_prepare
func.func @apart(%latent: tensor<?x32xbf16>, %gain: tensor<32xf32>, %kr: tensor<?x16xbf16>,
    %qr: tensor<?x4x16xbf16>, %cos: tensor<?x8xf32>, %sin: tensor<?x8xf32>, %cache: memref<2x?x8x48xbf16>,
    %table: memref<?x?xi32>, %seq: memref<?xi32>, %pos: tensor<?xi32>, %layer: index,
    %qn: tensor<?x4x16xbf16>, %w: tensor<128x32xbf16>, %o0: tensor<?x4x16xbf16>, %o1: tensor<?x32xbf16>,
    %o2: tensor<?x16xbf16>, %o: tensor<?x4x16xbf16>) -> (tensor<?x4x16xbf16>, tensor<?x32xbf16>) {
  %q = fused.rope %qr, %cos, %sin outs(%o0) : (tensor<?x4x16xbf16>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4x16xbf16>) -> tensor<?x4x16xbf16>
  %l = fused.rms_norm %latent, %gain outs(%o1) {eps = 1.0e-06 : f64} : (tensor<?x32xbf16>, tensor<32xf32>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
  %k = fused.rope %kr, %cos, %sin outs(%o2) {interleaved} : (tensor<?x16xbf16>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x16xbf16>) -> tensor<?x16xbf16>
  fused.cache_write %l, %k, %cache, %table, %seq, %pos, %layer : (tensor<?x32xbf16>, tensor<?x16xbf16>, memref<2x?x8x48xbf16>, memref<?x?xi32>, memref<?xi32>, tensor<?xi32>, index) -> ()
  %y = fused.mla_attention %qn, %q, %cache, %table, %seq, %pos, %layer weights(%w) outs(%o) {scale = 0.25 : f64} : (tensor<?x4x16xbf16>, tensor<?x4x16xbf16>, memref<2x?x8x48xbf16>, memref<?x?xi32>, memref<?xi32>, tensor<?xi32>, index, tensor<128x32xbf16>, tensor<?x4x16xbf16>) -> tensor<?x4x16xbf16>
  return %y, %l : tensor<?x4x16xbf16>, tensor<?x32xbf16>
}
