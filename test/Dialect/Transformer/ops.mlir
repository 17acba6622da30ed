// Every op, type and attribute in the custom assembly, as far as printing and
// parsing back.
// RUN: moec-opt %s | moec-opt | FileCheck %s

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func private @block_scaled
// CHECK-SAME: !transformer.block_scaled<2048x7168, f8E4M3FN, f32, [128, 128]>
// CHECK-SAME: !transformer.block_scaled<576x7168, f8E4M3FN, f32, [128, 128]>
// CHECK-SAME: !transformer.block_scaled<?x?x7168, f8E4M3FN, f32, [1, 1, 128]>
func.func private @block_scaled(
    !transformer.block_scaled<2048x7168, f8E4M3FN, f32, [128, 128]>,
    !transformer.block_scaled<576x7168, f8E4M3FN, f32, [128, 128]>,
    !transformer.block_scaled<?x?x7168, f8E4M3FN, f32, [1, 1, 128]>)

// CHECK-LABEL: func.func private @latent_cache
// CHECK-SAME: !transformer.latent_cache<layers = 61, kv_lora_rank = 512, rope = 64, bf16>
// CHECK-SAME: !transformer.latent_cache<layers = 27, kv_lora_rank = 512, rope = 64, f32>
func.func private @latent_cache(
    !transformer.latent_cache<layers = 61, kv_lora_rank = 512, rope = 64, bf16>,
    !transformer.latent_cache<layers = 27, kv_lora_rank = 512, rope = 64, f32>)

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: method.0 = #transformer<method greedy>
// CHECK-SAME: method.1 = #transformer<method group_limited_greedy>
// CHECK-SAME: method.2 = #transformer<method noaux_tc>
// CHECK-SAME: rope = #transformer.rope<theta = 1.000000e+04 : f64, dim = 64>
// CHECK-SAME: scoring.0 = #transformer<scoring softmax>
// CHECK-SAME: scoring.1 = #transformer<scoring sigmoid>
// CHECK-SAME: yarn = #transformer.yarn<factor = 4.000000e+01 : f64, beta_fast = 3.200000e+01 : f64, beta_slow = 1.000000e+00 : f64, mscale = 7.070000e-01 : f64, mscale_all_dim = 7.070000e-01 : f64, original_max_position_embeddings = 4096>
func.func private @attributes() attributes {
  method.0 = #transformer<method greedy>,
  method.1 = #transformer<method group_limited_greedy>,
  method.2 = #transformer<method noaux_tc>,
  rope = #transformer.rope<theta = 1.0e+04 : f64, dim = 64>,
  scoring.0 = #transformer<scoring softmax>,
  scoring.1 = #transformer<scoring sigmoid>,
  yarn = #transformer.yarn<
    factor = 40.0 : f64, beta_fast = 32.0 : f64, beta_slow = 1.0 : f64,
    mscale = 0.707 : f64, mscale_all_dim = 0.707 : f64,
    original_max_position_embeddings = 4096>
}

