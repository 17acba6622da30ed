// RUN: moec-opt %s --split-input-file --verify-diagnostics

// Ranks, ranges and numbers that invalid.mlir and invalid-hostile.mlir leave out.

// expected-error @below {{'transformer.parameter' op expects a static shape, found 'tensor<f32>'}}
transformer.parameter @w "w" : tensor<f32>

// -----

// expected-note @below {{the parameter is here}}
transformer.parameter @w "experts.{expert}.w" experts 4 : tensor<8x8xbf16>
func.func @more_experts_than_the_parameter(%x: tensor<?x?x8xbf16>, %i: tensor<?x?x2xi32>, %weights: tensor<?x?x2xf32>) {
  %0 = transformer.experts %x, %i, %weights experts 5 : tensor<?x?x8xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32> {
  ^bb0(%rows: tensor<?x8xbf16>, %expert: index):
    // expected-error @below {{'transformer.weight' op expects the experts (5) to be the parameter's}}
    %w = transformer.weight @w expert %expert : tensor<8x8xbf16>
    %y = transformer.linear %rows, %w : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    transformer.yield %y : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @tap_of_an_expert(%x: tensor<?x?x8xbf16>, %i: tensor<?x?x2xi32>, %weights: tensor<?x?x2xf32>) {
  %0 = transformer.experts %x, %i, %weights experts 4 : tensor<?x?x8xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32> {
  ^bb0(%rows: tensor<?x8xbf16>, %expert: index):
    // expected-error @below {{'transformer.tap' op cannot stand in transformer.experts, whose rows are no tokens of the batch}}
    transformer.tap %rows "rows" : tensor<?x8xbf16>
    transformer.yield %rows : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @experts_of_rows(%x: tensor<?x8xbf16>, %i: tensor<?x?x2xi32>, %weights: tensor<?x?x2xf32>) {
  // expected-error @below {{'transformer.experts' op expects x [B, T, H], found 'tensor<?x8xbf16>'}}
  %0 = transformer.experts %x, %i, %weights experts 4 : tensor<?x8xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32> {
  ^bb0(%rows: tensor<?x8xbf16>, %expert: index):
    transformer.yield %rows : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @experts_by_flat_indices(%x: tensor<?x?x8xbf16>, %i: tensor<?x2xi32>, %weights: tensor<?x2xf32>) {
  // expected-error @below {{'transformer.experts' op expects indices [B, T, K], found 'tensor<?x2xi32>'}}
  %0 = transformer.experts %x, %i, %weights experts 4 : tensor<?x?x8xbf16>, tensor<?x2xi32>, tensor<?x2xf32> {
  ^bb0(%rows: tensor<?x8xbf16>, %expert: index):
    transformer.yield %rows : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @experts_of_other_tokens(%x: tensor<2x3x8xbf16>, %i: tensor<2x4x2xi32>, %weights: tensor<2x4x2xf32>) {
  // expected-error @below {{'transformer.experts' op expects equal dimensions before the last, found 'tensor<2x3x8xbf16>' and 'tensor<2x4x2xi32>'}}
  %0 = transformer.experts %x, %i, %weights experts 4 : tensor<2x3x8xbf16>, tensor<2x4x2xi32>, tensor<2x4x2xf32> {
  ^bb0(%rows: tensor<?x8xbf16>, %expert: index):
    transformer.yield %rows : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @split_into_a_scalar(%x: tensor<?x8xbf16>) {
  // expected-error @below {{'transformer.split' op expects tensors with a last dimension, found 'tensor<?x8xbf16>' and 'tensor<bf16>'}}
  %0 = transformer.split %x [8] : tensor<?x8xbf16> -> tensor<bf16>
  return
}

// -----

func.func @quantize_a_row(%x: tensor<?xbf16>) {
  // expected-error @below {{'transformer.quantize' op expects x of rank 2 to 3, found 'tensor<?xbf16>'}}
  %0 = transformer.quantize %x : tensor<?xbf16> -> !transformer.block_scaled<?x8, f8E4M3FN, f32, [1, 8]>
  return
}

// -----

func.func @infinite_factor(%logits: tensor<?x?x8xf32>) {
  // expected-error @below {{'transformer.route' op expects a finite routed_scaling_factor, found INF}}
  %i, %w = transformer.route %logits scoring softmax method greedy top_k 2 n_group 1 topk_group 1
    routed_scaling_factor 0x7FF0000000000000 : tensor<?x?x8xf32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 1, kv_lora_rank = 8, rope = 4, bf16>
func.func @scale_of_nan(%q_nope: tensor<?x?x4x6xbf16>, %q_rope: tensor<?x?x4x4xbf16>, %c: !cache, %layer: index,
                        %kv_b: tensor<48x8xbf16>, %positions: tensor<?x?xi32>) {
  // expected-error @below {{'transformer.attention' op expects a finite scale, found nan}}
  %0 = transformer.attention %q_nope, %q_rope, %c, %layer, %kv_b, %positions scale 0x7FF8000000000000
    : (tensor<?x?x4x6xbf16>, tensor<?x?x4x4xbf16>, !cache, index, tensor<48x8xbf16>, tensor<?x?xi32>) -> tensor<?x?x4x6xbf16>
  return
}

// -----

// expected-error @below {{expects theta above 1, found INF}}
#rope = #transformer.rope<theta = 0x7FF0000000000000 : f64, dim = 64>

// -----

// expected-error @+2 {{expects finite numbers, found 0x7FF8000000000000 : f64}}
// expected-error @+1 {{failed to parse Transformer_RopeAttr parameter 'yarn'}}
#rope = #transformer.rope<theta = 1.0e+04 : f64, dim = 64, yarn = <factor = 2.0 : f64, beta_fast = 32.0 : f64, beta_slow = 1.0 : f64, mscale = 0x7FF8000000000000 : f64, mscale_all_dim = 1.0 : f64, original_max_position_embeddings = 4096>>

// -----

// expected-error @+2 {{expects original_max_position_embeddings >= 1, found 0}}
// expected-error @+1 {{failed to parse Transformer_RopeAttr parameter 'yarn'}}
#rope = #transformer.rope<theta = 1.0e+04 : f64, dim = 64, yarn = <factor = 2.0 : f64, beta_fast = 32.0 : f64, beta_slow = 1.0 : f64, mscale = 1.0 : f64, mscale_all_dim = 1.0 : f64, original_max_position_embeddings = 0>>

// -----

// expected-error @below {{'transformer.parameter' op expects at most 2147483648 experts, found 4294967296}}
transformer.parameter @w "experts.{expert}.w" experts 4294967296 : tensor<4xf32>

// -----

// expected-error @below {{'transformer.parameter' op expects a layer range that ends at 2147483648 or before, found [0, 4294967296)}}
transformer.parameter @w "layers.{layer}.w" layers [0, 4294967296) : tensor<4xf32>

// -----

// Types are inferred before the verifier runs: the rank is checked there too.
func.func @route_a_scalar(%logits: tensor<f32>) {
  // expected-error @below {{'transformer.route' op expects logits of rank 2 to 3, found 'tensor<f32>'}}
  %i, %w = transformer.route %logits scoring softmax method greedy top_k 4294967295 n_group 1 topk_group 1
    routed_scaling_factor 1.0 : tensor<f32>
  return
}

// -----

func.func @embedding_of_other_tokens(%ids: tensor<2x3xi32>, %table: tensor<9x8xbf16>) {
  // expected-error @below {{'transformer.embedding' op expects the result and ids to agree in the first 2 dimensions, found 'tensor<5x7x8xbf16>' and 'tensor<2x3xi32>'}}
  %0 = transformer.embedding %ids, %table : (tensor<2x3xi32>, tensor<9x8xbf16>) -> tensor<5x7x8xbf16>
  return
}

// -----

func.func @gather_more_rows(%x: tensor<?x?x8xbf16>, %rows: tensor<3xi32>) {
  // expected-error @below {{'transformer.gather_rows' op expects the result and rows to agree in the first 1 dimensions, found 'tensor<5x8xbf16>' and 'tensor<3xi32>'}}
  %0 = transformer.gather_rows %x, %rows : (tensor<?x?x8xbf16>, tensor<3xi32>) -> tensor<5x8xbf16>
  return
}

// -----

func.func @gather_as_f32(%x: tensor<?x?x8xbf16>, %rows: tensor<?xi32>) {
  // expected-error @below {{'transformer.gather_rows' op expects a result of 'bf16', found 'tensor<?x8xf32>'}}
  %0 = transformer.gather_rows %x, %rows : (tensor<?x?x8xbf16>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rope_of_other_tokens(%x: tensor<2x3x16xf32>, %cos: tensor<5x7x8xf32>) {
  // expected-error @below {{'transformer.rope' op expects x and cos to agree in the first 2 dimensions, found 'tensor<2x3x16xf32>' and 'tensor<5x7x8xf32>'}}
  %0 = transformer.rope %x, %cos, %cos interleaved : tensor<2x3x16xf32>, tensor<5x7x8xf32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 1, kv_lora_rank = 8, rope = 4, bf16>
func.func @update_at_one_position(%c: !cache, %layer: index, %latent: tensor<?x?x8xbf16>, %k_rope: tensor<?x?x4xbf16>, %positions: tensor<i32>) {
  // expected-error @below {{'transformer.cache_update' op expects positions [B, T], found 'tensor<i32>'}}
  %0 = transformer.cache_update %c, %layer, %latent, %k_rope, %positions
    : !cache, tensor<?x?x8xbf16>, tensor<?x?x4xbf16>, tensor<i32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 1, kv_lora_rank = 8, rope = 4, bf16>
func.func @update_of_other_tokens(%c: !cache, %layer: index, %latent: tensor<2x3x8xbf16>, %k_rope: tensor<2x4x4xbf16>, %positions: tensor<2x3xi32>) {
  // expected-error @below {{'transformer.cache_update' op expects k_rope and latent to agree in the first 2 dimensions, found 'tensor<2x4x4xbf16>' and 'tensor<2x3x8xbf16>'}}
  %0 = transformer.cache_update %c, %layer, %latent, %k_rope, %positions
    : !cache, tensor<2x3x8xbf16>, tensor<2x4x4xbf16>, tensor<2x3xi32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 1, kv_lora_rank = 8, rope = 4, bf16>
func.func @unknown_heads(%q_nope: tensor<?x?x?x?xbf16>, %q_rope: tensor<?x?x?x4xbf16>, %c: !cache, %layer: index,
                         %kv_b: tensor<48x8xbf16>, %positions: tensor<?x?xi32>) {
  // expected-error @below {{'transformer.attention' op expects static sizes of heads, found 'tensor<?x?x?x?xbf16>' and 'tensor<?x?x?x?xbf16>'}}
  %0 = transformer.attention %q_nope, %q_rope, %c, %layer, %kv_b, %positions scale 1.0
    : (tensor<?x?x?x?xbf16>, tensor<?x?x?x4xbf16>, !cache, index, tensor<48x8xbf16>, tensor<?x?xi32>) -> tensor<?x?x?x?xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 1, kv_lora_rank = 8, rope = 4, bf16>
func.func @attention_of_other_tokens(%q_nope: tensor<2x3x4x6xbf16>, %q_rope: tensor<2x5x4x4xbf16>, %c: !cache, %layer: index,
                                     %kv_b: tensor<48x8xbf16>, %positions: tensor<2x3xi32>) {
  // expected-error @below {{'transformer.attention' op expects q_rope and q_nope to agree in the first 2 dimensions, found 'tensor<2x5x4x4xbf16>' and 'tensor<2x3x4x6xbf16>'}}
  %0 = transformer.attention %q_nope, %q_rope, %c, %layer, %kv_b, %positions scale 1.0
    : (tensor<2x3x4x6xbf16>, tensor<2x5x4x4xbf16>, !cache, index, tensor<48x8xbf16>, tensor<2x3xi32>) -> tensor<2x3x4x6xbf16>
  return
}

// -----

// expected-error @below {{expects theta of f64, found 1.000000e+04 : f32}}
#rope = #transformer.rope<theta = 1.0e+04 : f32, dim = 64>

// -----

// expected-error @+2 {{expects numbers of f64, found 2.000000e+00 : f32}}
// expected-error @+1 {{failed to parse Transformer_RopeAttr parameter 'yarn'}}
#rope = #transformer.rope<theta = 1.0e+04 : f64, dim = 64, yarn = <factor = 2.0 : f32, beta_fast = 32.0 : f64, beta_slow = 1.0 : f64, mscale = 1.0 : f64, mscale_all_dim = 1.0 : f64, original_max_position_embeddings = 4096>>
