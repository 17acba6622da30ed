// A whole small model as the importer builds it: Kimi-K2's form in FP8 with one
// dense layer, two routed ones and sizes that leave ragged last blocks. It
// prints, parses back, and prints the same.
// RUN: moec-opt %s | moec-opt | FileCheck %s
// RUN: moec-opt %s -o %t.first
// RUN: moec-opt %t.first | diff %t.first -

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
!fp8_56x192 = !transformer.block_scaled<56x192, f8E4M3FN, f32, [128, 128]>
!fp8_136x192 = !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>
!fp8_152x192 = !transformer.block_scaled<152x192, f8E4M3FN, f32, [128, 128]>
!fp8_192x56 = !transformer.block_scaled<192x56, f8E4M3FN, f32, [128, 128]>
!fp8_192x128 = !transformer.block_scaled<192x128, f8E4M3FN, f32, [128, 128]>
!fp8_192x136 = !transformer.block_scaled<192x136, f8E4M3FN, f32, [128, 128]>
!fp8_192x320 = !transformer.block_scaled<192x320, f8E4M3FN, f32, [128, 128]>
!fp8_256x136 = !transformer.block_scaled<256x136, f8E4M3FN, f32, [128, 128]>
!fp8_320x192 = !transformer.block_scaled<320x192, f8E4M3FN, f32, [128, 128]>

// CHECK: transformer.parameter @model.embed_tokens.weight "model.embed_tokens.weight" : tensor<250x192xbf16>
// CHECK: transformer.parameter @layers.0.input_layernorm.weight "model.layers.{layer}.input_layernorm.weight" layers [0, 1) widened : tensor<192xf32>
// CHECK: transformer.parameter @layers.1.self_attn.kv_a_proj_with_mqa.weight "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight" scales "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight_scale_inv" layers [1, 3) : !transformer.block_scaled<152x192, f8E4M3FN, f32, [128, 128]>
// CHECK: transformer.parameter @layers.1.mlp.experts.up_proj.weight "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight" scales "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight_scale_inv" layers [1, 3) experts 8 : !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>

// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[IDS:.*]]: tensor<?x?xi32>, %[[POSITIONS:.*]]: tensor<?x?xi32>, %[[ROWS:.*]]: tensor<?xi32>, %[[CACHE:.*]]: !transformer.latent_cache<{{.*}}>)
// CHECK: %[[X0:.*]] = transformer.embedding %[[IDS]]
// CHECK: %[[COS:.*]], %[[SIN:.*]] = transformer.rope_table %[[POSITIONS]]

// The dense range.
// CHECK: %[[DENSE:.*]]:2 = transformer.layers [0, 1) init(%[[X0]], %[[CACHE]])
// CHECK: ^bb0(%[[LAYER:.*]]: index, %[[X:.*]]: tensor<?x?x192xbf16>, %[[C:.*]]: !transformer.latent_cache<{{.*}}>):
// CHECK: %[[NORMED:.*]] = transformer.rms_norm %[[X]]
// CHECK: %[[HEADS:.*]] = transformer.split_heads
// CHECK: %[[Q:.*]]:2 = transformer.split %[[HEADS]] [32, 16]
// CHECK: %[[Q_ROPE:.*]] = transformer.rope %[[Q]]#1, %[[COS]], %[[SIN]] interleaved
// CHECK: %[[KV:.*]]:2 = transformer.split %{{.*}} [136, 16]
// CHECK: %[[LATENT:.*]] = transformer.rms_norm %[[KV]]#0
// CHECK: %[[K_ROPE:.*]] = transformer.rope %[[KV]]#1, %[[COS]], %[[SIN]] interleaved
// CHECK: %[[NEW:.*]] = transformer.cache_update %[[C]], %[[LAYER]], %[[LATENT]], %[[K_ROPE]], %[[POSITIONS]]
// CHECK: %[[KV_B:.*]] = transformer.weight @layers.0.self_attn.kv_b_proj.weight layer %[[LAYER]]
// CHECK: %[[ATTENTION:.*]] = transformer.attention %[[Q]]#0, %[[Q_ROPE]], %[[NEW]], %[[LAYER]], %[[KV_B]], %[[POSITIONS]] scale
// CHECK: transformer.merge_heads %[[ATTENTION]]
// CHECK: %[[RESIDUAL:.*]] = transformer.add %[[X]]
// CHECK: transformer.swiglu
// CHECK: %[[OUT:.*]] = transformer.add %[[RESIDUAL]]
// CHECK: transformer.yield %[[OUT]], %[[NEW]]