// The fields of a struct may come in any order; they print in the declared one.
// CHECK-LABEL: func.func private @rope_with_yarn
// CHECK-SAME: #transformer.rope<theta = 5.000000e+04 : f64, dim = 64, yarn = <factor = 3.200000e+01 : f64, beta_fast = 1.000000e+00 : f64, beta_slow = 1.000000e+00 : f64, mscale = 1.000000e+00 : f64, mscale_all_dim = 1.000000e+00 : f64, original_max_position_embeddings = 4096>>
func.func private @rope_with_yarn() attributes {
  rope = #transformer.rope<dim = 64, theta = 5.0e+04 : f64,
    yarn = <original_max_position_embeddings = 4096, factor = 32.0 : f64,
            beta_fast = 1.0 : f64, beta_slow = 1.0 : f64,
            mscale = 1.0 : f64, mscale_all_dim = 1.0 : f64>>
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

// CHECK: transformer.parameter @head "lm_head.weight" : tensor<163840x7168xbf16>
transformer.parameter @head "lm_head.weight" : tensor<163840x7168xbf16>

// CHECK: transformer.parameter @half "half.weight" : tensor<4x4xf16>
transformer.parameter @half "half.weight" : tensor<4x4xf16>

// CHECK: transformer.parameter @norm "model.norm.weight" widened : tensor<7168xf32>
transformer.parameter @norm "model.norm.weight" widened : tensor<7168xf32>

// CHECK: transformer.parameter @gate "model.layers.{layer}.mlp.gate.weight" layers [1, 61) : tensor<384x7168xbf16>
transformer.parameter @gate "model.layers.{layer}.mlp.gate.weight"
  layers [1, 61) : tensor<384x7168xbf16>

// CHECK: transformer.parameter @kv_a "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight" scales "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight_scale_inv" layers [0, 61) : !transformer.block_scaled<576x7168, f8E4M3FN, f32, [128, 128]>
transformer.parameter @kv_a "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight"
  scales "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight_scale_inv"
  layers [0, 61) : !transformer.block_scaled<576x7168, f8E4M3FN, f32, [128, 128]>

// CHECK: transformer.parameter @up "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight" scales "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight_scale_inv" layers [1, 61) experts 384 {note = "kept"} : !transformer.block_scaled<2048x7168, f8E4M3FN, f32, [128, 128]>
transformer.parameter @up "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight"
  scales "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight_scale_inv"
  layers [1, 61) experts 384 {note = "kept"}
  : !transformer.block_scaled<2048x7168, f8E4M3FN, f32, [128, 128]>

// CHECK-LABEL: func.func @weight
// CHECK-SAME: (%[[LAYER:.*]]: index, %[[EXPERT:.*]]: index)
func.func @weight(%layer: index, %expert: index) {
  // CHECK: transformer.weight @head : tensor<163840x7168xbf16>
  %0 = transformer.weight @head : tensor<163840x7168xbf16>
  // CHECK: transformer.weight @gate layer %[[LAYER]] : tensor<384x7168xbf16>
  %1 = transformer.weight @gate layer %layer : tensor<384x7168xbf16>
  // CHECK: transformer.weight @up layer %[[LAYER]] expert %[[EXPERT]] : !transformer.block_scaled<2048x7168, f8E4M3FN, f32, [128, 128]>
  %2 = transformer.weight @up layer %layer expert %expert
    : !transformer.block_scaled<2048x7168, f8E4M3FN, f32, [128, 128]>
  return
}

//===----------------------------------------------------------------------===//
// Rows in, rows out
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @embedding
// CHECK-SAME: (%[[IDS:.*]]: tensor<?x?xi32>, %[[TABLE:.*]]: tensor<163840x7168xbf16>)
func.func @embedding(%ids: tensor<?x?xi32>, %table: tensor<163840x7168xbf16>)
    -> tensor<?x?x7168xbf16> {
  // CHECK: transformer.embedding %[[IDS]], %[[TABLE]] : (tensor<?x?xi32>, tensor<163840x7168xbf16>) -> tensor<?x?x7168xbf16>
  %0 = transformer.embedding %ids, %table
    : (tensor<?x?xi32>, tensor<163840x7168xbf16>) -> tensor<?x?x7168xbf16>
  return %0 : tensor<?x?x7168xbf16>
}

// CHECK-LABEL: func.func @gather_rows
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x7168xbf16>, %[[ROWS:.*]]: tensor<?xi32>)
func.func @gather_rows(%x: tensor<?x?x7168xbf16>, %rows: tensor<?xi32>)
    -> tensor<?x7168xbf16> {
  // CHECK: transformer.gather_rows %[[X]], %[[ROWS]] : (tensor<?x?x7168xbf16>, tensor<?xi32>) -> tensor<?x7168xbf16>
  %0 = transformer.gather_rows %x, %rows
    : (tensor<?x?x7168xbf16>, tensor<?xi32>) -> tensor<?x7168xbf16>
  return %0 : tensor<?x7168xbf16>
}

