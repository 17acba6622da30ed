// RUN: moec-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// IR that nobody writes by hand, but that a reader must survive: no rank, sizes
// that overflow, numbers that are none, ranges that reach beyond what they index.

func.func @norm_of_a_scalar(%x: tensor<f32>, %gain: tensor<4xf32>) {
  // expected-error @below {{expects x of rank 2 to 3, found 'tensor<f32>'}}
  %0 = transformer.rms_norm %x, %gain eps 1.0e-6 : tensor<f32>, tensor<4xf32>
  return
}

// -----

func.func @norm_of_unknown_size(%x: tensor<?x?xf32>, %gain: tensor<4xf32>) {
  // expected-error @below {{expects a static last size of x, found 'tensor<?x?xf32>'}}
  %0 = transformer.rms_norm %x, %gain eps 1.0e-6 : tensor<?x?xf32>, tensor<4xf32>
  return
}

// -----

func.func @infinite_eps(%x: tensor<?x4xf32>, %gain: tensor<4xf32>) {
  // expected-error @below {{expects a finite eps, found}}
  %0 = transformer.rms_norm %x, %gain eps 0x7FF0000000000000 : tensor<?x4xf32>, tensor<4xf32>
  return
}

// -----

func.func @linear_of_a_scalar(%x: tensor<f32>, %w: tensor<4x4xf32>) {
  // expected-error @below {{expects x of rank 2 to 3, found 'tensor<f32>'}}
  %0 = transformer.linear %x, %w : (tensor<f32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @route_of_a_scalar(%x: tensor<f32>) {
  // expected-error @below {{expects logits of rank 2 to 3, found}}
  "transformer.route"(%x) {scoring = #transformer<scoring sigmoid>, method = #transformer<method greedy>, top_k = 1 : i64, n_group = 1 : i64, topk_group = 1 : i64, routed_scaling_factor = 1.0 : f64} : (tensor<f32>) -> (tensor<i32>, tensor<f32>)
  return
}

// -----

func.func @split_that_overflows(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects sizes whose sum fits 64 bits}}
  %0:3 = transformer.split %x [9223372036854775807, 9223372036854775807, 6] : tensor<?x4xf32> -> tensor<?x9223372036854775807xf32>, tensor<?x9223372036854775807xf32>, tensor<?x6xf32>
  return
}

// -----

func.func @heads_that_overflow(%x: tensor<?x?x4xf32>) {
  // expected-error @below {{expects static sizes of heads, found}}
  %0 = transformer.split_heads %x : tensor<?x?x4xf32> -> tensor<?x?x4294967296x4294967296xf32>
  return
}

// -----

// expected-error @below {{expects a layer range that is not empty, found [-5, 3)}}
transformer.parameter @p "l.{layer}.w" layers [-5, 3) : tensor<4xf32>

// -----

// expected-error @below {{expects a static shape, found 'tensor<0x4xf32>'}}
transformer.parameter @p "w" : tensor<0x4xf32>

// -----

// expected-note @below {{the parameter is here}}
transformer.parameter @p "l.{layer}.w" layers [0, 3) widened : tensor<4xf32>
func.func @layers_beyond_the_parameter(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %0 = transformer.layers [0, 9) init(%x) : tensor<?x?x4xf32> {
  ^bb0(%layer: index, %h: tensor<?x?x4xf32>):
    // expected-error @below {{expects the layers [0, 9) to be in the parameter's range}}
    %gain = transformer.weight @p layer %layer : tensor<4xf32>
    %y = transformer.rms_norm %h, %gain eps 1.0e-6 : tensor<?x?x4xf32>, tensor<4xf32>
    transformer.yield %y : tensor<?x?x4xf32>
  }
  return %0 : tensor<?x?x4xf32>
}

// -----

func.func @layers_beyond_the_cache(%l: tensor<?x?x4xf32>, %k: tensor<?x?x2xf32>, %p: tensor<?x?xi32>, %c: !transformer.latent_cache<layers = 1, kv_lora_rank = 4, rope = 2, f32>) {
  %0 = transformer.layers [0, 2) init(%c) : !transformer.latent_cache<layers = 1, kv_lora_rank = 4, rope = 2, f32> {
  ^bb0(%layer: index, %cache: !transformer.latent_cache<layers = 1, kv_lora_rank = 4, rope = 2, f32>):
    // expected-error @below {{expects the layers' end (2) <= the cache's layers (1)}}
    %u = transformer.cache_update %cache, %layer, %l, %k, %p : !transformer.latent_cache<layers = 1, kv_lora_rank = 4, rope = 2, f32>, tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<?x?xi32>
    transformer.yield %u : !transformer.latent_cache<layers = 1, kv_lora_rank = 4, rope = 2, f32>
  }
  return
}

// -----

func.func @layers_in_layers(%x: tensor<?x?x4xf32>) {
  %0 = transformer.layers [0, 2) init(%x) : tensor<?x?x4xf32> {
  ^bb0(%layer: index, %h: tensor<?x?x4xf32>):
    // expected-error @below {{cannot stand in another transformer.layers}}
    %1 = transformer.layers [0, 2) init(%h) : tensor<?x?x4xf32> {
    ^bb0(%inner: index, %g: tensor<?x?x4xf32>):
      transformer.yield %g : tensor<?x?x4xf32>
    }
    transformer.yield %1 : tensor<?x?x4xf32>
  }
  return
}

// -----

// expected-error @below {{expects factor >= 1, found}}
// expected-error @below {{failed to parse Transformer_RopeAttr parameter 'yarn'}}
"test.op"() {rope = #transformer.rope<theta = 1.0e4 : f64, dim = 64, yarn = <factor = 0.5 : f64, beta_fast = 32.0 : f64, beta_slow = 1.0 : f64, mscale = 1.0 : f64, mscale_all_dim = 1.0 : f64, original_max_position_embeddings = 4096>>} : () -> ()

// -----

// expected-error @below {{expects beta_fast and beta_slow above 0, found}}
// expected-error @below {{failed to parse Transformer_RopeAttr parameter 'yarn'}}
"test.op"() {rope = #transformer.rope<theta = 1.0e4 : f64, dim = 64, yarn = <factor = 2.0 : f64, beta_fast = 32.0 : f64, beta_slow = -1.0 : f64, mscale = 1.0 : f64, mscale_all_dim = 1.0 : f64, original_max_position_embeddings = 4096>>} : () -> ()

// -----

// expected-error @below {{expects an even dim from 2 to 65536, found 1000000000000}}
"test.op"() {rope = #transformer.rope<theta = 1.0e4 : f64, dim = 1000000000000>} : () -> ()