// The routed range: its body stands once for both layers.
// CHECK: %[[MOE:.*]]:2 = transformer.layers [1, 3) init(%[[DENSE]]#0, %[[DENSE]]#1)
// CHECK: %[[LOGITS:.*]] = transformer.linear {{.*}} -> tensor<?x?x8xf32>
// CHECK: %[[INDICES:.*]], %[[WEIGHTS:.*]] = transformer.route %[[LOGITS]] bias %{{.*}}
// CHECK: %[[ROUTED:.*]] = transformer.experts %{{.*}}, %[[INDICES]], %[[WEIGHTS]] experts 8
// CHECK: ^bb0(%[[TOKENS:.*]]: tensor<?x192xbf16>, %[[EXPERT:.*]]: index):
// CHECK: transformer.weight @layers.1.mlp.experts.gate_proj.weight layer %{{.*}} expert %[[EXPERT]]
// CHECK: transformer.yield {{.*}} : tensor<?x192xbf16>
// CHECK: transformer.add %[[ROUTED]]
// CHECK-NOT: transformer.layers

// CHECK: %[[LAST:.*]] = transformer.gather_rows %[[MOE]]#0, %[[ROWS]]
// CHECK: transformer.rms_norm %[[LAST]]
// CHECK: %[[HEAD:.*]] = transformer.linear {{.*}} -> tensor<?x250xf32>
// CHECK: return %[[HEAD]], %[[MOE]]#1

transformer.parameter @model.embed_tokens.weight "model.embed_tokens.weight"
  : tensor<250x192xbf16>
transformer.parameter @layers.0.input_layernorm.weight
  "model.layers.{layer}.input_layernorm.weight" layers [0, 1) widened
  : tensor<192xf32>
transformer.parameter @layers.0.self_attn.q_a_proj.weight
  "model.layers.{layer}.self_attn.q_a_proj.weight"
  scales "model.layers.{layer}.self_attn.q_a_proj.weight_scale_inv"
  layers [0, 1) : !fp8_56x192
transformer.parameter @layers.0.self_attn.q_a_layernorm.weight
  "model.layers.{layer}.self_attn.q_a_layernorm.weight" layers [0, 1) widened
  : tensor<56xf32>
transformer.parameter @layers.0.self_attn.q_b_proj.weight
  "model.layers.{layer}.self_attn.q_b_proj.weight"
  scales "model.layers.{layer}.self_attn.q_b_proj.weight_scale_inv"
  layers [0, 1) : !fp8_192x56
transformer.parameter @layers.0.self_attn.kv_a_proj_with_mqa.weight
  "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight"
  scales "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight_scale_inv"
  layers [0, 1) : !fp8_152x192
transformer.parameter @layers.0.self_attn.kv_a_layernorm.weight
  "model.layers.{layer}.self_attn.kv_a_layernorm.weight" layers [0, 1) widened
  : tensor<136xf32>
transformer.parameter @layers.0.self_attn.kv_b_proj.weight
  "model.layers.{layer}.self_attn.kv_b_proj.weight"
  scales "model.layers.{layer}.self_attn.kv_b_proj.weight_scale_inv"
  layers [0, 1) : !fp8_256x136
transformer.parameter @layers.0.self_attn.o_proj.weight
  "model.layers.{layer}.self_attn.o_proj.weight"
  scales "model.layers.{layer}.self_attn.o_proj.weight_scale_inv" layers [0, 1)
  : !fp8_192x128
transformer.parameter @layers.0.post_attention_layernorm.weight
  "model.layers.{layer}.post_attention_layernorm.weight" layers [0, 1) widened
  : tensor<192xf32>
transformer.parameter @layers.0.mlp.gate_proj.weight
  "model.layers.{layer}.mlp.gate_proj.weight"
  scales "model.layers.{layer}.mlp.gate_proj.weight_scale_inv" layers [0, 1)
  : !fp8_320x192
transformer.parameter @layers.0.mlp.up_proj.weight
  "model.layers.{layer}.mlp.up_proj.weight"
  scales "model.layers.{layer}.mlp.up_proj.weight_scale_inv" layers [0, 1)
  : !fp8_320x192
transformer.parameter @layers.0.mlp.down_proj.weight
  "model.layers.{layer}.mlp.down_proj.weight"
  scales "model.layers.{layer}.mlp.down_proj.weight_scale_inv" layers [0, 1)
  : !fp8_192x320