// CHECK-LABEL: func.func @tap
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x7168xbf16>, %[[INDICES:.*]]: tensor<?x?x8xi32>)
func.func @tap(%x: tensor<?x?x7168xbf16>, %indices: tensor<?x?x8xi32>) {
  // CHECK: transformer.tap %[[X]] "embeddings" : tensor<?x?x7168xbf16>
  transformer.tap %x "embeddings" : tensor<?x?x7168xbf16>
  // CHECK: transformer.layers
  %0 = transformer.layers [0, 2) init(%x) : tensor<?x?x7168xbf16> {
  // CHECK: ^bb0(%[[LAYER:.*]]: index, %{{.*}}: tensor<?x?x7168xbf16>):
  ^bb0(%layer: index, %y: tensor<?x?x7168xbf16>):
    // CHECK: transformer.tap %[[INDICES]] "layers.{layer}.router_indices" layer %[[LAYER]] : tensor<?x?x8xi32>
    transformer.tap %indices "layers.{layer}.router_indices" layer %layer
      : tensor<?x?x8xi32>
    transformer.yield %y : tensor<?x?x7168xbf16>
  }
  return
}

//===----------------------------------------------------------------------===//
// Elementwise and rows
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x7168xbf16>, %[[GAIN:.*]]: tensor<7168xf32>)
func.func @rms_norm(%x: tensor<?x?x7168xbf16>, %gain: tensor<7168xf32>)
    -> tensor<?x?x7168xbf16> {
  // CHECK: transformer.rms_norm %[[X]], %[[GAIN]] eps 1.000000e-05 : tensor<?x?x7168xbf16>, tensor<7168xf32>
  %0 = transformer.rms_norm %x, %gain eps 1.0e-5
    : tensor<?x?x7168xbf16>, tensor<7168xf32>
  return %0 : tensor<?x?x7168xbf16>
}

// CHECK-LABEL: func.func @swiglu
// CHECK-SAME: (%[[GATE:.*]]: tensor<?x2048xbf16>, %[[UP:.*]]: tensor<?x2048xbf16>)
func.func @swiglu(%gate: tensor<?x2048xbf16>, %up: tensor<?x2048xbf16>)
    -> tensor<?x2048xbf16> {
  // CHECK: transformer.swiglu %[[GATE]], %[[UP]] : tensor<?x2048xbf16>
  %0 = transformer.swiglu %gate, %up : tensor<?x2048xbf16>
  return %0 : tensor<?x2048xbf16>
}

// CHECK-LABEL: func.func @add
// CHECK-SAME: (%[[A:.*]]: tensor<?x?x7168xf32>, %[[B:.*]]: tensor<?x?x7168xf32>)
func.func @add(%a: tensor<?x?x7168xf32>, %b: tensor<?x?x7168xf32>)
    -> tensor<?x?x7168xf32> {
  // CHECK: transformer.add %[[A]], %[[B]] : tensor<?x?x7168xf32>
  %0 = transformer.add %a, %b : tensor<?x?x7168xf32>
  return %0 : tensor<?x?x7168xf32>
}

// CHECK-LABEL: func.func @split
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x64x192xbf16>)
func.func @split(%x: tensor<?x?x64x192xbf16>)
    -> (tensor<?x?x64x128xbf16>, tensor<?x?x64x64xbf16>) {
  // CHECK: transformer.split %[[X]] [128, 64] : tensor<?x?x64x192xbf16> -> tensor<?x?x64x128xbf16>, tensor<?x?x64x64xbf16>
  %0:2 = transformer.split %x [128, 64]
    : tensor<?x?x64x192xbf16> -> tensor<?x?x64x128xbf16>, tensor<?x?x64x64xbf16>
  return %0#0, %0#1 : tensor<?x?x64x128xbf16>, tensor<?x?x64x64xbf16>
}

// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x12288xbf16>, %[[Y:.*]]: tensor<?x?x64x128xbf16>)
func.func @heads(%x: tensor<?x?x12288xbf16>, %y: tensor<?x?x64x128xbf16>) {
  // CHECK: transformer.split_heads %[[X]] : tensor<?x?x12288xbf16> -> tensor<?x?x64x192xbf16>
  %0 = transformer.split_heads %x
    : tensor<?x?x12288xbf16> -> tensor<?x?x64x192xbf16>
  // CHECK: transformer.merge_heads %[[Y]] : tensor<?x?x64x128xbf16> -> tensor<?x?x8192xbf16>
  %1 = transformer.merge_heads %y
    : tensor<?x?x64x128xbf16> -> tensor<?x?x8192xbf16>
  return
}

