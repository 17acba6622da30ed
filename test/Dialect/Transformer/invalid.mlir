// Every message of the dialect's verifiers and of its parsers.
// RUN: moec-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expects at least 2 dimensions, found 1}}
func.func private @f(!transformer.block_scaled<192, f8E4M3FN, f32, [128]>)

// -----

// expected-error@+1 {{expects a block size for each of the 2 dimensions, found 1}}
func.func private @f(!transformer.block_scaled<136x192, f8E4M3FN, f32, [128]>)

// -----

// expected-error@+1 {{expects a payload of f8E4M3FN, found 'f8E5M2'}}
func.func private @f(!transformer.block_scaled<136x192, f8E5M2, f32, [128, 128]>)

// -----

// expected-error@+1 {{expects scales of f32, found 'bf16'}}
func.func private @f(!transformer.block_scaled<136x192, f8E4M3FN, bf16, [128, 128]>)

// -----

// expected-error@+1 {{expects positive block sizes, found 0}}
func.func private @f(!transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 0]>)

// -----

// expected-error@+1 {{expects positive block sizes, found -1}}
func.func private @f(!transformer.block_scaled<136x192, f8E4M3FN, f32, [-1, 128]>)

// -----

// expected-error@+1 {{expects a block of 1 along a dynamic dimension, found 128}}
func.func private @f(!transformer.block_scaled<?x192, f8E4M3FN, f32, [128, 128]>)

// -----

// The payload is a float type.
// expected-error@+1 {{invalid kind of type specified}}
func.func private @f(!transformer.block_scaled<136x192, i8, f32, [128, 128]>)

// -----

// expected-error@+1 {{expected '['}}
func.func private @f(!transformer.block_scaled<136x192, f8E4M3FN, f32, 128>)

// -----

// expected-error@+1 {{expects positive sizes, found layers = 0, kv_lora_rank = 136, rope = 16}}
func.func private @f(!transformer.latent_cache<layers = 0, kv_lora_rank = 136, rope = 16, bf16>)

// -----

// expected-error@+1 {{expects positive sizes, found layers = 3, kv_lora_rank = -1, rope = 16}}
func.func private @f(!transformer.latent_cache<layers = 3, kv_lora_rank = -1, rope = 16, bf16>)

// -----

// expected-error@+1 {{expects positive sizes, found layers = 3, kv_lora_rank = 136, rope = 0}}
func.func private @f(!transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 0, bf16>)

// -----

// expected-error@+1 {{expects elements of f32 or bf16, found 'f16'}}
func.func private @f(!transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, f16>)

// -----

// expected-error@+1 {{unknown  type `sparse_cache` in dialect `transformer`}}
func.func private @f(!transformer.sparse_cache<layers = 3>)

