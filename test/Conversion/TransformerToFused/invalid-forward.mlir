// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --split-input-file --verify-diagnostics

// expected-error @below {{expects a body, arguments (ids, positions, rows, cache) and results (logits, cache), found '() -> ()'}}
func.func @forward() {
  return
}

// -----

// expected-error @below {{expects a body, arguments (ids, positions, rows, cache) and results (logits, cache), found}}
func.func private @forward(tensor<?x?xi32>, tensor<?x?xi32>, tensor<?xi32>, !transformer.latent_cache<layers = 1, kv_lora_rank = 4, rope = 2, f32>) -> (tensor<?x8xf32>, !transformer.latent_cache<layers = 1, kv_lora_rank = 4, rope = 2, f32>)