//===----------------------------------------------------------------------===//
// Linear layers
//===----------------------------------------------------------------------===//

!w = !transformer.block_scaled<1536x7168, f8E4M3FN, f32, [128, 128]>
!q = !transformer.block_scaled<?x?x7168, f8E4M3FN, f32, [1, 1, 128]>

// CHECK-LABEL: func.func @quantize
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x7168xbf16>)
func.func @quantize(%x: tensor<?x?x7168xbf16>) -> !q {
  // CHECK: transformer.quantize %[[X]] : tensor<?x?x7168xbf16> -> <?x?x7168, f8E4M3FN, f32, [1, 1, 128]>
  %0 = transformer.quantize %x : tensor<?x?x7168xbf16> -> !q
  return %0 : !q
}

// Weight only, FP8 by FP8, and a plain weight with f32 results.
// CHECK-LABEL: func.func @linear
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x7168xbf16>, %[[Q:.*]]: !transformer.block_scaled<{{.*}}>, %[[W:.*]]: !transformer.block_scaled<{{.*}}>, %[[GATE:.*]]: tensor<384x7168xbf16>)
func.func @linear(%x: tensor<?x?x7168xbf16>, %q: !q, %w: !w,
                  %gate: tensor<384x7168xbf16>) {
  // CHECK: transformer.linear %[[X]], %[[W]] : (tensor<?x?x7168xbf16>, !transformer.block_scaled<1536x7168, f8E4M3FN, f32, [128, 128]>) -> tensor<?x?x1536xbf16>
  %0 = transformer.linear %x, %w
    : (tensor<?x?x7168xbf16>, !w) -> tensor<?x?x1536xbf16>
  // CHECK: transformer.linear %[[Q]], %[[W]] : (!transformer.block_scaled<?x?x7168, f8E4M3FN, f32, [1, 1, 128]>, !transformer.block_scaled<1536x7168, f8E4M3FN, f32, [128, 128]>) -> tensor<?x?x1536xbf16>
  %1 = transformer.linear %q, %w : (!q, !w) -> tensor<?x?x1536xbf16>
  // CHECK: transformer.linear %[[X]], %[[GATE]] : (tensor<?x?x7168xbf16>, tensor<384x7168xbf16>) -> tensor<?x?x384xf32>
  %2 = transformer.linear %x, %gate
    : (tensor<?x?x7168xbf16>, tensor<384x7168xbf16>) -> tensor<?x?x384xf32>
  return
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

!cache = !transformer.latent_cache<layers = 61, kv_lora_rank = 512, rope = 64, bf16>
!kv_b = !transformer.block_scaled<16384x512, f8E4M3FN, f32, [128, 128]>

// CHECK-LABEL: func.func @rope_table
// CHECK-SAME: (%[[POSITIONS:.*]]: tensor<?x?xi32>)
func.func @rope_table(%positions: tensor<?x?xi32>)
    -> (tensor<?x?x32xf32>, tensor<?x?x32xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = transformer.rope_table %[[POSITIONS]] <theta = 5.000000e+04 : f64, dim = 64> : tensor<?x?xi32>
  %cos, %sin = transformer.rope_table %positions
    <theta = 5.0e+04 : f64, dim = 64> : tensor<?x?xi32>
  return %cos, %sin : tensor<?x?x32xf32>, tensor<?x?x32xf32>
}

// CHECK-LABEL: func.func @rope
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x64x64xbf16>, %[[K:.*]]: tensor<?x?x64xbf16>, %[[COS:.*]]: tensor<?x?x32xf32>, %[[SIN:.*]]: tensor<?x?x32xf32>)
func.func @rope(%q: tensor<?x?x64x64xbf16>, %k: tensor<?x?x64xbf16>,
                %cos: tensor<?x?x32xf32>, %sin: tensor<?x?x32xf32>) {
  // CHECK: transformer.rope %[[Q]], %[[COS]], %[[SIN]] interleaved : tensor<?x?x64x64xbf16>, tensor<?x?x32xf32>
  %0 = transformer.rope %q, %cos, %sin interleaved
    : tensor<?x?x64x64xbf16>, tensor<?x?x32xf32>
  // CHECK: transformer.rope %[[K]], %[[COS]], %[[SIN]] : tensor<?x?x64xbf16>, tensor<?x?x32xf32>
  %1 = transformer.rope %k, %cos, %sin
    : tensor<?x?x64xbf16>, tensor<?x?x32xf32>
  return
}

