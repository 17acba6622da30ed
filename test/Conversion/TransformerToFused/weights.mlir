// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Slots of the weight table in the order of the parameters: the table is 0, the
// norms of layers 1 to 3 are 1 to 3, their 32 experts begin at 4, and the router
// comes behind 3 * 32 of them.

// CHECK-LABEL: func.func @moec_step(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C100:.*]] = arith.constant 100 : index
// CHECK: rt.weight %[[STEP]] payload[%[[C0]]] : !llvm.ptr -> memref<64x256xbf16>
// CHECK: rt.weight %[[STEP]] payload[%[[C100]]] : !llvm.ptr -> memref<32x256xbf16>
// CHECK: scf.for %[[LAYER:.*]] = %[[C1]] to %[[C4]]
// 1 + (layer - 1), folded.
// CHECK: rt.weight %[[STEP]] payload[%[[LAYER]]] : !llvm.ptr -> memref<256xf32>
// CHECK: scf.for %[[EXPERT:.*]] = %[[C0]] to %[[C32]]
// CHECK: %[[NUMBER:.*]] = arith.subi %[[LAYER]], %[[C1]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[NUMBER]], %[[C32]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[BEFORE]], %[[C4]]
// CHECK: %[[SLOT:.*]] = arith.addi %[[FIRST]], %[[EXPERT]]
// CHECK: rt.weight %[[STEP]] payload[%[[SLOT]]] : !llvm.ptr -> memref<256x256xbf16>

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
transformer.parameter @norm "model.layers.{layer}.norm" layers [1, 4) widened : tensor<256xf32>
transformer.parameter @down "model.layers.{layer}.experts.{expert}.down" layers [1, 4) experts 32
  : tensor<256x256xbf16>
transformer.parameter @router "router" : tensor<32x256xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %router = transformer.weight @router : tensor<32x256xbf16>
  %y = transformer.layers [1, 4) init(%x) : tensor<?x?x256xbf16> {
  ^bb0(%layer: index, %carried: tensor<?x?x256xbf16>):
    %gain = transformer.weight @norm layer %layer : tensor<256xf32>
    %h = transformer.rms_norm %carried, %gain eps 1.0e-6 : tensor<?x?x256xbf16>, tensor<256xf32>
    %scores = transformer.linear %h, %router
        : (tensor<?x?x256xbf16>, tensor<32x256xbf16>) -> tensor<?x?x32xf32>
    %indices, %weights = transformer.route %scores scoring sigmoid method greedy
        top_k 4 n_group 1 topk_group 1 routed_scaling_factor 1.0 : tensor<?x?x32xf32>
    %sum = transformer.experts %h, %indices, %weights experts 32
        : tensor<?x?x256xbf16>, tensor<?x?x4xi32>, tensor<?x?x4xf32> {
    ^bb0(%chosen: tensor<?x256xbf16>, %expert: index):
      %down = transformer.weight @down layer %layer expert %expert : tensor<256x256xbf16>
      %z = transformer.linear %chosen, %down
          : (tensor<?x256xbf16>, tensor<256x256xbf16>) -> tensor<?x256xbf16>
      transformer.yield %z : tensor<?x256xbf16>
    }
    transformer.yield %sum : tensor<?x?x256xbf16>
  }
  transformer.tap %y "y" : tensor<?x?x256xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
