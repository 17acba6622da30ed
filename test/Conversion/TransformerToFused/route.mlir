// RUN: moec-opt %s --split-input-file --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Sigmoid scores; the choice adds the bias, the weights do not. A group counts as
// the sum of its two best; three of eight stay.

// CHECK-LABEL: func.func @moec_step(
// CHECK-DAG: %[[TINY:.*]] = arith.constant 9.99999968E-21 : f32
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant 2.500000e+00 : f32
// CHECK-DAG: %[[OUT:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[TAKEN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[BIAS:.*]] = bufferization.to_tensor %{{.*}} restrict : memref<32xf32>
// CHECK: scf.forall
// CHECK: arith.negf
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BIAS]] : tensor<32xf32>, tensor<32xf32>)
// CHECK: arith.addf
//     The groups' values, then the best groups.
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C8]]
// CHECK: arith.maxnumf
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C3]]
// CHECK: arith.maxnumf
//     Four times the best, of equals the first.
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C4]]
// CHECK: arith.maxnumf
// CHECK: arith.cmpf oeq
// CHECK: arith.minsi
// CHECK: scf.yield
//     Normalised, times the factor.
// CHECK: arith.addf %{{.*}}, %[[TINY]]
// CHECK: arith.divf
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK: scf.forall.in_parallel

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
transformer.parameter @router "router" : tensor<32x256xbf16>
transformer.parameter @bias "bias" widened : tensor<32xf32>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %router = transformer.weight @router : tensor<32x256xbf16>
  %bias = transformer.weight @bias : tensor<32xf32>
  %scores = transformer.linear %x, %router : (tensor<?x?x256xbf16>, tensor<32x256xbf16>) -> tensor<?x?x32xf32>
  %indices, %weights = transformer.route %scores bias %bias scoring sigmoid method noaux_tc
      top_k 4 n_group 8 topk_group 3 normalize routed_scaling_factor 2.5
      : tensor<?x?x32xf32>, tensor<32xf32>
  transformer.tap %indices "indices" : tensor<?x?x4xi32>
  transformer.tap %weights "weights" : tensor<?x?x4xf32>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}

// -----

// Softmax scores and the greedy choice: no bias, no groups, no division by the
// sum of the chosen.

// CHECK-LABEL: func.func @moec_step(
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant 1.600000e+01 : f32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[LOGITS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x32xf32>)
// CHECK: scf.forall
// CHECK: arith.maxnumf
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK-NOT: scf.for %{{.*}}
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C4]]
// CHECK-NOT: scf.for
// CHECK-NOT: arith.divf
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK: scf.forall.in_parallel

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
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
  transformer.tap %indices "indices" : tensor<?x?x4xi32>
  transformer.tap %weights "weights" : tensor<?x?x4xf32>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