// CHECK-LABEL: func.func @cache_update
// CHECK-SAME: (%[[C:.*]]: !transformer.latent_cache<{{.*}}>, %[[LAYER:.*]]: index, %[[LATENT:.*]]: tensor<?x?x512xbf16>, %[[K:.*]]: tensor<?x?x64xbf16>, %[[POSITIONS:.*]]: tensor<?x?xi32>)
func.func @cache_update(%c: !cache, %layer: index, %latent: tensor<?x?x512xbf16>,
                        %k_rope: tensor<?x?x64xbf16>,
                        %positions: tensor<?x?xi32>) -> !cache {
  // CHECK: transformer.cache_update %[[C]], %[[LAYER]], %[[LATENT]], %[[K]], %[[POSITIONS]] : <layers = 61, kv_lora_rank = 512, rope = 64, bf16>, tensor<?x?x512xbf16>, tensor<?x?x64xbf16>, tensor<?x?xi32>
  %0 = transformer.cache_update %c, %layer, %latent, %k_rope, %positions
    : <layers = 61, kv_lora_rank = 512, rope = 64, bf16>,
      tensor<?x?x512xbf16>, tensor<?x?x64xbf16>, tensor<?x?xi32>
  return %0 : !cache
}

// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[QN:.*]]: tensor<?x?x64x128xbf16>, %[[QR:.*]]: tensor<?x?x64x64xbf16>, %[[C:.*]]: !transformer.latent_cache<{{.*}}>, %[[LAYER:.*]]: index, %[[KV_B:.*]]: !transformer.block_scaled<{{.*}}>, %[[PLAIN:.*]]: tensor<16384x512xbf16>, %[[POSITIONS:.*]]: tensor<?x?xi32>)
func.func @attention(%qn: tensor<?x?x64x128xbf16>, %qr: tensor<?x?x64x64xbf16>,
                     %c: !cache, %layer: index, %kv_b: !kv_b,
                     %plain: tensor<16384x512xbf16>,
                     %positions: tensor<?x?xi32>) {
  // CHECK: transformer.attention %[[QN]], %[[QR]], %[[C]], %[[LAYER]], %[[PLAIN]], %[[POSITIONS]] scale 1.250000e-01 : (tensor<?x?x64x128xbf16>, tensor<?x?x64x64xbf16>, !transformer.latent_cache<layers = 61, kv_lora_rank = 512, rope = 64, bf16>, index, tensor<16384x512xbf16>, tensor<?x?xi32>) -> tensor<?x?x64x128xbf16>
  %0 = transformer.attention %qn, %qr, %c, %layer, %plain, %positions scale 0.125
    : (tensor<?x?x64x128xbf16>, tensor<?x?x64x64xbf16>, !cache, index,
       tensor<16384x512xbf16>, tensor<?x?xi32>) -> tensor<?x?x64x128xbf16>
  // CHECK: transformer.attention %[[QN]], %[[QR]], %[[C]], %[[LAYER]], %[[KV_B]], %[[POSITIONS]] scale 1.250000e-01 quantize_latent :
  %1 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %positions scale 0.125
    quantize_latent
    : (tensor<?x?x64x128xbf16>, tensor<?x?x64x64xbf16>, !cache, index,
       !kv_b, tensor<?x?xi32>) -> tensor<?x?x64x128xbf16>
  return
}

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @route
// CHECK-SAME: (%[[LOGITS:.*]]: tensor<?x?x256xf32>, %[[BIAS:.*]]: tensor<256xf32>)
func.func @route(%logits: tensor<?x?x256xf32>, %bias: tensor<256xf32>) {
  // CHECK: transformer.route %[[LOGITS]] bias %[[BIAS]] scoring sigmoid method noaux_tc top_k 8 n_group 8 topk_group 4 normalize routed_scaling_factor 2.500000e+00 : tensor<?x?x256xf32>, tensor<256xf32>
  %0, %1 = transformer.route %logits bias %bias scoring sigmoid method noaux_tc
    top_k 8 n_group 8 topk_group 4 normalize routed_scaling_factor 2.5
    : tensor<?x?x256xf32>, tensor<256xf32>
  // CHECK: transformer.route %[[LOGITS]] scoring softmax method group_limited_greedy top_k 6 n_group 8 topk_group 3 routed_scaling_factor 1.600000e+01 : tensor<?x?x256xf32>
  %2, %3 = transformer.route %logits scoring softmax method group_limited_greedy
    top_k 6 n_group 8 topk_group 3 routed_scaling_factor 16.0
    : tensor<?x?x256xf32>
  // CHECK: transformer.route %[[LOGITS]] scoring softmax method greedy top_k 6 n_group 1 topk_group 1 routed_scaling_factor 1.000000e+00 : tensor<?x?x256xf32>
  %4, %5 = transformer.route %logits scoring softmax method greedy
    top_k 6 n_group 1 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x256xf32>
  return
}

