// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Per row and group of 128 features: the scale is the largest magnitude / 448, or
// 1 where all are zero. The last group has 64 features.

// CHECK-DAG: #[[X_SCALES:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 128)>
// CHECK-LABEL: func.func @moec_step(
// CHECK-DAG: %[[MAX:.*]] = arith.constant 4.480000e+02 : f32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: tensor.empty(%{{.*}}) : tensor<?x320xf8E4M3FN>
// CHECK: tensor.empty(%{{.*}}) : tensor<?x3xf32>
// CHECK: %[[QUANTIZED:.*]]:2 = scf.forall
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C2]]
// CHECK: %[[GROUP:.*]] = tensor.extract_slice {{.*}} [128] [1] : tensor<320xbf16> to tensor<128xbf16>
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[GROUP]]
// CHECK: math.absf
// CHECK: arith.maximumf
// CHECK: %[[LARGEST:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
// CHECK: %[[QUOTIENT:.*]] = arith.divf %[[LARGEST]], %[[MAX]]
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[QUOTIENT]], %[[ZERO]]
// CHECK: %[[SCALE:.*]] = arith.select %[[IS_ZERO]], %[[ONE]], %[[QUOTIENT]]
// CHECK: linalg.generic {{.*}} ins(%[[GROUP]]
// CHECK: %[[CODE:.*]] = arith.divf %{{.*}}, %[[SCALE]]
// CHECK: arith.truncf %[[CODE]] : f32 to f8E4M3FN
// CHECK: tensor.insert %[[SCALE]] into
// CHECK: scf.yield
// CHECK: tensor.extract_slice %{{.*}}[256] [64] [1] : tensor<320xbf16> to tensor<64xbf16>
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[C2]]]
// CHECK: scf.forall.in_parallel

// Both factors of the linear have their scales.
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[X_SCALES]],
// CHECK-SAME: ins(%[[QUANTIZED]]#0, %[[QUANTIZED]]#1, %{{.*}}, %{{.*}} : tensor<?x320xf8E4M3FN>, tensor<?x3xf32>, tensor<144x320xf8E4M3FN>, tensor<2x3xf32>)
// CHECK: ^bb0(%[[A:.*]]: f8E4M3FN, %[[A_SCALE:.*]]: f32, %[[B:.*]]: f8E4M3FN, %[[B_SCALE:.*]]: f32,
// CHECK: arith.mulf %{{.*}}, %[[A_SCALE]]
// CHECK: arith.mulf %{{.*}}, %[[B_SCALE]]
// CHECK: return

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x320xbf16>
transformer.parameter @w "w" scales "w_scale_inv" : !transformer.block_scaled<144x320, f8E4M3FN, f32, [128, 128]>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x144xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x320xbf16>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<64x320xbf16>) -> tensor<?x?x320xbf16>
  %last = transformer.gather_rows %x, %rows : (tensor<?x?x320xbf16>, tensor<?xi32>) -> tensor<?x320xbf16>
  %codes = transformer.quantize %last : tensor<?x320xbf16> -> !transformer.block_scaled<?x320, f8E4M3FN, f32, [1, 128]>
  %w = transformer.weight @w : !transformer.block_scaled<144x320, f8E4M3FN, f32, [128, 128]>
  %logits = transformer.linear %codes, %w : (!transformer.block_scaled<?x320, f8E4M3FN, f32, [1, 128]>, !transformer.block_scaled<144x320, f8E4M3FN, f32, [128, 128]>) -> tensor<?x144xf32>
  return %logits, %cache : tensor<?x144xf32>, !cache
}
