// RUN: moec-opt %s --split-input-file --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// The table: angles are products in f32 of positions and inverse frequencies. A
// pair's partner stands beside it; the even ones take -sin.

// CHECK-DAG: #[[PARTNER:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 - (d2 mod 2) * 2 + 1)>
// CHECK-DAG: #[[PAIR:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 2)>
// CHECK-LABEL: func.func @moec_step(
// CHECK-DAG: %[[FREQUENCIES:.*]] = arith.constant dense<[1.000000e+00, 0.316227764, 1.000000e-01, 0.0316227749, {{.*}}]> : tensor<8xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[COS:.*]] = linalg.generic {{.*}} ins(%[[POSITIONS:.*]], %[[FREQUENCIES]] : tensor<?xi32>, tensor<8xf32>)
// CHECK: %[[POSITION:.*]] = arith.sitofp
// CHECK: %[[ANGLE:.*]] = arith.mulf %[[POSITION]],
// CHECK: math.cos %[[ANGLE]]
// CHECK: %[[SIN:.*]] = linalg.generic {{.*}} ins(%[[POSITIONS]], %[[FREQUENCIES]] :
// CHECK: math.sin
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[PARTNER]], #[[PAIR]], #[[PAIR]], #{{.*}}]
// CHECK-SAME: ins(%[[X:.*]], %[[X]], %[[COS]], %[[SIN]] :
// CHECK: %[[LEFT:.*]] = arith.mulf
// CHECK: %[[RIGHT:.*]] = arith.mulf
// CHECK: %[[D:.*]] = linalg.index 2
// CHECK: %[[BIT:.*]] = arith.andi %[[D]], %[[C1]]
// CHECK: %[[ODD:.*]] = arith.cmpi ne, %[[BIT]], %[[C0]]
// CHECK: %[[NEGATED:.*]] = arith.negf %[[RIGHT]]
// CHECK: %[[SIGNED:.*]] = arith.select %[[ODD]], %[[RIGHT]], %[[NEGATED]]
// CHECK: %[[Y:.*]] = arith.addf %[[LEFT]], %[[SIGNED]]
// CHECK: arith.truncf %[[Y]] : f32 to bf16

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %cos, %sin = transformer.rope_table %positions <theta = 10000.0 : f64, dim = 16> : tensor<?x?xi32>
  %heads = transformer.split_heads %x : tensor<?x?x256xbf16> -> tensor<?x?x16x16xbf16>
  %y = transformer.rope %heads, %cos, %sin interleaved : tensor<?x?x16x16xbf16>, tensor<?x?x8xf32>
  transformer.tap %y "y" : tensor<?x?x16x16xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}

// -----

// Not interleaved: the partner is half a head away.

// CHECK-DAG: #[[PARTNER:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, (d2 + 8) mod 16)>
// CHECK-DAG: #[[PAIR:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 mod 8)>
// CHECK-LABEL: func.func @moec_step(
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[PARTNER]], #[[PAIR]], #[[PAIR]], #{{.*}}]
// CHECK: arith.cmpi uge, %{{.*}}, %[[C8]]

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %cos, %sin = transformer.rope_table %positions <theta = 10000.0 : f64, dim = 16> : tensor<?x?xi32>
  %heads = transformer.split_heads %x : tensor<?x?x256xbf16> -> tensor<?x?x16x16xbf16>
  %y = transformer.rope %heads, %cos, %sin : tensor<?x?x16x16xbf16>, tensor<?x?x8xf32>
  transformer.tap %y "y" : tensor<?x?x16x16xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
