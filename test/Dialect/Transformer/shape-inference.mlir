// Ops whose result types follow from their operands and attributes: what is
// inferred, and what the generic form may not claim instead.
// RUN: moec-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | FileCheck %s

// cos and sin have a value for each pair of the rotated dimensions.
// CHECK-LABEL: sym_name = "rope_table"
// CHECK: "transformer.rope_table"(%{{.*}}) <{rope = #transformer.rope<theta = 1.000000e+04 : f64, dim = 64>}> : (tensor<?x?xi32>) -> (tensor<?x?x32xf32>, tensor<?x?x32xf32>)
func.func @rope_table(%positions: tensor<?x?xi32>) {
  %cos, %sin = transformer.rope_table %positions
    <theta = 1.0e+04 : f64, dim = 64> : tensor<?x?xi32>
  return
}

// -----

// Static B and T stay.
// CHECK-LABEL: sym_name = "rope_table_of_one_token"
// CHECK: (tensor<1x1xi32>) -> (tensor<1x1x8xf32>, tensor<1x1x8xf32>)
func.func @rope_table_of_one_token(%positions: tensor<1x1xi32>) {
  %cos, %sin = transformer.rope_table %positions
    <theta = 1.0e+04 : f64, dim = 16> : tensor<1x1xi32>
  return
}

// -----

func.func @rope_table_of_another_size(%positions: tensor<?x?xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'transformer.rope_table' op inferred type(s) 'tensor<?x?x32xf32>', 'tensor<?x?x32xf32>' are incompatible with return type(s) of operation 'tensor<?x?x64xf32>', 'tensor<?x?x32xf32>'}}
  %0:2 = "transformer.rope_table"(%positions)
    <{rope = #transformer.rope<theta = 1.0e+04 : f64, dim = 64>}>
    : (tensor<?x?xi32>) -> (tensor<?x?x64xf32>, tensor<?x?x32xf32>)
  return
}

// -----

// The last dimension of the logits, the experts, becomes top_k.
// CHECK-LABEL: sym_name = "route"
// CHECK: "transformer.route"(%{{.*}}, %{{.*}}) <{{{.*}}top_k = 8 : i64{{.*}}}> : (tensor<?x?x256xf32>, tensor<256xf32>) -> (tensor<?x?x8xi32>, tensor<?x?x8xf32>)
func.func @route(%logits: tensor<?x?x256xf32>, %bias: tensor<256xf32>) {
  %i, %w = transformer.route %logits bias %bias scoring sigmoid method noaux_tc
    top_k 8 n_group 8 topk_group 4 normalize routed_scaling_factor 2.5
    : tensor<?x?x256xf32>, tensor<256xf32>
  return
}

// -----

// CHECK-LABEL: sym_name = "route_few_tokens"
// CHECK: (tensor<2x3x64xf32>) -> (tensor<2x3x6xi32>, tensor<2x3x6xf32>)
func.func @route_few_tokens(%logits: tensor<2x3x64xf32>) {
  %i, %w = transformer.route %logits scoring softmax method greedy top_k 6
    n_group 1 topk_group 1 routed_scaling_factor 1.0 : tensor<2x3x64xf32>
  return
}

// -----

func.func @route_of_another_top_k(%logits: tensor<?x?x64xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'transformer.route' op inferred type(s) 'tensor<?x?x6xi32>', 'tensor<?x?x6xf32>' are incompatible with return type(s) of operation 'tensor<?x?x8xi32>', 'tensor<?x?x8xf32>'}}
  %0:2 = "transformer.route"(%logits)
    <{scoring = #transformer<scoring softmax>,
      method = #transformer<method greedy>, top_k = 6 : i64, n_group = 1 : i64,
      topk_group = 1 : i64, routed_scaling_factor = 1.0 : f64}>
    : (tensor<?x?x64xf32>) -> (tensor<?x?x8xi32>, tensor<?x?x8xf32>)
  return
}

// -----

// Elementwise ops have the type of their first operand.
// CHECK-LABEL: sym_name = "elementwise"
// CHECK: "transformer.rms_norm"{{.*}} : (tensor<?x?x192xbf16>, tensor<192xf32>) -> tensor<?x?x192xbf16>
// CHECK: "transformer.swiglu"{{.*}} : (tensor<?x?x192xbf16>, tensor<?x?x192xbf16>) -> tensor<?x?x192xbf16>
// CHECK: "transformer.add"{{.*}} : (tensor<?x?x192xbf16>, tensor<?x?x192xbf16>) -> tensor<?x?x192xbf16>
func.func @elementwise(%x: tensor<?x?x192xbf16>, %gain: tensor<192xf32>) {
  %0 = transformer.rms_norm %x, %gain eps 1.0e-6
    : tensor<?x?x192xbf16>, tensor<192xf32>
  %1 = transformer.swiglu %0, %x : tensor<?x?x192xbf16>
  %2 = transformer.add %1, %x : tensor<?x?x192xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>

// A layer range returns what it carries; a cache update returns the cache.
// CHECK-LABEL: sym_name = "structure"
// CHECK: "transformer.layers"
// CHECK: "transformer.cache_update"{{.*}} -> !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
// CHECK: }) : (tensor<?x?x136xbf16>, !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>) -> (tensor<?x?x136xbf16>, !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>)
func.func @structure(%x: tensor<?x?x136xbf16>, %c: !cache,
                     %k_rope: tensor<?x?x16xbf16>,
                     %positions: tensor<?x?xi32>) {
  %0:2 = transformer.layers [0, 3) init(%x, %c) : tensor<?x?x136xbf16>, !cache {
  ^bb0(%layer: index, %y: tensor<?x?x136xbf16>, %d: !cache):
    %1 = transformer.cache_update %d, %layer, %y, %k_rope, %positions
      : !cache, tensor<?x?x136xbf16>, tensor<?x?x16xbf16>, tensor<?x?xi32>
    transformer.yield %y, %1 : tensor<?x?x136xbf16>, !cache
  }
  return
}
