// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @moec_step(
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK: %[[GATE:.*]] = arith.extf
// CHECK: %[[UP:.*]] = arith.extf
// CHECK: %[[MINUS:.*]] = arith.negf %[[GATE]]
// CHECK: %[[EXP:.*]] = math.exp %[[MINUS]]
// CHECK: %[[DENOMINATOR:.*]] = arith.addf %[[EXP]], %[[ONE]]
// CHECK: %[[SILU:.*]] = arith.divf %[[GATE]], %[[DENOMINATOR]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[SILU]], %[[UP]]
// CHECK: arith.truncf %[[PRODUCT]] : f32 to bf16
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[S]] :
// CHECK: %[[A:.*]] = arith.extf
// CHECK: %[[B:.*]] = arith.extf
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: arith.truncf %[[SUM]] : f32 to bf16

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %s = transformer.swiglu %x, %x : tensor<?x?x256xbf16>
  %y = transformer.add %x, %s : tensor<?x?x256xbf16>
  transformer.tap %y "y" : tensor<?x?x256xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
