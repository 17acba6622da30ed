// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// A tap's place counts in values per token: 256 of "y" come first, then 512 for
// each layer, its taps side by side. They are widened to 4 bytes.

// CHECK-LABEL: func.func @moec_step(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[C512:.*]] = arith.constant 512 : index
// CHECK: %[[Y:.*]] = scf.for %[[LAYER:.*]] = %[[C1]] to
// CHECK: %[[TOKENS:.*]] = rt.extent %[[STEP]] num_tokens
// CHECK: %[[NUMBER:.*]] = arith.subi %[[LAYER]], %[[C1]]
// CHECK: %[[LAYERS:.*]] = arith.muli %[[NUMBER]], %[[C512]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[LAYERS]], %[[C256]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[PLACE]], %[[TOKENS:.*]]
// CHECK: %[[TAP:.*]] = rt.buffer %[[STEP]] taps offset %[[OFFSET]][%{{.*}}] : !llvm.ptr -> memref<?x256xf32>
// CHECK: linalg.generic {{.*}} outs(%[[TAP]] : memref<?x256xf32>)
// CHECK: arith.extf %{{.*}} : bf16 to f32
//     256 + 256 for the second.
// CHECK: arith.addi %{{.*}}, %[[C512]]
// CHECK: scf.yield
// CHECK: rt.buffer %[[STEP]] taps offset %[[C0]]

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
    transformer.tap %z "layers.{layer}.z" layer %layer : tensor<?x?x256xbf16>
    transformer.tap %carried "layers.{layer}.carried" layer %layer : tensor<?x?x256xbf16>
    transformer.yield %z, %old_cache : tensor<?x?x256xbf16>, !cache
  }
  transformer.tap %y "y" : tensor<?x?x256xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %new_cache : tensor<?x32xf32>, !cache
}
