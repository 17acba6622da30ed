// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Queries are pulled through the key rows of kv_b (d1 * 64 + d3), the outputs
// through the value rows behind them (+ 32); in between, a token's heads work on
// the latents of one page after the other.

// CHECK-DAG: #[[KEY_ROWS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 * 64 + d3, d2)>
// CHECK-DAG: #[[KEY_SCALES:.*]] = affine_map<(d0, d1, d2, d3) -> ((d1 * 64 + d3) floordiv 128, d2 floordiv 128)>
// CHECK-DAG: #[[VALUE_ROWS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 * 64 + d2 + 32, d3)>
// CHECK-DAG: #[[VALUE_SCALES:.*]] = affine_map<(d0, d1, d2, d3) -> ((d1 * 64 + d2 + 32) floordiv 128, d3 floordiv 128)>
// CHECK-DAG: #[[PAGES:.*]] = affine_map<(d0) -> (d0 floordiv 64 + 1)>
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1) -> (64, d0 - d1 * 64 + 1)>
// CHECK-LABEL: func.func @moec_step(
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG: %[[NOTHING:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[CACHE:.*]] = rt.buffer %{{.*}} cache[
// CHECK: %[[QUERIES:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[KEY_ROWS]], #[[KEY_SCALES]], #{{.*}}],{{.*}} outs(%{{.*}} : tensor<?x4x128xf32>)
// CHECK: %[[LATENTS:.*]] = scf.forall (%[[N:.*]]) in
// CHECK: %[[POSITION:.*]] = arith.index_cast
// CHECK: linalg.fill ins(%[[NOTHING]] : f32)
// CHECK: %[[COUNT:.*]] = affine.apply #[[PAGES]](%[[POSITION]])
// CHECK: %[[STATE:.*]]:3 = scf.for %[[PAGE:.*]] = %[[C0]] to %[[COUNT]] step %[[C1]] iter_args(%[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %[[OUT:.*]] = %{{.*}}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x128xf32>)
// CHECK: memref.subview %[[CACHE]][2, %{{.*}}, 0, 0] [1, 1, 64, 128]
// CHECK: memref.subview %[[CACHE]][2, %{{.*}}, 0, 128] [1, 1, 64, 16]

//     Scores of nope and rope part; keys behind the position count as -inf,
//     whatever lies in the page.
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x64xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x64xf32>)
// CHECK: linalg.index 1
// CHECK: %[[SEEN:.*]] = arith.cmpi sle
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: arith.select %[[SEEN]], %[[SCALED]], %[[NOTHING]]

//     The online softmax.
// CHECK: %[[SIZE:.*]] = affine.min #[[KEYS]](%[[POSITION]], %[[PAGE]])
// CHECK: %[[NEW_MAX:.*]] = linalg.generic {{.*}} outs(%[[MAX]] : tensor<4xf32>)
// CHECK: arith.maximumf
// CHECK: %[[CORRECTION:.*]] = linalg.generic {{.*}} ins(%[[MAX]], %[[NEW_MAX]] :
// CHECK: math.exp
// CHECK: %[[P:.*]] = linalg.generic {{.*}}%[[NEW_MAX]] : tensor<4x64xf32>, tensor<4xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[CORRECTION]] :
// CHECK: %[[NEW_SUM:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<4x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[OUT]], %[[CORRECTION]] :
//     Only the keys that are there: 0 times what lies behind could be NaN.
// CHECK: tensor.extract_slice %[[P]][0, 0] [4, %[[SIZE]]] [1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [%[[SIZE]], 128] [1, 1]
// CHECK: %[[NEW_OUT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x128xf32>)
// CHECK: bufferization.materialize_in_destination %[[NEW_MAX]] in %[[MAX]]
// CHECK: bufferization.materialize_in_destination %[[NEW_SUM]] in %[[SUM]]
// CHECK: bufferization.materialize_in_destination %[[NEW_OUT]] in %[[OUT]]
// CHECK: linalg.generic {{.*}} ins(%[[STATE]]#2, %[[STATE]]#1 :
// CHECK: arith.divf
// CHECK: scf.forall.in_parallel
// CHECK: %[[Y:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[VALUE_ROWS]], #[[VALUE_SCALES]], #{{.*}}], {{.*}} ins(%[[LATENTS]],
// CHECK-SAME: outs(%{{.*}} : tensor<?x4x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[Y]] :
// CHECK: arith.truncf

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x192xbf16>
transformer.parameter @kv_b "kv_b" scales "kv_b_scale_inv" : !transformer.block_scaled<256x128, f8E4M3FN, f32, [128, 128]>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x192xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x192xbf16>) -> tensor<?x?x192xbf16>
  %layer = arith.constant 2 : index
  %kv_b = transformer.weight @kv_b : !transformer.block_scaled<256x128, f8E4M3FN, f32, [128, 128]>
  %heads = transformer.split_heads %x : tensor<?x?x192xbf16> -> tensor<?x?x4x48xbf16>
  %q:2 = transformer.split %heads [32, 16]
      : tensor<?x?x4x48xbf16> -> tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>
  %y = transformer.attention %q#0, %q#1, %cache, %layer, %kv_b, %positions scale 0.25
      : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
         !transformer.block_scaled<256x128, f8E4M3FN, f32, [128, 128]>, tensor<?x?xi32>)
      -> tensor<?x?x4x32xbf16>
  transformer.tap %y "y" : tensor<?x?x4x32xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
