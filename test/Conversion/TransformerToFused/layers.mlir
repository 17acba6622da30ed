// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// One loop; the body's result goes where the carried value is.

// CHECK-LABEL: func.func @moec_step(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr)
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[Y:.*]] = scf.for %[[LAYER:.*]] = %[[C1]] to %[[C4]] step %[[C1]] iter_args(%[[X:.*]] = %{{.*}}) -> (tensor<?x256xbf16>)
// CHECK: rt.weight %[[STEP]] payload[%{{.*}}] : !llvm.ptr -> memref<256x256xbf16>
// CHECK: %[[Z32:.*]] = linalg.generic {{.*}} ins(%[[X]],
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%[[Z32]] :
// CHECK: bufferization.materialize_in_destination %[[Z]] in %[[X]]
// CHECK: scf.yield

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
transformer.parameter @w "model.layers.{layer}.w" layers [1, 4) : tensor<256x256xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %y, %new_cache = transformer.layers [1, 4) init(%x, %cache) : tensor<?x?x256xbf16>, !cache {
  ^bb0(%layer: index, %carried: tensor<?x?x256xbf16>, %old_cache: !cache):
    %w = transformer.weight @w layer %layer : tensor<256x256xbf16>
    %z = transformer.linear %carried, %w : (tensor<?x?x256xbf16>, tensor<256x256xbf16>) -> tensor<?x?x256xbf16>
    transformer.yield %z, %old_cache : tensor<?x?x256xbf16>, !cache
  }
  transformer.tap %y "y" : tensor<?x?x256xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %new_cache : tensor<?x32xf32>, !cache
}
