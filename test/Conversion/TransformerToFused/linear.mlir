// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Codes times the scale of their block, times x, summed up in f32; then one
// rounding to bf16. The second linear has plain weights and f32 results.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[S:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 128, d2 floordiv 128)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @moec_step(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr)
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CODES_IN:.*]] = rt.weight %[[STEP]] payload[%[[C1]]] : !llvm.ptr -> memref<144x256xf8E4M3FN>
// CHECK: %[[CODES:.*]] = bufferization.to_tensor %[[CODES_IN]] restrict :
// CHECK: %[[SCALES_IN:.*]] = rt.weight %[[STEP]] scales[%[[C1]]] : !llvm.ptr -> memref<2x2xf32>
// CHECK: %[[SCALES:.*]] = bufferization.to_tensor %[[SCALES_IN]] restrict :
// CHECK: %[[SUMS:.*]] = linalg.fill ins(%[[ZERO]] : f32) {{.*}} -> tensor<?x144xf32>
// CHECK: %[[Y32:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[S]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%{{.*}}, %[[CODES]], %[[SCALES]] : tensor<?x256xbf16>, tensor<144x256xf8E4M3FN>, tensor<2x2xf32>) outs(%[[SUMS]]
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: f8E4M3FN, %[[SCALE:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-DAG: %[[A32:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-DAG: %[[B32:.*]] = arith.extf %[[B]] : f8E4M3FN to f32
// CHECK: %[[WEIGHT:.*]] = arith.mulf %[[B32]], %[[SCALE]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[A32]], %[[WEIGHT]]
// CHECK: arith.addf %[[SUM]], %[[PRODUCT]]
// CHECK: linalg.generic {{.*}} ins(%[[Y32]] : tensor<?x144xf32>) outs(%{{.*}} : tensor<?x144xbf16>)
// CHECK: arith.truncf
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]]
// CHECK-SAME: outs(%{{.*}} : tensor<?x32xf32>)
// CHECK-NOT: arith.truncf
// CHECK: return

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
transformer.parameter @w "w" scales "w_scale_inv" : !transformer.block_scaled<144x256, f8E4M3FN, f32, [128, 128]>
transformer.parameter @head "head" : tensor<32x144xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %w = transformer.weight @w : !transformer.block_scaled<144x256, f8E4M3FN, f32, [128, 128]>
  %y = transformer.linear %x, %w : (tensor<?x?x256xbf16>, !transformer.block_scaled<144x256, f8E4M3FN, f32, [128, 128]>) -> tensor<?x?x144xbf16>
  %last = transformer.gather_rows %y, %rows : (tensor<?x?x144xbf16>, tensor<?xi32>) -> tensor<?x144xbf16>
  %head = transformer.weight @head : tensor<32x144xbf16>
  %logits = transformer.linear %last, %head : (tensor<?x144xbf16>, tensor<32x144xbf16>) -> tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
