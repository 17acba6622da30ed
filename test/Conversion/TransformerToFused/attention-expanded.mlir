// RUN: moec-opt %s --split-input-file --convert-transformer-to-fused=attention=expanded --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// A token's head makes the keys and values of each page by kv_b, in parallel over
// tokens and heads.

// CHECK-LABEL: func.func @moec_step(
// CHECK: %[[KV_B:.*]] = bufferization.to_tensor %{{.*}} restrict : memref<256x128xf8E4M3FN>
// CHECK: scf.forall (%[[N:.*]], %[[HEAD:.*]]) in (%{{.*}}, 4)
// CHECK: scf.for
// CHECK: %[[PAGE:.*]] = bufferization.to_tensor %{{.*}} : memref<64x128xbf16, strided<[144, 1], offset: ?>>
// CHECK-NOT: f32 to f8E4M3FN
//     32 rows of keys, then the 32 rows of values.
// CHECK: tensor.extract_slice %[[KV_B]][%{{.*}}, 0] [32, 128] [1, 1]
// CHECK: %[[K:.*]] = linalg.generic {{.*}} ins(%[[PAGE]],{{.*}} outs(%{{.*}} : tensor<64x32xf32>)
// CHECK: tensor.extract_slice %[[KV_B]][%{{.*}}, 0] [32, 128] [1, 1]
// CHECK: %[[V:.*]] = linalg.generic {{.*}} ins(%[[PAGE]],{{.*}} outs(%{{.*}} : tensor<64x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[K]] : tensor<1x32xbf16>, tensor<64x32xf32>)
// CHECK: tensor.extract_slice %[[V]][0, 0] [%{{.*}}, 32] [1, 1]
// CHECK: scf.yield
// CHECK: arith.divf
// CHECK: scf.forall.in_parallel

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

// -----

// FP8 activations: kv_b takes the latents quantised.

// CHECK-LABEL: func.func @moec_step(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, 4)
// CHECK: %[[CODES:.*]]:2 = scf.forall {{.*}} in (64) {{.*}} -> (tensor<64x128xf8E4M3FN>, tensor<64x1xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
// CHECK: linalg.generic {{.*}} ins(%[[CODES]]#0, %[[CODES]]#1,{{.*}} outs(%{{.*}} : tensor<64x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[CODES]]#0, %[[CODES]]#1,{{.*}} outs(%{{.*}} : tensor<64x32xf32>)

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
  %y = transformer.attention %q#0, %q#1, %cache, %layer, %kv_b, %positions scale 0.25 quantize_latent
      : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
         !transformer.block_scaled<256x128, f8E4M3FN, f32, [128, 128]>, tensor<?x?xi32>)
      -> tensor<?x?x4x32xbf16>
  transformer.tap %y "y" : tensor<?x?x4x32xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