transformer.parameter @layers.1.input_layernorm.weight
  "model.layers.{layer}.input_layernorm.weight" layers [1, 3) widened
  : tensor<192xf32>
transformer.parameter @layers.1.self_attn.q_a_proj.weight
  "model.layers.{layer}.self_attn.q_a_proj.weight"
  scales "model.layers.{layer}.self_attn.q_a_proj.weight_scale_inv"
  layers [1, 3) : !fp8_56x192
transformer.parameter @layers.1.self_attn.q_a_layernorm.weight
  "model.layers.{layer}.self_attn.q_a_layernorm.weight" layers [1, 3) widened
  : tensor<56xf32>
transformer.parameter @layers.1.self_attn.q_b_proj.weight
  "model.layers.{layer}.self_attn.q_b_proj.weight"
  scales "model.layers.{layer}.self_attn.q_b_proj.weight_scale_inv"
  layers [1, 3) : !fp8_192x56
transformer.parameter @layers.1.self_attn.kv_a_proj_with_mqa.weight
  "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight"
  scales "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight_scale_inv"
  layers [1, 3) : !fp8_152x192
transformer.parameter @layers.1.self_attn.kv_a_layernorm.weight
  "model.layers.{layer}.self_attn.kv_a_layernorm.weight" layers [1, 3) widened
  : tensor<136xf32>
transformer.parameter @layers.1.self_attn.kv_b_proj.weight
  "model.layers.{layer}.self_attn.kv_b_proj.weight"
  scales "model.layers.{layer}.self_attn.kv_b_proj.weight_scale_inv"
  layers [1, 3) : !fp8_256x136
transformer.parameter @layers.1.self_attn.o_proj.weight
  "model.layers.{layer}.self_attn.o_proj.weight"
  scales "model.layers.{layer}.self_attn.o_proj.weight_scale_inv" layers [1, 3)
  : !fp8_192x128
transformer.parameter @layers.1.post_attention_layernorm.weight
  "model.layers.{layer}.post_attention_layernorm.weight" layers [1, 3) widened
  : tensor<192xf32>
transformer.parameter @layers.1.mlp.gate.weight
  "model.layers.{layer}.mlp.gate.weight" layers [1, 3) : tensor<8x192xbf16>
transformer.parameter @layers.1.mlp.gate.e_score_correction_bias
  "model.layers.{layer}.mlp.gate.e_score_correction_bias" layers [1, 3) widened
  : tensor<8xf32>
transformer.parameter @layers.1.mlp.experts.gate_proj.weight
  "model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight"
  scales "model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight_scale_inv"
  layers [1, 3) experts 8 : !fp8_136x192
transformer.parameter @layers.1.mlp.experts.up_proj.weight
  "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight"
  scales "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight_scale_inv"
  layers [1, 3) experts 8 : !fp8_136x192
transformer.parameter @layers.1.mlp.experts.down_proj.weight
  "model.layers.{layer}.mlp.experts.{expert}.down_proj.weight"
  scales "model.layers.{layer}.mlp.experts.{expert}.down_proj.weight_scale_inv"
  layers [1, 3) experts 8 : !fp8_192x136
transformer.parameter @layers.1.mlp.shared_experts.gate_proj.weight
  "model.layers.{layer}.mlp.shared_experts.gate_proj.weight"
  scales "model.layers.{layer}.mlp.shared_experts.gate_proj.weight_scale_inv"
  layers [1, 3) : !fp8_136x192
transformer.parameter @layers.1.mlp.shared_experts.up_proj.weight
  "model.layers.{layer}.mlp.shared_experts.up_proj.weight"
  scales "model.layers.{layer}.mlp.shared_experts.up_proj.weight_scale_inv"
  layers [1, 3) : !fp8_136x192
transformer.parameter @layers.1.mlp.shared_experts.down_proj.weight
  "model.layers.{layer}.mlp.shared_experts.down_proj.weight"
  scales "model.layers.{layer}.mlp.shared_experts.down_proj.weight_scale_inv"
  layers [1, 3) : !fp8_192x136
transformer.parameter @model.norm.weight "model.norm.weight" widened
  : tensor<192xf32>
