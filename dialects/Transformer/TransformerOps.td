//===- TransformerOps.td - Ops of the transformer dialect -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_TRANSFORMER_TRANSFORMEROPS_TD
#define MOEC_DIALECTS_TRANSFORMER_TRANSFORMEROPS_TD

include "dialects/Transformer/TransformerAttrs.td"
include "dialects/Transformer/TransformerTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Transformer_Op<string mnemonic, list<Trait> traits = []>
    : Op<Transformer_Dialect, mnemonic, traits>;

/// A tensor of activations: f32 or bf16.
def Transformer_Activation : RankedTensorOf<[F32, BF16]>;
/// What a linear layer takes: activations, or activations quantised in groups.
def Transformer_LinearInput
    : AnyTypeOf<[Transformer_Activation, Transformer_BlockScaledType]>;
/// A weight as it is stored.
def Transformer_Weight
    : AnyTypeOf<[RankedTensorOf<[F32, BF16, F16]>, Transformer_BlockScaledType]>;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

def Transformer_ParameterOp : Transformer_Op<"parameter", [Symbol]> {
  let summary = "A tensor of the checkpoint, or one for each layer and expert";
  let description = [{
    Names a parameter by the tensor name of the checkpoint. `{layer}` and
    `{expert}` in the name stand for numbers; the tensor exists for each layer of
    the half-open range and each of the experts. `scales` names the tensor of a
    block-scaled parameter's scales. `widened` says that the checkpoint may hold
    F32, BF16 or F16 and that the value is read as f32 (norm gains, router bias).

    Example:
    ```mlir
    transformer.parameter @layers.experts.up "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight"
      scales "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight_scale_inv"
      layers [1, 61) experts 384 : !transformer.block_scaled<2048x7168, f8E4M3FN, f32, [128, 128]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$tensor_name,
                       OptionalAttr<StrAttr>:$scale_name,
                       OptionalAttr<I64Attr>:$layer_begin,
                       OptionalAttr<I64Attr>:$layer_end,
                       OptionalAttr<I64Attr>:$experts, UnitAttr:$widened,
                       TypeAttr:$type);
  let assemblyFormat = [{
    $sym_name $tensor_name (`scales` $scale_name^)?
    (`layers` custom<LayerRange>($layer_begin, $layer_end)^)?
    (`experts` $experts^)? (`widened` $widened^)? attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

def Transformer_WeightOp : Transformer_Op<"weight",
    [Pure, AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a parameter";
  let description = [{
    Reads a parameter of one layer and one expert.

    Example: `%w = transformer.weight @layers.experts.up layer %layer expert %expert : !transformer.block_scaled<2048x7168, f8E4M3FN, f32, [128, 128]>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Optional<Index>:$layer,
                       Optional<Index>:$expert);
  let results = (outs Transformer_Weight:$result);
  let assemblyFormat = [{
    $parameter (`layer` $layer^)? (`expert` $expert^)? attr-dict
    `:` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Rows in, rows out
//===----------------------------------------------------------------------===//

def Transformer_EmbeddingOp : Transformer_Op<"embedding", [Pure]> {
  let summary = "Rows of the embedding table by token id";
  let description = [{
    `y[b, t] = table[ids[b, t]]`; ids [B, T] i32, table [vocab_size, H]
    (`model.embed_tokens.weight`), y [B, T, H]. Ids are in range: the runtime checks
    them.

    Example: `%x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<163840x7168xbf16>) -> tensor<?x?x7168xbf16>`
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$ids,
                       RankedTensorOf<[F32, BF16, F16]>:$table);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat =
      "$ids `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Transformer_GatherRowsOp : Transformer_Op<"gather_rows", [Pure]> {
  let summary = "The rows whose logits are wanted";
  let description = [{
    `y[i] = x[rows[i]]`, rows being numbered over B * T. Only these reach the final
    norm and the head, which for a prompt is one row of many.

    Example: `%y = transformer.gather_rows %x, %rows : (tensor<?x?x7168xbf16>, tensor<?xi32>) -> tensor<?x7168xbf16>`
  }];
  let arguments = (ins Transformer_Activation:$x, RankedTensorOf<[I32]>:$rows);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat =
      "$x `,` $rows attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Transformer_TapOp : Transformer_Op<"tap"> {
  let summary = "Shows a value under a name";
  let description = [{
    An artifact compiled with `--taps` yields the value beside the logits, to be
    compared with a reference. `{layer}` in the name stands for the layer.

    Example: `transformer.tap %a "layers.{layer}.attention_output" layer %layer : tensor<?x?x7168xbf16>`
  }];
  let arguments = (ins RankedTensorOf<[F32, BF16, I32]>:$x, StrAttr:$name,
                       Optional<Index>:$layer);
  let assemblyFormat = "$x $name (`layer` $layer^)? attr-dict `:` type($x)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise and rows
//===----------------------------------------------------------------------===//

def Transformer_RmsNormOp : Transformer_Op<"rms_norm",
    [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Root-mean-square norm over the last dimension";
  let description = [{
    `y = x / sqrt(mean(x^2) + eps) * gain`, in f32, rounded once (Zhang and
    Sennrich 2019). x [.., D], gain [D] f32. The block norms take `rms_norm_eps`;
    the two inner norms (`q_a_layernorm`, `kv_a_layernorm`) take 1e-6 as in the
    published modelling code.

    Example: `%h = transformer.rms_norm %x, %gain eps 1.000000e-06 : tensor<?x?x7168xbf16>, tensor<7168xf32>`
  }];
  let arguments = (ins Transformer_Activation:$x,
                       RankedTensorOf<[F32]>:$gain, F64Attr:$eps);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat =
      "$x `,` $gain `eps` $eps attr-dict `:` type($x) `,` type($gain)";
  let hasVerifier = 1;
}

def Transformer_SwigluOp : Transformer_Op<"swiglu",
    [Pure, AllTypesMatch<["gate", "up", "result"]>]> {
  let summary = "silu(gate) * up";
  let description = [{
    `y = gate / (1 + exp(-gate)) * up`, in f32, rounded once (Shazeer 2020;
    `hidden_act` "silu").

    Example: `%s = transformer.swiglu %g, %u : tensor<?x?x18432xbf16>`
  }];
  let arguments = (ins Transformer_Activation:$gate,
                       Transformer_Activation:$up);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` type($gate)";
}

def Transformer_AddOp : Transformer_Op<"add",
    [Pure, AllTypesMatch<["a", "b", "result"]>]> {
  let summary = "Sum, as of the residual stream";
  let description = [{
    `y = a + b`, in f32, rounded once.

    Example: `%y = transformer.add %x, %o : tensor<?x?x7168xbf16>`
  }];
  let arguments = (ins Transformer_Activation:$a, Transformer_Activation:$b);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a)";
}

def Transformer_SplitOp : Transformer_Op<"split", [Pure]> {
  let summary = "Pieces of the last dimension";
  let description = [{
    Cuts x [.., D] into pieces of the given sizes, which add up to D: latent and
    rope key of `kv_a_proj_with_mqa`, nope and rope part of a query head.

    Example: `%n, %r = transformer.split %q [128, 64] : tensor<?x?x64x192xbf16> -> tensor<?x?x64x128xbf16>, tensor<?x?x64x64xbf16>`
  }];
  let arguments = (ins Transformer_Activation:$x, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<Transformer_Activation>:$results);
  let assemblyFormat = "$x $sizes attr-dict `:` type($x) `->` type($results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Transformer_SplitHeadsOp : Transformer_Op<"split_heads", [Pure]> {
  let summary = "[B, T, A D] as [B, T, A, D]";
  let description = [{
    Example: `%q = transformer.split_heads %x : tensor<?x?x12288xbf16> -> tensor<?x?x64x192xbf16>`
  }];
  let arguments = (ins Transformer_Activation:$x);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Transformer_MergeHeadsOp : Transformer_Op<"merge_heads", [Pure]> {
  let summary = "[B, T, A, D] as [B, T, A D]";
  let description = [{
    Example: `%o = transformer.merge_heads %x : tensor<?x?x64x128xbf16> -> tensor<?x?x8192xbf16>`
  }];
  let arguments = (ins Transformer_Activation:$x);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Linear layers
//===----------------------------------------------------------------------===//

def Transformer_QuantizeOp : Transformer_Op<"quantize", [Pure]> {
  let summary = "Dynamic quantisation of activations to FP8";
  let description = [{
    Per token and group of features (the last group may be short):
    `scale = max |x| / 448`, or 1 where all are zero; `code = round(x / scale)` to
    e4m3, nearest even (`activation_scheme` "dynamic"; DeepSeek-V3, section 3.3.2).
    The group is the last block size of the result.

    Example: `%q = transformer.quantize %x : tensor<?x?x7168xbf16> -> !transformer.block_scaled<?x?x7168, f8E4M3FN, f32, [1, 1, 128]>`
  }];
  let arguments = (ins Transformer_Activation:$x);
  let results = (outs Transformer_BlockScaledType:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_LinearOp : Transformer_Op<"linear", [Pure]> {
  let summary = "y = x w^T";
  let description = [{
    `y[.., o] = sum over i of x[.., i] * w[o, i]`: exact products of the values
    (codes times scales where block-scaled), accumulated in f32, rounded once. x
    [.., IN], w [OUT, IN] as checkpoints store it, y [.., OUT]. Router logits and
    the head's logits are f32.

    Example: `%y = transformer.linear %x, %w : (tensor<?x?x7168xbf16>, !transformer.block_scaled<1536x7168, f8E4M3FN, f32, [128, 128]>) -> tensor<?x?x1536xbf16>`
  }];
  let arguments = (ins Transformer_LinearInput:$x, Transformer_Weight:$w);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat =
      "$x `,` $w attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def Transformer_RopeTableOp : Transformer_Op<"rope_table",
    [Pure, InferTypeOpAdaptor]> {
  let summary = "cos and sin of the positions' angles";
  let description = [{
    `angle[b, t, i] = positions[b, t] * inverse_frequency[i]`, a product in f32 as
    in the modelling code (`RotaryEmbedding`, `YarnRotaryEmbedding`); cos and sin
    [B, T, P/2] f32 are multiplied by the attribute's cos/sin scale, which is 1
    where `mscale` equals `mscale_all_dim`.

    Example: `%cos, %sin = transformer.rope_table %positions <theta = 5.0e+04 : f64, dim = 64> : tensor<?x?xi32>`
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$positions,
                       Transformer_RopeAttr:$rope);
  let results = (outs RankedTensorOf<[F32]>:$cos, RankedTensorOf<[F32]>:$sin);
  let assemblyFormat = "$positions $rope attr-dict `:` type($positions)";
}

def Transformer_RopeOp : Transformer_Op<"rope",
    [Pure, AllTypesMatch<["x", "result"]>, AllTypesMatch<["cos", "sin"]>]> {
  let summary = "Rotary position embedding";
  let description = [{
    Rotates the pairs (a, b) of x [B, T, P] or [B, T, A, P] by the angle of their
    position: `a' = a cos - b sin`, `b' = a sin + b cos`, in f32, rounded once (Su
    et al. 2021). With `interleaved` the pairs are (2i, 2i + 1), as in the family's
    checkpoints; without it (i, i + P/2) (`rope_interleave` false). Pairs stay where
    they are.

    Example: `%r = transformer.rope %x, %cos, %sin interleaved : tensor<?x?x64x64xbf16>, tensor<?x?x32xf32>`
  }];
  let arguments = (ins Transformer_Activation:$x, RankedTensorOf<[F32]>:$cos,
                       RankedTensorOf<[F32]>:$sin, UnitAttr:$interleaved);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat = [{
    $x `,` $cos `,` $sin (`interleaved` $interleaved^)? attr-dict
    `:` type($x) `,` type($cos)
  }];
  let hasVerifier = 1;
}

def Transformer_CacheUpdateOp : Transformer_Op<"cache_update",
    [Pure, AllTypesMatch<["cache", "result"]>]> {
  let summary = "The cache with a layer's new latents and rope keys";
  let description = [{
    `cache[layer, b, positions[b, t]] = (latent[b, t], k_rope[b, t])`; latent
    [B, T, R] after `kv_a_layernorm`, k_rope [B, T, P] after rope (DeepSeek-V2,
    section 2.1.3).

    Example: `%c2 = transformer.cache_update %c, %layer, %latent, %k_rope, %positions : !transformer.latent_cache<...>, tensor<?x?x512xbf16>, tensor<?x?x64xbf16>, tensor<?x?xi32>`
  }];
  let arguments = (ins Transformer_LatentCacheType:$cache, Index:$layer,
                       Transformer_Activation:$latent,
                       Transformer_Activation:$k_rope,
                       RankedTensorOf<[I32]>:$positions);
  let results = (outs Transformer_LatentCacheType:$result);
  let assemblyFormat = [{
    $cache `,` $layer `,` $latent `,` $k_rope `,` $positions attr-dict
    `:` type($cache) `,` type($latent) `,` type($k_rope) `,` type($positions)
  }];
  let hasVerifier = 1;
}

def Transformer_AttentionOp : Transformer_Op<"attention", [Pure]> {
  let summary = "Multi-head latent attention over a layer's cache";
  let description = [{
    For the token at position p, over the cached tokens j = 0 .. p of its sequence:
    ```
    k_nope[j, h], v[j, h] = rows of head h of kv_b (N rows, then V rows) . latent[j]
    score[h, j] = (q_nope[h] . k_nope[j, h] + q_rope[h] . k_rope[j]) * scale
    y[h] = sum over j of softmax(score[h])[j] * v[j, h]
    ```
    Scores and softmax are f32. q_nope [B, T, A, N], q_rope [B, T, A, P] (rotated),
    kv_b [A (N + V), R] (`kv_b_proj`), y [B, T, A, V]. Whether keys and values are
    expanded from the latents or queries and outputs pulled through kv_b is left to
    the lowering. With `quantize_latent` (FP8 activations) kv_b takes the latents
    quantised in groups, as any FP8 linear layer does; the absorbed form, which
    never applies kv_b to latents, multiplies by the dequantised kv_b instead.
    (DeepSeek-V2, section 2.1; `DeepseekV3Attention`; scale: (N + P)^-1/2, times
    YaRN's mscale squared.)

    Example: `%y = transformer.attention %qn, %qr, %c, %layer, %kv_b, %positions scale 1.308610e-01 : (...) -> tensor<?x?x64x128xbf16>`
  }];
  let arguments = (ins Transformer_Activation:$q_nope,
                       Transformer_Activation:$q_rope,
                       Transformer_LatentCacheType:$cache, Index:$layer,
                       Transformer_Weight:$kv_b,
                       RankedTensorOf<[I32]>:$positions, F64Attr:$scale,
                       UnitAttr:$quantize_latent);
  let results = (outs Transformer_Activation:$result);
  let assemblyFormat = [{
    $q_nope `,` $q_rope `,` $cache `,` $layer `,` $kv_b `,` $positions
    `scale` $scale (`quantize_latent` $quantize_latent^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

def Transformer_RouteOp : Transformer_Op<"route",
    [Pure, InferTypeOpAdaptor]> {
  let summary = "The experts of each token and their weights";
  let description = [{
    On logits [B, T, E] f32:
    1. `score = sigmoid(logits)` or `softmax(logits)` (`scoring_func`).
    2. `choice = score + bias` with noaux_tc (`e_score_correction_bias` [E]), else
       the score.
    3. Unless greedy and with n_group > 1: a group counts as its best choice value,
       or with noaux_tc as the sum of its two best; experts outside the topk_group
       best groups are shut out with -inf.
    4. indices [B, T, K]: the top_k best by choice, in falling order; ties go to
       the lower index.
    5. weights [B, T, K]: the *scores* (without bias) of the chosen, with
       `normalize` (`norm_topk_prob`) divided by their sum + 1e-20, times
       `routed_scaling_factor`; the methods other than noaux_tc multiply only if
       they do not normalise. With top_k 1, `normalize` has no effect.

    All in f32 (DeepSeek-V3, section 2.1.2; `MoEGate`).

    Example: `%i, %w = transformer.route %logits bias %bias scoring sigmoid method noaux_tc top_k 8 n_group 8 topk_group 4 normalize routed_scaling_factor 2.500000e+00 : tensor<?x?x256xf32>, tensor<256xf32>`
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$logits,
                       Optional<RankedTensorOf<[F32]>>:$bias,
                       Transformer_ScoringFuncAttr:$scoring,
                       Transformer_TopkMethodAttr:$method, I64Attr:$top_k,
                       I64Attr:$n_group, I64Attr:$topk_group,
                       UnitAttr:$normalize, F64Attr:$routed_scaling_factor);
  let results = (outs RankedTensorOf<[I32]>:$indices,
                      RankedTensorOf<[F32]>:$weights);
  let assemblyFormat = [{
    $logits (`bias` $bias^)? `scoring` `` $scoring `method` `` $method `top_k` $top_k
    `n_group` $n_group `topk_group` $topk_group (`normalize` $normalize^)?
    `routed_scaling_factor` $routed_scaling_factor attr-dict
    `:` type($logits) (`,` type($bias)^)?
  }];
  let hasVerifier = 1;
}

def Transformer_ExpertsOp : Transformer_Op<"experts",
    [SingleBlock, RecursiveMemoryEffects, AllTypesMatch<["x", "result"]>]> {
  let summary = "The routed experts, each on the tokens that chose it";
  let description = [{
    `y[t] = sum over k of weights[t, k] * body(x[t], indices[t, k])`, the sum in
    f32 in the order of k, rounded once. The body stands once for all experts: its
    arguments are the rows [?, H] of one expert and the expert's number.

    Example:
    ```mlir
    %y = transformer.experts %x, %indices, %weights experts 384 : tensor<?x?x7168xbf16>, tensor<?x?x8xi32>, tensor<?x?x8xf32> {
    ^bb0(%rows: tensor<?x7168xbf16>, %expert: index):
      ...
      transformer.yield %down : tensor<?x7168xbf16>
    }
    ```
    (`DeepseekV3MoE`; Dai et al. 2024.)
  }];
  let arguments = (ins Transformer_Activation:$x,
                       RankedTensorOf<[I32]>:$indices,
                       RankedTensorOf<[F32]>:$weights, I64Attr:$experts);
  let results = (outs Transformer_Activation:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $x `,` $indices `,` $weights `experts` $experts `:` type($x) `,`
    type($indices) `,` type($weights) $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Transformer_LayersOp : Transformer_Op<"layers",
    [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "A range of equal layers, whose body stands once";
  let description = [{
    Runs the body for each layer of [layer_begin, layer_end), carrying values from
    one to the next. The size of the IR does not depend on their number.

    Example:
    ```mlir
    %x1, %c1 = transformer.layers [1, 61) init(%x0, %c0) : tensor<?x?x7168xbf16>, !transformer.latent_cache<...> {
    ^bb0(%layer: index, %x: tensor<?x?x7168xbf16>, %c: !transformer.latent_cache<...>):
      ...
      transformer.yield %y, %c2 : tensor<?x?x7168xbf16>, !transformer.latent_cache<...>
    }
    ```
    (`DeepseekV3DecoderLayer`; `num_hidden_layers`, `first_k_dense_replace`.)
  }];
  let arguments = (ins Variadic<AnyType>:$inits, I64Attr:$layer_begin,
                       I64Attr:$layer_end);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<LayerRange>($layer_begin, $layer_end) `init` `(` $inits `)` `:`
    custom<CarriedTypes>(type($inits), type($results)) $body attr-dict
  }];
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Transformer_YieldOp : Transformer_Op<"yield",
    [Pure, Terminator, ReturnLike, ParentOneOf<["LayersOp", "ExpertsOp"]>]> {
  let summary = "Ends a layer or an expert";
  let description = [{
    Example: `transformer.yield %y : tensor<?x7168xbf16>`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // MOEC_DIALECTS_TRANSFORMER_TRANSFORMEROPS_TD
