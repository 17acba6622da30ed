// Through bytecode and back nothing is lost: types, attributes, optional parts
// of ops, regions and symbols.
// RUN: moec-opt --emit-bytecode %s | moec-opt | FileCheck %s
// RUN: moec-opt --emit-bytecode %S/ops.mlir | moec-opt | FileCheck %S/ops.mlir
// RUN: moec-opt --emit-bytecode %S/model.mlir | moec-opt | FileCheck %S/model.mlir

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
!w = !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>

// CHECK: transformer.parameter @up "layers.{layer}.experts.{expert}.up.weight" scales "layers.{layer}.experts.{expert}.up.weight_scale_inv" layers [1, 3) experts 8 : !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>
transformer.parameter @up "layers.{layer}.experts.{expert}.up.weight"
  scales "layers.{layer}.experts.{expert}.up.weight_scale_inv"
  layers [1, 3) experts 8 : !w
// CHECK: transformer.parameter @norm "norm.weight" widened : tensor<192xf32>
transformer.parameter @norm "norm.weight" widened : tensor<192xf32>

// CHECK-LABEL: func.func @layers
func.func @layers(%x: tensor<?x?x192xbf16>, %c: !cache,
                  %positions: tensor<?x?xi32>, %latent: tensor<?x?x136xbf16>,
                  %logits: tensor<?x?x8xf32>) -> (tensor<?x?x192xbf16>, !cache) {
  // CHECK: transformer.rope_table %{{.*}} <theta = 5.000000e+04 : f64, dim = 32, yarn = <factor = 3.200000e+01 : f64, beta_fast = 3.200000e+01 : f64, beta_slow = 1.000000e+00 : f64, mscale = 1.000000e+00 : f64, mscale_all_dim = 7.070000e-01 : f64, original_max_position_embeddings = 512>>
  %cos, %sin = transformer.rope_table %positions
    <theta = 5.0e+04 : f64, dim = 32,
     yarn = <factor = 32.0 : f64, beta_fast = 32.0 : f64, beta_slow = 1.0 : f64,
             mscale = 1.0 : f64, mscale_all_dim = 0.707 : f64,
             original_max_position_embeddings = 512>> : tensor<?x?xi32>
  // CHECK: transformer.layers [1, 3) init(%{{.*}}, %{{.*}})
  %0:2 = transformer.layers [1, 3) init(%x, %c) : tensor<?x?x192xbf16>, !cache {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>, %d: !cache):
    // CHECK: %[[I:.*]], %[[W:.*]] = transformer.route %{{.*}} scoring sigmoid method greedy top_k 2 n_group 1 topk_group 1 normalize routed_scaling_factor 2.827000e+00
    %i, %w = transformer.route %logits scoring sigmoid method greedy top_k 2
      n_group 1 topk_group 1 normalize routed_scaling_factor 2.827
      : tensor<?x?x8xf32>
    // CHECK: transformer.tap %[[I]] "layers.{layer}.router_indices" layer %{{.*}} : tensor<?x?x2xi32>
    transformer.tap %i "layers.{layer}.router_indices" layer %layer
      : tensor<?x?x2xi32>
    // CHECK: transformer.experts %{{.*}}, %[[I]], %[[W]] experts 8
    %e = transformer.experts %y, %i, %w experts 8
      : tensor<?x?x192xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32> {
    ^bb0(%rows: tensor<?x192xbf16>, %expert: index):
      // CHECK: transformer.weight @up layer %{{.*}} expert %{{.*}} : !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>
      %up = transformer.weight @up layer %layer expert %expert : !w
      // CHECK: transformer.quantize %{{.*}} : tensor<?x192xbf16> -> <?x192, f8E4M3FN, f32, [1, 128]>
      %q = transformer.quantize %rows
        : tensor<?x192xbf16> -> <?x192, f8E4M3FN, f32, [1, 128]>
      %h = transformer.linear %q, %up
        : (!transformer.block_scaled<?x192, f8E4M3FN, f32, [1, 128]>, !w)
          -> tensor<?x136xbf16>
      // CHECK: transformer.yield %{{.*}} : tensor<?x192xbf16>
      transformer.yield %rows : tensor<?x192xbf16>
    }
    transformer.yield %e, %d : tensor<?x?x192xbf16>, !cache
  }
  return %0#0, %0#1 : tensor<?x?x192xbf16>, !cache
}