// -----

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expects theta above 1, found 1}}
func.func private @f() attributes {a = #transformer.rope<theta = 1.0 : f64, dim = 64>}

// -----

// expected-error@+1 {{expects theta above 1, found -5.0}}
func.func private @f() attributes {a = #transformer.rope<theta = -5.0e+04 : f64, dim = 64>}

// -----

// NaN is not above 1.
// expected-error-re@+1 {{expects theta above 1, found {{-?}}nan}}
func.func private @f() attributes {a = #transformer.rope<theta = 0x7FF8000000000000 : f64, dim = 64>}

// -----

// expected-error@+1 {{expects an even dim from 2 to 65536, found 0}}
func.func private @f() attributes {a = #transformer.rope<theta = 1.0e+04 : f64, dim = 0>}

// -----

// expected-error@+1 {{expects an even dim from 2 to 65536, found 63}}
func.func private @f() attributes {a = #transformer.rope<theta = 1.0e+04 : f64, dim = 63>}

// -----

// expected-error@+1 {{struct is missing required parameter: dim}}
func.func private @f() attributes {a = #transformer.rope<theta = 1.0e+04 : f64>}

// -----

// expected-error@+2 {{expected one of [softmax, sigmoid] for how router logits become scores (scoring_func), got: tanh}}
// expected-error@+1 {{failed to parse Transformer_ScoringFuncAttr parameter 'value' which is to be a `::moec::transformer::ScoringFunc`}}
func.func private @f() attributes {a = #transformer<scoring tanh>}

// -----

// expected-error@+2 {{expected one of [greedy, group_limited_greedy, noaux_tc] for how experts are chosen by their scores (topk_method), got: random}}
// expected-error@+1 {{failed to parse Transformer_TopkMethodAttr parameter 'value' which is to be a `::moec::transformer::TopkMethod`}}
func.func private @f() attributes {a = #transformer<method random>}

// -----

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

// expected-error@+1 {{'transformer.parameter' op expects both ends of the layer range or none}}
"transformer.parameter"() <{sym_name = "p", tensor_name = "w.{layer}", layer_begin = 1
  : i64, type = tensor<4xf32>}> : () -> ()

// -----

// expected-error@+1 {{'transformer.parameter' op expects {layer} in the tensor name if and only if a layer range is given, found 'w'}}
transformer.parameter @p "w" layers [0, 3) : tensor<4xf32>

// -----

// expected-error@+1 {{'transformer.parameter' op expects {layer} in the tensor name if and only if a layer range is given, found 'layers.{layer}.w'}}
transformer.parameter @p "layers.{layer}.w" : tensor<4xf32>

// -----

// expected-error@+1 {{'transformer.parameter' op expects a layer range that is not empty, found [3, 3)}}
transformer.parameter @p "layers.{layer}.w" layers [3, 3) : tensor<4xf32>

// -----

// expected-error@+1 {{'transformer.parameter' op expects a layer range that is not empty, found [3, 1)}}
transformer.parameter @p "layers.{layer}.w" layers [3, 1) : tensor<4xf32>

// -----

// expected-error@+1 {{'transformer.parameter' op expects {expert} in the tensor name if and only if a number of experts is given, found 'w'}}
transformer.parameter @p "w" experts 8 : tensor<4xf32>

// -----

// expected-error@+1 {{'transformer.parameter' op expects {expert} in the tensor name if and only if a number of experts is given, found 'experts.{expert}.w'}}
transformer.parameter @p "experts.{expert}.w" : tensor<4xf32>

// -----

// expected-error@+1 {{'transformer.parameter' op expects at least 1 expert, found 0}}
transformer.parameter @p "experts.{expert}.w" experts 0 : tensor<4xf32>

// -----

// expected-error@+1 {{'transformer.parameter' op expects a tensor or a block-scaled type, found 'f32'}}
transformer.parameter @p "w" : f32

// -----

// expected-error@+1 {{'transformer.parameter' op expects a static shape, found 'tensor<?x4xf32>'}}
transformer.parameter @p "w" : tensor<?x4xf32>

// -----

// expected-error@+1 {{'transformer.parameter' op expects a static shape, found '!transformer.block_scaled<?x192, f8E4M3FN, f32, [1, 128]>'}}
transformer.parameter @p "w" scales "s"
  : !transformer.block_scaled<?x192, f8E4M3FN, f32, [1, 128]>

// -----

// expected-error@+1 {{'transformer.parameter' op expects the scales' tensor name if and only if the type is block-scaled, found '!transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>'}}
transformer.parameter @p "w"
  : !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>

// -----

// expected-error@+1 {{'transformer.parameter' op expects the scales' tensor name if and only if the type is block-scaled, found 'tensor<4x4xbf16>'}}
transformer.parameter @p "w" scales "s" : tensor<4x4xbf16>

// -----

// expected-error@+1 {{'transformer.parameter' op expects a widened parameter to be a tensor of f32, found 'tensor<4xbf16>'}}
transformer.parameter @p "w" widened : tensor<4xbf16>

// -----

// expected-error@+1 {{'transformer.parameter' op expects a widened parameter to be a tensor of f32, found '!transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>'}}
transformer.parameter @p "w" scales "s" widened
  : !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>

// -----

// expected-error@+1 {{expected ')'}}
transformer.parameter @p "layers.{layer}.w" layers [0, 3] : tensor<4xf32>

// -----

func.func @f() {
  // expected-error@+1 {{'transformer.weight' op expects a transformer.parameter named @missing}}
  %0 = transformer.weight @missing : tensor<4xf32>
  return
}

// -----

// A symbol of another op is not a parameter.
func.func @f() {
  // expected-error@+1 {{'transformer.weight' op expects a transformer.parameter named @f}}
  %0 = transformer.weight @f : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{the parameter is here}}
transformer.parameter @p "w" : tensor<4xf32>
func.func @f() {
  // expected-error@+1 {{'transformer.weight' op expects the parameter's type 'tensor<4xf32>', found 'tensor<8xf32>'}}
  %0 = transformer.weight @p : tensor<8xf32>
  return
}

// -----

// expected-note@+1 {{the parameter is here}}
transformer.parameter @p "layers.{layer}.w" layers [0, 3) : tensor<4xf32>
func.func @f() {
  // expected-error@+1 {{'transformer.weight' op expects a layer if and only if the parameter has a range of layers}}
  %0 = transformer.weight @p : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{the parameter is here}}
transformer.parameter @p "w" : tensor<4xf32>
func.func @f(%layer: index) {
  // expected-error@+1 {{'transformer.weight' op expects a layer if and only if the parameter has a range of layers}}
  %0 = transformer.weight @p layer %layer : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{the parameter is here}}
transformer.parameter @p "layers.{layer}.{expert}.w" layers [0, 3) experts 8
  : tensor<4xf32>
func.func @f(%layer: index) {
  // expected-error@+1 {{'transformer.weight' op expects an expert if and only if the parameter has experts}}
  %0 = transformer.weight @p layer %layer : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{the parameter is here}}
transformer.parameter @p "w" : tensor<4xf32>
func.func @f(%expert: index) {
  // expected-error@+1 {{'transformer.weight' op expects an expert if and only if the parameter has experts}}
  %0 = transformer.weight @p expert %expert : tensor<4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Rows in, rows out
//===----------------------------------------------------------------------===//

func.func @f(%ids: tensor<?xi32>, %table: tensor<250x192xbf16>) {
  // expected-error@+1 {{'transformer.embedding' op expects ids [B, T], found 'tensor<?xi32>'}}
  %0 = transformer.embedding %ids, %table
    : (tensor<?xi32>, tensor<250x192xbf16>) -> tensor<?x?x192xbf16>
  return
}

// -----

func.func @f(%ids: tensor<?x?xi32>, %table: tensor<250xbf16>) {
  // expected-error@+1 {{'transformer.embedding' op expects table [vocab_size, H], found 'tensor<250xbf16>'}}
  %0 = transformer.embedding %ids, %table
    : (tensor<?x?xi32>, tensor<250xbf16>) -> tensor<?x?x192xbf16>
  return
}

// -----

func.func @f(%ids: tensor<?x?xi32>, %table: tensor<250x192xbf16>) {
  // expected-error@+1 {{'transformer.embedding' op expects the result [B, T, H], found 'tensor<?x192xbf16>'}}
  %0 = transformer.embedding %ids, %table
    : (tensor<?x?xi32>, tensor<250x192xbf16>) -> tensor<?x192xbf16>
  return
}

// -----

func.func @f(%ids: tensor<?x?xi32>, %table: tensor<250x192xbf16>) {
  // expected-error@+1 {{'transformer.embedding' op expects the result's last size (256) = the table's (192)}}
  %0 = transformer.embedding %ids, %table
    : (tensor<?x?xi32>, tensor<250x192xbf16>) -> tensor<?x?x256xbf16>
  return
}

// -----

func.func @f(%ids: tensor<?x?xi64>, %table: tensor<250x192xbf16>) {
  // expected-error@+1 {{'transformer.embedding' op operand #0 must be ranked tensor of 32-bit signless integer values, but got 'tensor<?x?xi64>'}}
  %0 = transformer.embedding %ids, %table
    : (tensor<?x?xi64>, tensor<250x192xbf16>) -> tensor<?x?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x192xbf16>, %rows: tensor<?xi32>) {
  // expected-error@+1 {{'transformer.gather_rows' op expects x [B, T, H], found 'tensor<?x192xbf16>'}}
  %0 = transformer.gather_rows %x, %rows
    : (tensor<?x192xbf16>, tensor<?xi32>) -> tensor<?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %rows: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.gather_rows' op expects rows of rank 1, found 'tensor<?x?xi32>'}}
  %0 = transformer.gather_rows %x, %rows
    : (tensor<?x?x192xbf16>, tensor<?x?xi32>) -> tensor<?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %rows: tensor<?xi32>) {
  // expected-error@+1 {{'transformer.gather_rows' op expects the result [rows, H], found 'tensor<?x?x192xbf16>'}}
  %0 = transformer.gather_rows %x, %rows
    : (tensor<?x?x192xbf16>, tensor<?xi32>) -> tensor<?x?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %rows: tensor<?xi32>) {
  // expected-error@+1 {{'transformer.gather_rows' op expects the result's last size (256) = that of x (192)}}
  %0 = transformer.gather_rows %x, %rows
    : (tensor<?x?x192xbf16>, tensor<?xi32>) -> tensor<?x256xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>) {
  // expected-error@+1 {{'transformer.tap' op expects {layer} in the name if and only if a layer is given, found 'layers.{layer}.x'}}
  transformer.tap %x "layers.{layer}.x" : tensor<?x?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %layer: index) {
  // expected-error@+1 {{'transformer.tap' op expects {layer} in the name if and only if a layer is given, found 'x'}}
  transformer.tap %x "x" layer %layer : tensor<?x?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %layer: index) {
  // expected-error@+1 {{'transformer.tap' op expects a layer if and only if it stands in transformer.layers}}
  transformer.tap %x "layers.{layer}.x" layer %layer : tensor<?x?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>) {
  %0 = transformer.layers [0, 3) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    // expected-error@+1 {{'transformer.tap' op expects a layer if and only if it stands in transformer.layers}}
    transformer.tap %y "x" : tensor<?x?x192xbf16>
    transformer.yield %y : tensor<?x?x192xbf16>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Elementwise and rows
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<?x?x192xbf16>, %gain: tensor<1x192xf32>) {
  // expected-error@+1 {{'transformer.rms_norm' op expects gain of rank 1, found 'tensor<1x192xf32>'}}
  %0 = transformer.rms_norm %x, %gain eps 1.0e-6
    : tensor<?x?x192xbf16>, tensor<1x192xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %gain: tensor<128xf32>) {
  // expected-error@+1 {{'transformer.rms_norm' op expects the gain's size (128) = the last size of x (192)}}
  %0 = transformer.rms_norm %x, %gain eps 1.0e-6
    : tensor<?x?x192xbf16>, tensor<128xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %gain: tensor<192xf32>) {
  // expected-error@+1 {{'transformer.rms_norm' op expects eps above 0, found 0}}
  %0 = transformer.rms_norm %x, %gain eps 0.0
    : tensor<?x?x192xbf16>, tensor<192xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %gain: tensor<192xbf16>) {
  // expected-error@+1 {{'transformer.rms_norm' op operand #1 must be ranked tensor of 32-bit float values, but got 'tensor<192xbf16>'}}
  %0 = transformer.rms_norm %x, %gain eps 1.0e-6
    : tensor<?x?x192xbf16>, tensor<192xbf16>
  return
}

// -----

func.func @f(%gate: tensor<?x136xbf16>, %up: tensor<?x192xbf16>) {
  // expected-error@+1 {{'transformer.swiglu' op failed to verify that all of {gate, up, result} have same type}}
  %0 = "transformer.swiglu"(%gate, %up)
    : (tensor<?x136xbf16>, tensor<?x192xbf16>) -> tensor<?x136xbf16>
  return
}

// -----

func.func @f(%a: tensor<?x?x192xbf16>, %b: tensor<?x?x192xf32>) {
  // expected-error@+1 {{'transformer.add' op failed to verify that all of {a, b, result} have same type}}
  %0 = "transformer.add"(%a, %b)
    : (tensor<?x?x192xbf16>, tensor<?x?x192xf32>) -> tensor<?x?x192xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x48xbf16>) {
  // expected-error@+1 {{'transformer.split' op expects a result for each of the 2 sizes, found 1}}
  %0 = transformer.split %x [32, 16]
    : tensor<?x?x48xbf16> -> tensor<?x?x32xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x48xbf16>) {
  // expected-error@+1 {{'transformer.split' op expects positive sizes, found 0}}
  %0:2 = transformer.split %x [48, 0]
    : tensor<?x?x48xbf16> -> tensor<?x?x48xbf16>, tensor<?x?x0xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x48xbf16>) {
  // expected-error@+1 {{'transformer.split' op expects equal dimensions before the last, found 'tensor<?x?x48xbf16>' and 'tensor<?x32xbf16>'}}
  %0:2 = transformer.split %x [32, 16]
    : tensor<?x?x48xbf16> -> tensor<?x32xbf16>, tensor<?x?x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x48xbf16>) {
  // expected-error@+1 {{'transformer.split' op expects a result's last size (16) = its size (32)}}
  %0:2 = transformer.split %x [32, 16]
    : tensor<?x?x48xbf16> -> tensor<?x?x16xbf16>, tensor<?x?x32xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x48xbf16>) {
  // expected-error@+1 {{'transformer.split' op expects results of 'bf16', found 'tensor<?x?x32xf32>'}}
  %0:2 = transformer.split %x [32, 16]
    : tensor<?x?x48xbf16> -> tensor<?x?x32xf32>, tensor<?x?x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x64xbf16>) {
  // expected-error@+1 {{'transformer.split' op expects the sum of the sizes (48) = the last size of x (64)}}
  %0:2 = transformer.split %x [32, 16]
    : tensor<?x?x64xbf16> -> tensor<?x?x32xbf16>, tensor<?x?x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x192xbf16>) {
  // expected-error@+1 {{'transformer.split_heads' op expects merged heads [B, T, A D], found 'tensor<?x192xbf16>'}}
  %0 = transformer.split_heads %x : tensor<?x192xbf16> -> tensor<?x?x4x48xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>) {
  // expected-error@+1 {{'transformer.split_heads' op expects split heads [B, T, A, D], found 'tensor<?x4x48xbf16>'}}
  %0 = transformer.split_heads %x : tensor<?x?x192xbf16> -> tensor<?x4x48xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>) {
  // expected-error@+1 {{'transformer.split_heads' op expects equal element types, found 'tensor<?x?x192xbf16>' and 'tensor<?x?x4x48xf32>'}}
  %0 = transformer.split_heads %x : tensor<?x?x192xbf16> -> tensor<?x?x4x48xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>) {
  // expected-error@+1 {{'transformer.split_heads' op expects A * D (160) = the merged size (192)}}
  %0 = transformer.split_heads %x
    : tensor<?x?x192xbf16> -> tensor<?x?x4x40xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x4x48xbf16>) {
  // expected-error@+1 {{'transformer.merge_heads' op expects split heads [B, T, A, D], found 'tensor<?x4x48xbf16>'}}
  %0 = transformer.merge_heads %x : tensor<?x4x48xbf16> -> tensor<?x?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x4x48xbf16>) {
  // expected-error@+1 {{'transformer.merge_heads' op expects merged heads [B, T, A D], found 'tensor<?x192xbf16>'}}
  %0 = transformer.merge_heads %x : tensor<?x?x4x48xbf16> -> tensor<?x192xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x4x48xbf16>) {
  // expected-error@+1 {{'transformer.merge_heads' op expects equal element types, found 'tensor<?x?x192xf32>' and 'tensor<?x?x4x48xbf16>'}}
  %0 = transformer.merge_heads %x : tensor<?x?x4x48xbf16> -> tensor<?x?x192xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x4x48xbf16>) {
  // expected-error@+1 {{'transformer.merge_heads' op expects A * D (192) = the merged size (160)}}
  %0 = transformer.merge_heads %x
    : tensor<?x?x4x48xbf16> -> tensor<?x?x160xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Linear layers
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<?x?x192xbf16>) {
  // expected-error@+1 {{'transformer.quantize' op expects the result to have the shape of 'tensor<?x?x192xbf16>', found '!transformer.block_scaled<?x?x136, f8E4M3FN, f32, [1, 1, 128]>'}}
  %0 = transformer.quantize %x
    : tensor<?x?x192xbf16>
      -> !transformer.block_scaled<?x?x136, f8E4M3FN, f32, [1, 1, 128]>
  return
}

// -----

func.func @f(%x: tensor<2x192xbf16>) {
  // expected-error@+1 {{'transformer.quantize' op expects blocks along the last dimension only, found '!transformer.block_scaled<2x192, f8E4M3FN, f32, [2, 128]>'}}
  %0 = transformer.quantize %x
    : tensor<2x192xbf16>
      -> !transformer.block_scaled<2x192, f8E4M3FN, f32, [2, 128]>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %w: tensor<4x136x192xbf16>) {
  // expected-error@+1 {{'transformer.linear' op expects w [OUT, IN], found 'tensor<4x136x192xbf16>'}}
  %0 = transformer.linear %x, %w
    : (tensor<?x?x192xbf16>, tensor<4x136x192xbf16>) -> tensor<?x?x136xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %w: tensor<136x192xbf16>) {
  // expected-error@+1 {{'transformer.linear' op expects equal dimensions before the last, found 'tensor<?x?x192xbf16>' and 'tensor<?x136xbf16>'}}
  %0 = transformer.linear %x, %w
    : (tensor<?x?x192xbf16>, tensor<136x192xbf16>) -> tensor<?x136xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x136xbf16>, %w: tensor<136x192xbf16>) {
  // expected-error@+1 {{'transformer.linear' op expects the last size of x (136) = the input size of w (192)}}
  %0 = transformer.linear %x, %w
    : (tensor<?x?x136xbf16>, tensor<136x192xbf16>) -> tensor<?x?x136xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>,
             %w: !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>) {
  // expected-error@+1 {{'transformer.linear' op expects the result's last size (192) = the output size of w (136)}}
  %0 = transformer.linear %x, %w
    : (tensor<?x?x192xbf16>, !transformer.block_scaled<136x192, f8E4M3FN, f32, [128, 128]>)
      -> tensor<?x?x192xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<?x16xbf16>, %cos: tensor<?x?x8xf32>) {
  // expected-error@+1 {{'transformer.rope' op expects x [B, T, P] or [B, T, A, P], found 'tensor<?x16xbf16>'}}
  %0 = transformer.rope %x, %cos, %cos : tensor<?x16xbf16>, tensor<?x?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x16xbf16>, %cos: tensor<?x8xf32>) {
  // expected-error@+1 {{'transformer.rope' op expects cos [B, T, P/2], found 'tensor<?x8xf32>'}}
  %0 = transformer.rope %x, %cos, %cos : tensor<?x?x16xbf16>, tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x17xbf16>, %cos: tensor<?x?x8xf32>) {
  // expected-error@+1 {{'transformer.rope' op expects an even last size of x, found 17}}
  %0 = transformer.rope %x, %cos, %cos : tensor<?x?x17xbf16>, tensor<?x?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?x4x32xbf16>, %cos: tensor<?x?x8xf32>) {
  // expected-error@+1 {{'transformer.rope' op expects the last size of cos (8) = half of that of x (16)}}
  %0 = transformer.rope %x, %cos, %cos
    : tensor<?x?x4x32xbf16>, tensor<?x?x8xf32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%c: !cache, %layer: index, %latent: tensor<?x136xbf16>,
             %k: tensor<?x?x16xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.cache_update' op expects latent [B, T, R], found 'tensor<?x136xbf16>'}}
  %0 = transformer.cache_update %c, %layer, %latent, %k, %p
    : !cache, tensor<?x136xbf16>, tensor<?x?x16xbf16>, tensor<?x?xi32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%c: !cache, %layer: index, %latent: tensor<?x?x136xbf16>,
             %k: tensor<?x?x1x16xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.cache_update' op expects k_rope [B, T, P], found 'tensor<?x?x1x16xbf16>'}}
  %0 = transformer.cache_update %c, %layer, %latent, %k, %p
    : !cache, tensor<?x?x136xbf16>, tensor<?x?x1x16xbf16>, tensor<?x?xi32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%c: !cache, %layer: index, %latent: tensor<?x?x128xbf16>,
             %k: tensor<?x?x16xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.cache_update' op expects the latent's last size (128) = kv_lora_rank (136)}}
  %0 = transformer.cache_update %c, %layer, %latent, %k, %p
    : !cache, tensor<?x?x128xbf16>, tensor<?x?x16xbf16>, tensor<?x?xi32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%c: !cache, %layer: index, %latent: tensor<?x?x136xbf16>,
             %k: tensor<?x?x32xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.cache_update' op expects the rope key's last size (32) = the cache's rope (16)}}
  %0 = transformer.cache_update %c, %layer, %latent, %k, %p
    : !cache, tensor<?x?x136xbf16>, tensor<?x?x32xbf16>, tensor<?x?xi32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%c: !cache, %layer: index, %latent: tensor<?x?x136xf32>,
             %k: tensor<?x?x16xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.cache_update' op expects values of the cache's 'bf16', found 'tensor<?x?x136xf32>'}}
  %0 = transformer.cache_update %c, %layer, %latent, %k, %p
    : !cache, tensor<?x?x136xf32>, tensor<?x?x16xbf16>, tensor<?x?xi32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%c: !cache, %layer: index, %latent: tensor<?x?x136xbf16>,
             %k: tensor<?x?x16xf32>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.cache_update' op expects values of the cache's 'bf16', found 'tensor<?x?x16xf32>'}}
  %0 = transformer.cache_update %c, %layer, %latent, %k, %p
    : !cache, tensor<?x?x136xbf16>, tensor<?x?x16xf32>, tensor<?x?xi32>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x128xbf16>, %qr: tensor<?x?x4x16xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<256x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects q_nope [B, T, A, N], found 'tensor<?x?x128xbf16>'}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x128xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
       tensor<256x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x4x32xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x64xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<256x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects q_rope [B, T, A, P], found 'tensor<?x?x64xbf16>'}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x4x32xbf16>, tensor<?x?x64xbf16>, !cache, index,
       tensor<256x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x4x32xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x4x16xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<256x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects the result [B, T, A, V], found 'tensor<?x?x128xbf16>'}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
       tensor<256x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x128xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x4x16xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<4x64x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects kv_b [A (N + V), R], found 'tensor<4x64x136xbf16>'}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
       tensor<4x64x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x4x32xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x8x16xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<256x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects the heads of q_rope (8) = those of q_nope (4)}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x4x32xbf16>, tensor<?x?x8x16xbf16>, !cache, index,
       tensor<256x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x4x32xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x4x16xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<256x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects the heads of the result (8) = those of q_nope (4)}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
       tensor<256x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x8x32xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x4x32xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<256x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects the last size of q_rope (32) = the cache's rope (16)}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x4x32xbf16>, tensor<?x?x4x32xbf16>, !cache, index,
       tensor<256x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x4x32xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x4x16xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<192x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects the rows of kv_b (192) = A (N + V) (256)}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
       tensor<192x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x4x32xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x4x16xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<256x128xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects the columns of kv_b (128) = kv_lora_rank (136)}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
       tensor<256x128xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x4x32xbf16>
  return
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>
func.func @f(%qn: tensor<?x?x4x32xbf16>, %qr: tensor<?x?x4x16xbf16>, %c: !cache,
             %layer: index, %kv_b: tensor<256x136xbf16>, %p: tensor<?x?xi32>) {
  // expected-error@+1 {{'transformer.attention' op expects a block-scaled kv_b with quantize_latent, found 'tensor<256x136xbf16>'}}
  %0 = transformer.attention %qn, %qr, %c, %layer, %kv_b, %p scale 0.125
    quantize_latent
    : (tensor<?x?x4x32xbf16>, tensor<?x?x4x16xbf16>, !cache, index,
       tensor<256x136xbf16>, tensor<?x?xi32>)
       -> tensor<?x?x4x32xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

func.func @f(%logits: tensor<?x?x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects 1 <= top_k (0) <= experts (16)}}
  %i, %w = transformer.route %logits scoring sigmoid method greedy
    top_k 0 n_group 1 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects 1 <= top_k (17) <= experts (16)}}
  %i, %w = transformer.route %logits scoring sigmoid method greedy
    top_k 17 n_group 1 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects n_group (0) to divide the experts (16)}}
  %i, %w = transformer.route %logits scoring sigmoid method greedy
    top_k 4 n_group 0 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects n_group (3) to divide the experts (16)}}
  %i, %w = transformer.route %logits scoring sigmoid method greedy
    top_k 4 n_group 3 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects 1 <= topk_group (0) <= n_group (4)}}
  %i, %w = transformer.route %logits scoring sigmoid method greedy
    top_k 4 n_group 4 topk_group 0 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects 1 <= topk_group (5) <= n_group (4)}}
  %i, %w = transformer.route %logits scoring sigmoid method greedy
    top_k 4 n_group 4 topk_group 5 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects top_k (9) <= the experts of topk_group groups (8)}}
  %i, %w = transformer.route %logits scoring sigmoid method group_limited_greedy
    top_k 9 n_group 4 topk_group 2 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>, %bias: tensor<16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects at least 2 experts per group with noaux_tc, found 1}}
  %i, %w = transformer.route %logits bias %bias scoring sigmoid method noaux_tc
    top_k 4 n_group 16 topk_group 4 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>, tensor<16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects a bias if and only if the method is noaux_tc}}
  %i, %w = transformer.route %logits scoring sigmoid method noaux_tc
    top_k 4 n_group 1 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>, %bias: tensor<16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects a bias if and only if the method is noaux_tc}}
  %i, %w = transformer.route %logits bias %bias scoring sigmoid method greedy
    top_k 4 n_group 1 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>, tensor<16xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>, %bias: tensor<8xf32>) {
  // expected-error@+1 {{'transformer.route' op expects a bias for each of the 16 experts, found 'tensor<8xf32>'}}
  %i, %w = transformer.route %logits bias %bias scoring sigmoid method noaux_tc
    top_k 4 n_group 1 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @f(%logits: tensor<?x?x16xf32>, %bias: tensor<1x16xf32>) {
  // expected-error@+1 {{'transformer.route' op expects a bias for each of the 16 experts, found 'tensor<1x16xf32>'}}
  %i, %w = transformer.route %logits bias %bias scoring sigmoid method noaux_tc
    top_k 4 n_group 1 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xf32>, tensor<1x16xf32>
  return
}

// -----

// Router logits are f32.
func.func @f(%logits: tensor<?x?x16xbf16>) {
  // expected-error@+1 {{'transformer.route' op operand #0 must be ranked tensor of 32-bit float values, but got 'tensor<?x?x16xbf16>'}}
  %i, %w = transformer.route %logits scoring sigmoid method greedy
    top_k 4 n_group 1 topk_group 1 routed_scaling_factor 1.0
    : tensor<?x?x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %i: tensor<?x?x3xi32>,
             %w: tensor<?x?x3xf32>, %other: tensor<?x136xbf16>) {
  // expected-error@+1 {{'transformer.experts' op expects at least 1 expert, found 0}}
  %0 = transformer.experts %x, %i, %w experts 0
    : tensor<?x?x192xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32> {
  ^bb0(%rows: tensor<?x192xbf16>, %expert: index):
    transformer.yield %rows : tensor<?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %i: tensor<?x?x3xi32>,
             %w: tensor<?x?x4xf32>, %other: tensor<?x136xbf16>) {
  // expected-error@+1 {{'transformer.experts' op expects indices and weights of one shape, found 'tensor<?x?x3xi32>' and 'tensor<?x?x4xf32>'}}
  %0 = transformer.experts %x, %i, %w experts 8
    : tensor<?x?x192xbf16>, tensor<?x?x3xi32>, tensor<?x?x4xf32> {
  ^bb0(%rows: tensor<?x192xbf16>, %expert: index):
    transformer.yield %rows : tensor<?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %i: tensor<?x?x3xi32>,
             %w: tensor<?x?x3xf32>, %other: tensor<?x136xbf16>) {
  // expected-error@+1 {{'transformer.experts' op expects the body's arguments to be ('tensor<?x192xbf16>', index)}}
  %0 = transformer.experts %x, %i, %w experts 8
    : tensor<?x?x192xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32> {
  ^bb0(%rows: tensor<?x192xbf16>):
    transformer.yield %rows : tensor<?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %i: tensor<?x?x3xi32>,
             %w: tensor<?x?x3xf32>, %other: tensor<?x136xbf16>) {
  // expected-error@+1 {{'transformer.experts' op expects the body's arguments to be ('tensor<?x192xbf16>', index)}}
  %0 = transformer.experts %x, %i, %w experts 8
    : tensor<?x?x192xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32> {
  ^bb0(%rows: tensor<?x136xbf16>, %expert: index):
    transformer.yield %rows : tensor<?x136xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %i: tensor<?x?x3xi32>,
             %w: tensor<?x?x3xf32>, %other: tensor<?x136xbf16>) {
  // expected-error@+1 {{'transformer.experts' op expects the body's arguments to be ('tensor<?x192xbf16>', index)}}
  %0 = transformer.experts %x, %i, %w experts 8
    : tensor<?x?x192xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32> {
  ^bb0(%rows: tensor<?x192xbf16>, %expert: i32):
    transformer.yield %rows : tensor<?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %i: tensor<?x?x3xi32>,
             %w: tensor<?x?x3xf32>, %other: tensor<?x136xbf16>) {
  // expected-error@+1 {{'transformer.experts' op expects the body to yield 'tensor<?x192xbf16>'}}
  %0 = transformer.experts %x, %i, %w experts 8
    : tensor<?x?x192xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32> {
  ^bb0(%rows: tensor<?x192xbf16>, %expert: index):
    transformer.yield %other : tensor<?x136xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %i: tensor<?x?x3xi32>,
             %w: tensor<?x?x3xf32>, %other: tensor<?x136xbf16>) {
  // expected-error@+1 {{'transformer.experts' op expects the body to yield 'tensor<?x192xbf16>'}}
  %0 = transformer.experts %x, %i, %w experts 8
    : tensor<?x?x192xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32> {
  ^bb0(%rows: tensor<?x192xbf16>, %expert: index):
    transformer.yield %rows, %rows : tensor<?x192xbf16>, tensor<?x192xbf16>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

func.func @f(%x: tensor<?x?x192xbf16>, %other: tensor<?x?x136xbf16>) {
  // expected-error@+1 {{'transformer.layers' op expects a range of layers, found [3, 1)}}
  %0 = transformer.layers [3, 1) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    transformer.yield %y : tensor<?x?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %other: tensor<?x?x136xbf16>) {
  // expected-error@+1 {{'transformer.layers' op expects a range of layers, found [-1, 3)}}
  %0 = transformer.layers [-1, 3) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    transformer.yield %y : tensor<?x?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>) {
  // expected-error@+1 {{'transformer.layers' op expects results of the types of its initial values}}
  %0 = "transformer.layers"(%x) <{layer_begin = 0
    : i64, layer_end = 3 : i64}> ({
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    transformer.yield %y : tensor<?x?x192xbf16>
  }) : (tensor<?x?x192xbf16>) -> tensor<?x?x136xbf16>
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %other: tensor<?x?x136xbf16>) {
  // expected-error@+1 {{'transformer.layers' op expects the body's arguments to be the layer (index) and the carried values}}
  %0 = transformer.layers [0, 3) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%y: tensor<?x?x192xbf16>):
    transformer.yield %y : tensor<?x?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %other: tensor<?x?x136xbf16>) {
  // expected-error@+1 {{'transformer.layers' op expects the body's arguments to be the layer (index) and the carried values}}
  %0 = transformer.layers [0, 3) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: i32, %y: tensor<?x?x192xbf16>):
    transformer.yield %y : tensor<?x?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %other: tensor<?x?x136xbf16>) {
  // expected-error@+1 {{'transformer.layers' op expects the body's arguments to have the types of the initial values}}
  %0 = transformer.layers [0, 3) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x136xbf16>):
    transformer.yield %x : tensor<?x?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %other: tensor<?x?x136xbf16>) {
  // expected-error@+1 {{'transformer.layers' op expects the body to yield values of the types of the initial values}}
  %0 = transformer.layers [0, 3) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    transformer.yield %other : tensor<?x?x136xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>, %other: tensor<?x?x136xbf16>) {
  // expected-error@+1 {{'transformer.layers' op expects the body to yield values of the types of the initial values}}
  %0 = transformer.layers [0, 3) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    transformer.yield %y, %y : tensor<?x?x192xbf16>, tensor<?x?x192xbf16>
  }
  return
}

// -----

func.func @f(%x: tensor<?x?x192xbf16>) {
  // expected-error@+1 {{'transformer.yield' op expects parent op to be one of 'transformer.layers, transformer.experts'}}
  transformer.yield %x : tensor<?x?x192xbf16>
}
