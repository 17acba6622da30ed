// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Everything in f32; one rounding at the end.

// CHECK-LABEL: func.func @moec_step(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[EPS:.*]] = arith.constant 9.99999997E-7 : f32
// CHECK-DAG: %[[WIDTH:.*]] = arith.constant 2.560000e+02 : f32
// CHECK: %[[GAIN:.*]] = bufferization.to_tensor %{{.*}} restrict : memref<256xf32>
// CHECK: %[[SQUARES:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X:.*]] : tensor<?x256xbf16>)
// CHECK: %[[V:.*]] = arith.extf
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[V]], %[[V]]
// CHECK: arith.addf %{{.*}}, %[[SQUARE]]
// CHECK: %[[INVERSE:.*]] = linalg.generic {{.*}} ins(%[[SQUARES]] : tensor<?xf32>)
// CHECK: %[[MEAN:.*]] = arith.divf %{{.*}}, %[[WIDTH]]
// CHECK: %[[MORE:.*]] = arith.addf %[[MEAN]], %[[EPS]]
// CHECK: %[[ROOT:.*]] = math.sqrt %[[MORE]]
// CHECK: arith.divf %[[ONE]], %[[ROOT]]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[INVERSE]], %[[GAIN]] : tensor<?x256xbf16>, tensor<?xf32>, tensor<256xf32>)
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[I:.*]]: f32, %[[G:.*]]: f32,
// CHECK: %[[A32:.*]] = arith.extf %[[A]]
// CHECK: %[[NORMED:.*]] = arith.mulf %[[A32]], %[[I]]
// CHECK: %[[Y:.*]] = arith.mulf %[[NORMED]], %[[G]]
// CHECK: arith.truncf %[[Y]] : f32 to bf16

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
transformer.parameter @gain "gain" widened : tensor<256xf32>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %gain = transformer.weight @gain : tensor<256xf32>
  %y = transformer.rms_norm %x, %gain eps 1.0e-6 : tensor<?x?x256xbf16>, tensor<256xf32>
  transformer.tap %y "y" : tensor<?x?x256xbf16>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}