// CHECK-LABEL: func.func @experts
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x7168xbf16>, %[[I:.*]]: tensor<?x?x8xi32>, %[[W:.*]]: tensor<?x?x8xf32>)
func.func @experts(%x: tensor<?x?x7168xbf16>, %i: tensor<?x?x8xi32>,
                   %w: tensor<?x?x8xf32>) -> tensor<?x?x7168xbf16> {
  // CHECK: transformer.experts %[[X]], %[[I]], %[[W]] experts 384 : tensor<?x?x7168xbf16>, tensor<?x?x8xi32>, tensor<?x?x8xf32> {
  %0 = transformer.experts %x, %i, %w experts 384
    : tensor<?x?x7168xbf16>, tensor<?x?x8xi32>, tensor<?x?x8xf32> {
  // CHECK-NEXT: ^bb0(%[[ROWS:.*]]: tensor<?x7168xbf16>, %{{.*}}: index):
  ^bb0(%rows: tensor<?x7168xbf16>, %expert: index):
    // CHECK-NEXT: transformer.yield %[[ROWS]] : tensor<?x7168xbf16>
    transformer.yield %rows : tensor<?x7168xbf16>
  // CHECK-NEXT: } {note = "kept"}
  } {note = "kept"}
  return %0 : tensor<?x?x7168xbf16>
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @layers
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x7168xbf16>, %[[C:.*]]: !transformer.latent_cache<{{.*}}>)
func.func @layers(%x: tensor<?x?x7168xbf16>, %c: !cache)
    -> (tensor<?x?x7168xbf16>, !cache) {
  // CHECK: %[[R:.*]]:2 = transformer.layers [1, 61) init(%[[X]], %[[C]]) : tensor<?x?x7168xbf16>, !transformer.latent_cache<layers = 61, kv_lora_rank = 512, rope = 64, bf16>
  %0:2 = transformer.layers [1, 61) init(%x, %c) : tensor<?x?x7168xbf16>, !cache {
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %[[Y:.*]]: tensor<?x?x7168xbf16>, %[[D:.*]]: !transformer.latent_cache<{{.*}}>):
  ^bb0(%layer: index, %y: tensor<?x?x7168xbf16>, %d: !cache):
    // CHECK-NEXT: transformer.yield %[[Y]], %[[D]] : tensor<?x?x7168xbf16>, !transformer.latent_cache<layers = 61, kv_lora_rank = 512, rope = 64, bf16>
    transformer.yield %y, %d : tensor<?x?x7168xbf16>, !cache
  }
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %0#0, %0#1 : tensor<?x?x7168xbf16>, !cache
}