transformer.parameter @lm_head.weight "lm_head.weight" : tensor<250x192xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>, %rows:
  tensor<?xi32>, %cache: !cache) -> (tensor<?x250xf32>, !cache) {
  %0 = transformer.weight @model.embed_tokens.weight : tensor<250x192xbf16>
  %1 = transformer.embedding %ids, %0 : (tensor<?x?xi32>,
    tensor<250x192xbf16>) -> tensor<?x?x192xbf16>
  %cos, %sin = transformer.rope_table %positions
    <theta = 5.000000e+04 : f64, dim = 16,
     yarn = <factor = 3.200000e+01 : f64, beta_fast = 1.000000e+00 : f64,
             beta_slow = 1.000000e+00 : f64, mscale = 1.000000e+00 : f64,
             mscale_all_dim = 1.000000e+00 : f64,
             original_max_position_embeddings = 512>>
    : tensor<?x?xi32>
  %2:2 = transformer.layers [0, 1) init(%1, %cache) : tensor<?x?x192xbf16>,
    !cache {
  ^bb0(%layer: index, %x: tensor<?x?x192xbf16>, %c: !cache):
    %9 = transformer.weight @layers.0.input_layernorm.weight layer %layer
      : tensor<192xf32>
    %10 = transformer.rms_norm %x, %9 eps 1.0e-6 : tensor<?x?x192xbf16>,
      tensor<192xf32>
    %11 = transformer.weight @layers.0.self_attn.q_a_proj.weight layer %layer
      : !fp8_56x192
    %12 = transformer.linear %10, %11 : (tensor<?x?x192xbf16>, !fp8_56x192)
      -> tensor<?x?x56xbf16>
    %13 = transformer.weight @layers.0.self_attn.q_a_layernorm.weight
      layer %layer : tensor<56xf32>
    %14 = transformer.rms_norm %12, %13 eps 1.0e-6 : tensor<?x?x56xbf16>,
      tensor<56xf32>
    %15 = transformer.weight @layers.0.self_attn.q_b_proj.weight layer %layer
      : !fp8_192x56
    %16 = transformer.linear %14, %15 : (tensor<?x?x56xbf16>, !fp8_192x56)
      -> tensor<?x?x192xbf16>
    %17 = transformer.split_heads %16 : tensor<?x?x192xbf16>
      -> tensor<?x?x4x48xbf16>
    %18:2 = transformer.split %17 [32, 16] : tensor<?x?x4x48xbf16>
      -> tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>
    %19 = transformer.rope %18#1, %cos, %sin interleaved
      : tensor<?x?x4x16xbf16>, tensor<?x?x8xf32>
    %20 = transformer.weight @layers.0.self_attn.kv_a_proj_with_mqa.weight
      layer %layer : !fp8_152x192
    %21 = transformer.linear %10, %20 : (tensor<?x?x192xbf16>, !fp8_152x192)
      -> tensor<?x?x152xbf16>
    %22:2 = transformer.split %21 [136, 16] : tensor<?x?x152xbf16>
      -> tensor<?x?x136xbf16>, tensor<?x?x16xbf16>
    %23 = transformer.weight @layers.0.self_attn.kv_a_layernorm.weight
      layer %layer : tensor<136xf32>
    %24 = transformer.rms_norm %22#0, %23 eps 1.0e-6 : tensor<?x?x136xbf16>,
      tensor<136xf32>
    %25 = transformer.rope %22#1, %cos, %sin interleaved
      : tensor<?x?x16xbf16>, tensor<?x?x8xf32>
    %26 = transformer.cache_update %c, %layer, %24, %25, %positions : !cache,
      tensor<?x?x136xbf16>, tensor<?x?x16xbf16>, tensor<?x?xi32>
    %27 = transformer.weight @layers.0.self_attn.kv_b_proj.weight layer %layer
      : !fp8_256x136
    %28 = transformer.attention %18#0, %19, %26, %layer, %27, %positions scale
      0.26172159992590016 : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>,
      !cache, index, !fp8_256x136, tensor<?x?xi32>) -> tensor<?x?x4x32xbf16>
    %29 = transformer.merge_heads %28 : tensor<?x?x4x32xbf16>
      -> tensor<?x?x128xbf16>
    %30 = transformer.weight @layers.0.self_attn.o_proj.weight layer %layer
      : !fp8_192x128
    %31 = transformer.linear %29, %30 : (tensor<?x?x128xbf16>, !fp8_192x128)
      -> tensor<?x?x192xbf16>
    %32 = transformer.add %x, %31 : tensor<?x?x192xbf16>
    %33 = transformer.weight @layers.0.post_attention_layernorm.weight
      layer %layer : tensor<192xf32>
    %34 = transformer.rms_norm %32, %33 eps 1.0e-6 : tensor<?x?x192xbf16>,
      tensor<192xf32>
    %35 = transformer.weight @layers.0.mlp.gate_proj.weight layer %layer
      : !fp8_320x192
    %36 = transformer.linear %34, %35 : (tensor<?x?x192xbf16>, !fp8_320x192)
      -> tensor<?x?x320xbf16>
    %37 = transformer.weight @layers.0.mlp.up_proj.weight layer %layer
      : !fp8_320x192
    %38 = transformer.linear %34, %37 : (tensor<?x?x192xbf16>, !fp8_320x192)
      -> tensor<?x?x320xbf16>
    %39 = transformer.swiglu %36, %38 : tensor<?x?x320xbf16>
    %40 = transformer.weight @layers.0.mlp.down_proj.weight layer %layer
      : !fp8_192x320
    %41 = transformer.linear %39, %40 : (tensor<?x?x320xbf16>, !fp8_192x320)
      -> tensor<?x?x192xbf16>
    %42 = transformer.add %32, %41 : tensor<?x?x192xbf16>
    transformer.yield %42, %26 : tensor<?x?x192xbf16>, !cache
  }
  %3:2 = transformer.layers [1, 3) init(%2#0, %2#1) : tensor<?x?x192xbf16>,
    !cache {
  ^bb0(%layer: index, %x: tensor<?x?x192xbf16>, %c: !cache):
    %9 = transformer.weight @layers.1.input_layernorm.weight layer %layer
      : tensor<192xf32>
    %10 = transformer.rms_norm %x, %9 eps 1.0e-6 : tensor<?x?x192xbf16>,
      tensor<192xf32>
    %11 = transformer.weight @layers.1.self_attn.q_a_proj.weight layer %layer
      : !fp8_56x192
    %12 = transformer.linear %10, %11 : (tensor<?x?x192xbf16>, !fp8_56x192)
      -> tensor<?x?x56xbf16>
    %13 = transformer.weight @layers.1.self_attn.q_a_layernorm.weight
      layer %layer : tensor<56xf32>
    %14 = transformer.rms_norm %12, %13 eps 1.0e-6 : tensor<?x?x56xbf16>,
      tensor<56xf32>
    %15 = transformer.weight @layers.1.self_attn.q_b_proj.weight layer %layer
      : !fp8_192x56
    %16 = transformer.linear %14, %15 : (tensor<?x?x56xbf16>, !fp8_192x56)
      -> tensor<?x?x192xbf16>
    %17 = transformer.split_heads %16 : tensor<?x?x192xbf16>
      -> tensor<?x?x4x48xbf16>
    %18:2 = transformer.split %17 [32, 16] : tensor<?x?x4x48xbf16>
      -> tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>
    %19 = transformer.rope %18#1, %cos, %sin interleaved
      : tensor<?x?x4x16xbf16>, tensor<?x?x8xf32>
    %20 = transformer.weight @layers.1.self_attn.kv_a_proj_with_mqa.weight
      layer %layer : !fp8_152x192
    %21 = transformer.linear %10, %20 : (tensor<?x?x192xbf16>, !fp8_152x192)
      -> tensor<?x?x152xbf16>
    %22:2 = transformer.split %21 [136, 16] : tensor<?x?x152xbf16>
      -> tensor<?x?x136xbf16>, tensor<?x?x16xbf16>
    %23 = transformer.weight @layers.1.self_attn.kv_a_layernorm.weight
      layer %layer : tensor<136xf32>
    %24 = transformer.rms_norm %22#0, %23 eps 1.0e-6 : tensor<?x?x136xbf16>,
      tensor<136xf32>
    %25 = transformer.rope %22#1, %cos, %sin interleaved
      : tensor<?x?x16xbf16>, tensor<?x?x8xf32>
    %26 = transformer.cache_update %c, %layer, %24, %25, %positions : !cache,
      tensor<?x?x136xbf16>, tensor<?x?x16xbf16>, tensor<?x?xi32>
    %27 = transformer.weight @layers.1.self_attn.kv_b_proj.weight layer %layer
      : !fp8_256x136
    %28 = transformer.attention %18#0, %19, %26, %layer, %27, %positions scale
      0.26172159992590016 : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>,
      !cache, index, !fp8_256x136, tensor<?x?xi32>) -> tensor<?x?x4x32xbf16>
    %29 = transformer.merge_heads %28 : tensor<?x?x4x32xbf16>
      -> tensor<?x?x128xbf16>
    %30 = transformer.weight @layers.1.self_attn.o_proj.weight layer %layer
      : !fp8_192x128
    %31 = transformer.linear %29, %30 : (tensor<?x?x128xbf16>, !fp8_192x128)
      -> tensor<?x?x192xbf16>
    %32 = transformer.add %x, %31 : tensor<?x?x192xbf16>
    %33 = transformer.weight @layers.1.post_attention_layernorm.weight
      layer %layer : tensor<192xf32>
    %34 = transformer.rms_norm %32, %33 eps 1.0e-6 : tensor<?x?x192xbf16>,
      tensor<192xf32>
    %35 = transformer.weight @layers.1.mlp.gate.weight layer %layer
      : tensor<8x192xbf16>
    %36 = transformer.linear %34, %35 : (tensor<?x?x192xbf16>,
      tensor<8x192xbf16>) -> tensor<?x?x8xf32>
    %37 = transformer.weight @layers.1.mlp.gate.e_score_correction_bias
      layer %layer : tensor<8xf32>
    %indices, %weights = transformer.route %36 bias %37 scoring sigmoid method
      noaux_tc top_k 3 n_group 1 topk_group 1 normalize routed_scaling_factor
      2.827000e+00 : tensor<?x?x8xf32>, tensor<8xf32>
    %38 = transformer.experts %34, %indices, %weights experts 8
      : tensor<?x?x192xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32> {
    ^bb0(%tokens: tensor<?x192xbf16>, %expert: index):
      %48 = transformer.weight @layers.1.mlp.experts.gate_proj.weight
        layer %layer expert %expert : !fp8_136x192
      %49 = transformer.linear %tokens, %48 : (tensor<?x192xbf16>,
        !fp8_136x192) -> tensor<?x136xbf16>
      %50 = transformer.weight @layers.1.mlp.experts.up_proj.weight
        layer %layer expert %expert : !fp8_136x192
      %51 = transformer.linear %tokens, %50 : (tensor<?x192xbf16>,
        !fp8_136x192) -> tensor<?x136xbf16>
      %52 = transformer.swiglu %49, %51 : tensor<?x136xbf16>
      %53 = transformer.weight @layers.1.mlp.experts.down_proj.weight
        layer %layer expert %expert : !fp8_192x136
      %54 = transformer.linear %52, %53 : (tensor<?x136xbf16>, !fp8_192x136)
        -> tensor<?x192xbf16>
      transformer.yield %54 : tensor<?x192xbf16>
    }
    %39 = transformer.weight @layers.1.mlp.shared_experts.gate_proj.weight
      layer %layer : !fp8_136x192
    %40 = transformer.linear %34, %39 : (tensor<?x?x192xbf16>, !fp8_136x192)
      -> tensor<?x?x136xbf16>
    %41 = transformer.weight @layers.1.mlp.shared_experts.up_proj.weight
      layer %layer : !fp8_136x192
    %42 = transformer.linear %34, %41 : (tensor<?x?x192xbf16>, !fp8_136x192)
      -> tensor<?x?x136xbf16>
    %43 = transformer.swiglu %40, %42 : tensor<?x?x136xbf16>
    %44 = transformer.weight @layers.1.mlp.shared_experts.down_proj.weight
      layer %layer : !fp8_192x136
    %45 = transformer.linear %43, %44 : (tensor<?x?x136xbf16>, !fp8_192x136)
      -> tensor<?x?x192xbf16>
    %46 = transformer.add %38, %45 : tensor<?x?x192xbf16>
    %47 = transformer.add %32, %46 : tensor<?x?x192xbf16>
    transformer.yield %47, %26 : tensor<?x?x192xbf16>, !cache
  }
  %4 = transformer.gather_rows %3#0, %rows : (tensor<?x?x192xbf16>,
    tensor<?xi32>) -> tensor<?x192xbf16>
  %5 = transformer.weight @model.norm.weight : tensor<192xf32>
  %6 = transformer.rms_norm %4, %5 eps 1.0e-6 : tensor<?x192xbf16>,
    tensor<192xf32>
  %7 = transformer.weight @lm_head.weight : tensor<250x192xbf16>
  %8 = transformer.linear %6, %7 : (tensor<?x192xbf16>, tensor<250x192xbf16>)
    -> tensor<?x250xf32>
  return %8, %3#1 : tensor<?x250xf32>, !cache
}
