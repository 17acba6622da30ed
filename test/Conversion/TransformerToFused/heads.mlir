// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Heads and pieces are views.

// CHECK-LABEL: func.func @moec_step(
// CHECK: %[[HEADS:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 4, 64] : tensor<?x256xbf16> into tensor<?x4x64xbf16>
// CHECK: tensor.extract_slice %[[HEADS]][0, 0, 0] [%{{.*}}, 4, 48] [1, 1, 1]
// CHECK: %[[SECOND:.*]] = tensor.extract_slice %[[HEADS]][0, 0, 48] [%{{.*}}, 4, 16] [1, 1, 1]
// CHECK: tensor.collapse_shape %[[SECOND]] {{\[\[}}0], [1, 2]] : tensor<?x4x16xbf16> into tensor<?x64xbf16>

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %heads = transformer.split_heads %x : tensor<?x?x256xbf16> -> tensor<?x?x4x64xbf16>
  %parts:2 = transformer.split %heads [48, 16]
      : tensor<?x?x4x64xbf16> -> tensor<?x?x4x48xbf16>, tensor<?x?x4x16xbf16>
  %merged = transformer.merge_heads %parts#1 : tensor<?x?x4x16xbf16> -> tensor<?x?x64xbf16>
  transformer.tap %parts#0 "nope" : tensor<?x?x4x48xbf16>
  transformer.tap %merged "merged" : tensor<?x?x64xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
