// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Rows sorted by expert: counts, their running sum, places; the pieces of work;
// each expert on its own rows, which are gathered, if it has any; the weighted
// sums in the order of the choice.

// CHECK-LABEL: func.func @moec_step(
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[ROUTED:.*]]:2 = scf.forall {{.*}} -> (tensor<?x4xi32>, tensor<?x4xf32>)
// CHECK: %[[COUNTS:.*]] = scf.for %{{.*}} = %[[C0]] to %{{.*}} -> (tensor<33xi64>)
// CHECK: %[[BEGINS:.*]] = scf.for %{{.*}} = %[[C0]] to %[[C32]] step %[[C1]] iter_args(%{{.*}} = %[[COUNTS]]) -> (tensor<33xi64>)
// CHECK: %[[SORTED:.*]]:3 = scf.for %{{.*}} = %[[C0]] to %{{.*}} step %[[C1]] iter_args(%{{.*}} = %[[BEGINS]],
// CHECK: %[[RESULTS:.*]] = scf.for %[[EXPERT:.*]] = %[[C0]] to %[[C32]] step %[[C1]] iter_args(%[[OLD:.*]] = %{{.*}}) -> (tensor<?x256xbf16>)
// CHECK: %[[BEGIN64:.*]] = tensor.extract %[[BEGINS]][%[[EXPERT]]]
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[BEGIN64]] : i64 to index
// CHECK: %[[SOME:.*]] = arith.cmpi ne, %[[SIZE:.*]], %[[C0]]
// CHECK: scf.if %[[SOME]] -> (tensor<?x256xbf16>)
// CHECK: %[[ROWS:.*]] = scf.forall (%[[ROW:.*]]) in (%[[SIZE]]) {{.*}} -> (tensor<?x256xbf16>)
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[ROW]]
// CHECK: tensor.extract %[[SORTED]]#1[%[[AT]]]
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]],
// CHECK: tensor.insert_slice %{{.*}} into %[[OLD]][%[[BEGIN]], 0] [%[[SIZE]], 256] [1, 1]
// CHECK: } else {
// CHECK: scf.yield %[[OLD]]
// CHECK: scf.forall (%[[TOKEN:.*]]) in (%{{.*}}) {{.*}} -> (tensor<?x256xf32>)
// CHECK: scf.for %[[K:.*]] = %[[C0]] to %[[C4]]
// CHECK: tensor.extract %[[SORTED]]#2[%[[TOKEN]], %[[K]]]
// CHECK: %[[WEIGHT:.*]] = tensor.extract %[[ROUTED]]#1[%[[TOKEN]], %[[K]]]
// CHECK: tensor.extract_slice %[[RESULTS]][
// CHECK: arith.mulf %{{.*}}, %[[WEIGHT]]
// CHECK: arith.addf
// CHECK: scf.forall.in_parallel
// CHECK: arith.truncf %{{.*}} : f32 to bf16

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
transformer.parameter @down "down.{expert}" experts 32 : tensor<256x256xbf16>
transformer.parameter @router "router" : tensor<32x256xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %router = transformer.weight @router : tensor<32x256xbf16>
  %scores = transformer.linear %x, %router : (tensor<?x?x256xbf16>, tensor<32x256xbf16>) -> tensor<?x?x32xf32>
  %indices, %weights = transformer.route %scores scoring softmax method greedy
      top_k 4 n_group 1 topk_group 1 routed_scaling_factor 16.0 : tensor<?x?x32xf32>
  %y = transformer.experts %x, %indices, %weights experts 32
      : tensor<?x?x256xbf16>, tensor<?x?x4xi32>, tensor<?x?x4xf32> {
  ^bb0(%chosen: tensor<?x256xbf16>, %expert: index):
    %down = transformer.weight @down expert %expert : tensor<256x256xbf16>
    %z = transformer.linear %chosen, %down : (tensor<?x256xbf16>, tensor<256x256xbf16>) -> tensor<?x256xbf16>
    transformer.yield %z : tensor<?x256xbf16>
  }
  transformer.tap %y "y" : tensor<?x?x256xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
