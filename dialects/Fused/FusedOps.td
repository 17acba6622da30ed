//===- FusedOps.td - Ops of the fused dialect -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_FUSED_FUSEDOPS_TD
#define MOEC_DIALECTS_FUSED_FUSEDOPS_TD

include "dialects/Fused/FusedDialect.td"
include "dialects/Fused/FusedInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Fused_TilesAttr : AttrDef<Fused_Dialect, "Tiles"> {
  let mnemonic = "tiles";
  let summary = "How a linear kernel is cut into tiles";
  let description = [{
    A parallel task computes `columns` output features of up to `rows` rows; its
    innermost loop keeps `register_rows` rows in registers. Few rows (up to
    `stream_rows`) take the streaming form, which decodes weights into registers
    and never stores them. None of the numbers changes a result's bits.

    Example: `#fused.tiles<columns = 64, rows = 256, register_rows = 6, stream_rows = 8>`
  }];
  let parameters = (ins "int64_t":$columns, "int64_t":$rows,
                        "int64_t":$register_rows, "int64_t":$stream_rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Fused_AttentionTilesAttr : AttrDef<Fused_Dialect, "AttentionTiles"> {
  let mnemonic = "attention_tiles";
  let summary = "How an attention kernel is cut into tiles";
  let description = [{
    A parallel task attends to `split` tokens of one row's context, with all heads;
    `slots` tasks run at a time, so that the workspace does not grow with the
    context. `split` decides the order of the sums, `slots` does not.

    Example: `#fused.attention_tiles<split = 512, slots = 64>`
  }];
  let parameters = (ins "int64_t":$split, "int64_t":$slots);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Fused_Epilogue : I32Enum<"Epilogue", "what follows a product", [
    I32EnumCase<"none", 0>, I32EnumCase<"swiglu", 1>]> {
  let cppNamespace = "::moec::fused";
}
def Fused_EpilogueAttr : EnumAttr<Fused_Dialect, Fused_Epilogue, "epilogue">;

def Fused_AttentionForm : I32Enum<"AttentionForm", "a form of attention", [
    I32EnumCase<"absorbed", 0>, I32EnumCase<"expanded", 1>]> {
  let cppNamespace = "::moec::fused";
}
def Fused_AttentionFormAttr
    : EnumAttr<Fused_Dialect, Fused_AttentionForm, "form">;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Fused_Float : AnyTypeOf<[TensorOf<[F32, BF16]>, MemRefOf<[F32, BF16]>]>;
def Fused_F32 : AnyTypeOf<[TensorOf<[F32]>, MemRefOf<[F32]>]>;
def Fused_I32 : AnyTypeOf<[TensorOf<[I32]>, MemRefOf<[I32]>]>;
def Fused_I64 : AnyTypeOf<[TensorOf<[I64]>, MemRefOf<[I64]>]>;
def Fused_Any : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

/// An op in destination-passing style on tensors, or on memrefs after
/// bufferization: then it has no results.
class Fused_KernelOp<string mnemonic, list<Trait> traits = []>
    : Op<Fused_Dialect, mnemonic,
         !listconcat(traits,
                     [DestinationStyleOpInterface,
                      DeclareOpInterfaceMethods<Fused_KernelOpInterface>,
                      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])> {
  code kernelDeclarations = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getOutsMutable();
    }
  }];
  let extraClassDeclaration = kernelDeclarations;
}

def Fused_LinearOp : Fused_KernelOp<"linear",
    [AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<TilingInterface,
       ["getIterationDomain", "getLoopIteratorTypes",
        "getTiledImplementation", "getResultTilePosition"]>]> {
  let summary = "y = epilogue(x w^T)";
  let description = [{
    ```
    p[n, o] = sum over i of x[n, i] * w[o, i]
    y = p                          (epilogue none)
    y = silu(p of w0) * (p of w1)  (epilogue swiglu: gate_proj, up_proj)
    y = y + residual               (if there is one)
    ```
    in f32, rounded once at the end. x [N, IN] in f32 or bf16, or e4m3 codes with
    `x_scales` [N, ceil(IN / block)]; w [OUT, IN] as checkpoints store it, e4m3 codes
    with `weight_scales` [ceil(OUT / block[0]), ceil(IN / block[1])], or bf16, f16,
    f32; residual and y [N, OUT]. A second destination [N, bytes] i8 is scratch, in
    which a kernel may lay out x anew; `choose-fp8-tiles` adds it.

    **Order of the sum** (CPU kernels; the same for any number of rows, so that a
    row's bits do not depend on the batch). The features of a block of 128 form four
    chains: chain p adds the features 8j + 2p and 8j + 2p + 1 for j = 0, 1, ... in
    turn (4j + p for f32 weights). A chain's sum is multiplied by the block's scale and
    added to the chain's total, block after block; at the end the totals are added
    up as (t0 + t2) + (t1 + t3).

    Example:
    ```mlir
    %y = fused.linear %x weights(%w) weight_scales(%s) residual %r outs(%o)
      {block = array<i64: 128, 128>, epilogue = #fused<epilogue none>} : (...) -> tensor<?x7168xbf16>
    ```
    (`DeepseekV3MLP`, the projections of `DeepseekV3Attention`; FP8: DeepSeek-V3,
    section 3.3.)
  }];
  let arguments = (ins Fused_Any:$x, Optional<Fused_F32>:$x_scales,
                       Variadic<Fused_Any>:$weights,
                       Variadic<Fused_F32>:$weight_scales,
                       Optional<Fused_Float>:$residual,
                       Variadic<Fused_Any>:$outs,
                       OptionalAttr<DenseI64ArrayAttr>:$block,
                       DefaultValuedAttr<Fused_EpilogueAttr,
                         "::moec::fused::Epilogue::none">:$epilogue,
                       OptionalAttr<Fused_TilesAttr>:$tiles);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $x (`scales` $x_scales^)? `weights` `(` $weights `)`
    (`weight_scales` `(` $weight_scales^ `)`)? (`residual` $residual^)?
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_DispatchOp : Fused_KernelOp<"dispatch"> {
  let summary = "Sort the (token, expert) pairs by expert";
  let description = [{
    Counting sort of the N K pairs of `indices` [N, K]: rows of one expert lie
    together, in the order of their tokens. Destinations:
    - offsets [E + 1] i64: the rows of expert e are offsets[e] .. offsets[e + 1]
    - tokens [N K] i32: the token of each dispatched row
    - rows [N, K] i32: the dispatched row of each pair
    - work [N K, 3] i32: expert, first row and number of rows of each piece of work,
      at most `rows_per_piece` rows of one expert each
    - pieces [1] i64: how many pieces of work there are

    Example: `%o, %t, %r, %w, %c = fused.dispatch %indices outs(...) {experts = 384, rows_per_piece = 256} : ...`
    (`DeepseekV3MoE`.)
  }];
  let arguments = (ins Fused_I32:$indices, Variadic<Fused_Any>:$outs,
                       I64Attr:$experts, I64Attr:$rows_per_piece);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $indices `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_ExpertsOp : Fused_KernelOp<"experts",
    [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Each expert's body on its rows, one expert after another";
  let description = [{
    `y[r] = body(x[tokens[r]], e)` for the rows r = offsets[e] .. offsets[e + 1].
    `fuse-moe-dispatch` makes grouped kernels of it, in which the experts share one
    parallel region.

    Example:
    ```mlir
    %y = fused.experts %x, %offsets, %tokens outs(%o) {
    ^bb0(%rows: tensor<?x7168xbf16>, %expert: index):
      ...
      fused.yield %down : tensor<?x7168xbf16>
    } {experts = 384} : (...) -> tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins Fused_Float:$x, Fused_I64:$offsets, Fused_I32:$tokens,
                       Variadic<Fused_Float>:$outs, I64Attr:$experts);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $x `,` $offsets `,` $tokens `outs` `(` $outs `)` $body attr-dict `:`
    functional-type(operands, results)
  }];
}

def Fused_YieldOp : Op<Fused_Dialect, "yield",
    [Pure, Terminator, ReturnLike, ParentOneOf<["ExpertsOp"]>]> {
  let summary = "Ends an expert";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Fused_GroupedLinearOp : Fused_KernelOp<"grouped_linear",
    [AttrSizedOperandSegments]> {
  let summary = "The linear layer of every expert on its rows";
  let description = [{
    For each row r of expert e (`offsets`, `work` and `pieces` of fused.dispatch say
    which):
    ```
    y[r] = epilogue(x[t] w_e^T), t = tokens[r], or r without tokens
    ```
    with the sums and epilogues of fused.linear. Expert e's weights are those of the
    slot `slots[i] + e` (i = 0, and 1 with swiglu), each of the type
    `weight_type` with scales `scale_type`. The parallel tasks are (piece of work,
    column tile) pairs, so every core is busy whatever the routing; an expert
    without rows costs nothing.

    Example:
    ```mlir
    %s = fused.grouped_linear %x tokens %t offsets %f work %w, %c step %step slots(%g, %u)
      outs(%o) {experts = 384, block = array<i64: 128, 128>, epilogue = #fused<epilogue swiglu>,
      weight_type = memref<2048x7168xf8E4M3FN>, scale_type = memref<16x56xf32>} : ...
    ```
  }];
  let arguments = (ins Fused_Any:$x, Optional<Fused_F32>:$x_scales,
                       Optional<Fused_I32>:$tokens, Fused_I64:$offsets,
                       Fused_I32:$work, Fused_I64:$pieces, LLVM_AnyPointer:$step,
                       Variadic<Index>:$slots, Variadic<Fused_Any>:$outs,
                       I64Attr:$experts, TypeAttr:$weight_type,
                       OptionalAttr<TypeAttr>:$scale_type,
                       OptionalAttr<DenseI64ArrayAttr>:$block,
                       DefaultValuedAttr<Fused_EpilogueAttr,
                         "::moec::fused::Epilogue::none">:$epilogue,
                       OptionalAttr<Fused_TilesAttr>:$tiles);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $x (`scales` $x_scales^)? (`tokens` $tokens^)? `offsets` $offsets
    `work` $work `,` $pieces `step` $step `slots` `(` $slots `)` `outs` `(` $outs `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_CombineOp : Fused_KernelOp<"combine", [AttrSizedOperandSegments]> {
  let summary = "The weighted sum of each token's experts";
  let description = [{
    `out[n] = sum over k of weights[n, k] * y[rows[n, k]] (+ shared[n])
    (+ residual[n])`, in f32 in the order of k, then the shared experts' output,
    then the residual stream, rounded once. y [N K, H] in the order of
    fused.dispatch; rows, weights [N, K]; the others [N, H].

    Example: `%o = fused.combine %y, %rows, %weights shared %s residual %x outs(%d) : ...`
    (`DeepseekV3MoE`.)
  }];
  let arguments = (ins Fused_Float:$y, Fused_I32:$rows, Fused_F32:$weights,
                       Optional<Fused_Float>:$shared,
                       Optional<Fused_Float>:$residual,
                       Variadic<Fused_Float>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $y `,` $rows `,` $weights (`shared` $shared^)? (`residual` $residual^)?
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_RmsNormOp : Fused_KernelOp<"rms_norm", [AttrSizedOperandSegments]> {
  let summary = "RMSNorm, with the residual add before it and quantisation after";
  let description = [{
    ```
    s = x (+ residual), rounded to the type of the residual stream
    y = s / sqrt(mean(s^2) + eps) * gain
    ```
    in f32, rounded once. The destinations are y [N, H]; with a residual also the sum
    s [N, H]; with `quantize_group` y is replaced by its codes [N, H] and scales
    [N, ceil(H / quantize_group)] (see fused.quantize).

    Example: `%y, %s = fused.rms_norm %x, %gain residual %r outs(%a, %b) {eps = 1.0e-06 : f64} : ...`
  }];
  let arguments = (ins Fused_Float:$x, Fused_F32:$gain,
                       Optional<Fused_Float>:$residual,
                       Variadic<Fused_Any>:$outs, F64Attr:$eps,
                       OptionalAttr<I64Attr>:$quantize_group);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $x `,` $gain (`residual` $residual^)? `outs` `(` $outs `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_QuantizeOp : Fused_KernelOp<"quantize"> {
  let summary = "Dynamic quantisation of rows to FP8";
  let description = [{
    Per row and group of features (the last may be short): `scale = max |x| / 448`,
    or 1 where all are zero; `code = round(x / scale)` to e4m3, nearest even.
    x [N, H]; destinations: codes [N, H], scales [N, ceil(H / group)].
    (DeepSeek-V3, section 3.3.2; `activation_scheme` "dynamic".)

    Example: `%c, %s = fused.quantize %x outs(%a, %b) {group = 128} : ...`
  }];
  let arguments = (ins Fused_Float:$x, Variadic<Fused_Any>:$outs,
                       I64Attr:$group);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $x `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Fused_SwigluOp : Fused_KernelOp<"swiglu"> {
  let summary = "silu(gate) * up";
  let description = [{
    `y = gate / (1 + exp(-gate)) * up`, in f32, rounded once; all [N, I].

    Example: `%y = fused.swiglu %g, %u outs(%o) : ...`
  }];
  let arguments = (ins Fused_Float:$gate, Fused_Float:$up,
                       Variadic<Fused_Float>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $gate `,` $up `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Fused_AddOp : Fused_KernelOp<"add"> {
  let summary = "Sum of two tensors of rows";
  let description = [{
    `y = a + b`, in f32, rounded once; all [N, H].

    Example: `%y = fused.add %a, %b outs(%o) : ...`
  }];
  let arguments = (ins Fused_Float:$a, Fused_Float:$b,
                       Variadic<Fused_Float>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $a `,` $b `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

/// An enumeration attribute of the transformer dialect, whose ODS is not included
/// here: that would generate its ops once more.
class Fused_TransformerEnumAttr<string name>
    : Attr<CPred<"::llvm::isa<::moec::transformer::" # name # "Attr>($_self)">,
           "transformer's " # name> {
  let storageType = "::moec::transformer::" # name # "Attr";
  let returnType = "::moec::transformer::" # name;
  let convertFromStorage = "$_self.getValue()";
}
def Fused_ScoringFuncAttr : Fused_TransformerEnumAttr<"ScoringFunc">;
def Fused_TopkMethodAttr : Fused_TransformerEnumAttr<"TopkMethod">;

def Fused_GatherRowsOp : Fused_KernelOp<"gather_rows"> {
  let summary = "Rows of a table by their numbers";
  let description = [{
    `y[n] = table[numbers[n]]`, converted to y's element type. table [V, H], numbers
    [N], y [N, H]: the embedding of tokens, and the rows whose logits are wanted.

    Example: `%y = fused.gather_rows %table, %ids outs(%o) : (tensor<163840x7168xbf16>, tensor<?xi32>, tensor<?x7168xbf16>) -> tensor<?x7168xbf16>`
  }];
  let arguments = (ins Fused_Any:$table, Fused_I32:$numbers,
                       Variadic<Fused_Float>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $table `,` $numbers `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_RouterOp : Fused_KernelOp<"router", [AttrSizedOperandSegments]> {
  let summary = "The experts of each token and their weights";
  let description = [{
    transformer.route on rows: logits [N, E] f32, bias [E]; destinations: indices
    [N, K] i32 by falling choice, weights [N, K] f32. All in f32; ties go to the lower
    index; a NaN counts as -inf, so that every row chooses K different experts.

    Example: `%i, %w = fused.router %logits bias %b outs(%o0, %o1) {scoring = #transformer<scoring sigmoid>, method = #transformer<method noaux_tc>, top_k = 8, n_group = 1, topk_group = 1, normalize, routed_scaling_factor = 2.827 : f64} : ...`
    (`MoEGate`; DeepSeek-V3, section 2.1.2.)
  }];
  let arguments = (ins Fused_F32:$logits, Optional<Fused_F32>:$bias,
                       Variadic<Fused_Any>:$outs,
                       Fused_ScoringFuncAttr:$scoring,
                       Fused_TopkMethodAttr:$method, I64Attr:$top_k,
                       I64Attr:$n_group, I64Attr:$topk_group,
                       UnitAttr:$normalize, F64Attr:$routed_scaling_factor);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $logits (`bias` $bias^)? `outs` `(` $outs `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_RopeOp : Fused_KernelOp<"rope"> {
  let summary = "Rotary position embedding of rows";
  let description = [{
    transformer.rope on rows: x and y [N, P] or [N, A, P], cos and sin [N, P / 2]; the
    pairs are neighbours if `interleaved`, else of the two halves. In f32, rounded
    once.

    Example: `%y = fused.rope %x, %cos, %sin outs(%o) {interleaved} : ...`
    (RoFormer, arXiv 2104.09864.)
  }];
  let arguments = (ins Fused_Float:$x, Fused_F32:$cos, Fused_F32:$sin,
                       Variadic<Fused_Float>:$outs, UnitAttr:$interleaved);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $x `,` $cos `,` $sin `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_CacheWriteOp : Fused_KernelOp<"cache_write"> {
  let summary = "Write latents and rope keys of rows into the paged cache";
  let description = [{
    Each row's latent [N, R] and k_rope [N, P] go side by side into the slot of its
    position, in the page that `page_table` names for its sequence. Layout of the
    cache as in fused.mla_attention. It has no destination but the cache.

    Example: `fused.cache_write %latent, %k_rope, %cache, %table, %seq, %pos, %layer : ...`
  }];
  let arguments = (ins Fused_Float:$latent, Fused_Float:$k_rope,
                       AnyStridedMemRef:$cache, AnyStridedMemRef:$page_table,
                       AnyStridedMemRef:$sequences, Fused_I32:$positions,
                       Index:$layer, Variadic<Fused_Any>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $latent `,` $k_rope `,` $cache `,` $page_table `,` $sequences `,` $positions `,` $layer
    (`outs` `(` $outs^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_MlaPrepareOp : Fused_KernelOp<"mla_prepare"> {
  let summary = "What stands between the projections and attention";
  let description = [{
    For each row
    ```
    cache slot = rms_norm(latent) * gain, rope(k_rope)
    y = rope(q_rope)
    ```
    latent [N, R], gain [R], k_rope [N, P], q_rope and y [N, A, P], cos and sin
    [N, P / 2]; see fused.rms_norm, fused.rope and fused.cache_write, which
    `fuse-mla` makes it of.

    Example: `%y = fused.mla_prepare %l, %g, %k, %q, %cos, %sin, %cache, %table, %seq, %pos, %layer outs(%o) {eps = 1.0e-06 : f64, interleaved} : ...`
    (`DeepseekV3Attention`; DeepSeek-V2, section 2.1.)
  }];
  let arguments = (ins Fused_Float:$latent, Fused_F32:$gain,
                       Fused_Float:$k_rope, Fused_Float:$q_rope, Fused_F32:$cos,
                       Fused_F32:$sin, AnyStridedMemRef:$cache,
                       AnyStridedMemRef:$page_table,
                       AnyStridedMemRef:$sequences, Fused_I32:$positions,
                       Index:$layer, Variadic<Fused_Float>:$outs, F64Attr:$eps,
                       UnitAttr:$interleaved);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $latent `,` $gain `,` $k_rope `,` $q_rope `,` $cos `,` $sin `,` $cache `,`
    $page_table `,` $sequences `,` $positions `,` $layer
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fused_MlaAttentionOp : Fused_KernelOp<"mla_attention",
    [AttrSizedOperandSegments]> {
  let summary = "Multi-head latent attention over the paged cache";
  let description = [{
    transformer.attention on the rows of a batch. q_nope [N, A, QK], q_rope
    [N, A, P], kv_b [A (QK + V), R] (with scales if block-scaled), y [N, A, V];
    the cache is [layers, pages, page_size, R + P], page_table [sequences, stride]
    and sequences, positions [N] say where a row's past lies.

    In the **absorbed** form the query is pulled through the key half of kv_b and
    the output through its value half, so that attention works on the latents, which
    all heads share; no product of weights is materialised. In the **expanded** form
    kv_b makes keys and values of each page (from quantised latents with
    `quantize_latent`). (DeepSeek-V2, section 2.1.2.)

    With `tiles` the context is cut into splits; each runs an online softmax of its
    own (Milakov and Gimelshein 2018), and the splits are combined in their order, so
    that a row's bits depend on its own sequence only. Such a kernel has two more
    destinations as scratch, i8 [N, bytes] and [bytes], which `choose-fp8-tiles` adds.

    Example: `%y = fused.mla_attention %qn, %qr, %cache, %table, %seq, %pos, %layer weights(%w) outs(%o) {form = #fused<form absorbed>, scale = 0.1309 : f64} : ...`
  }];
  let arguments = (ins Fused_Float:$q_nope, Fused_Float:$q_rope,
                       AnyStridedMemRef:$cache, AnyStridedMemRef:$page_table,
                       AnyStridedMemRef:$sequences, Fused_I32:$positions,
                       Index:$layer, Fused_Any:$kv_b,
                       Optional<Fused_F32>:$kv_b_scales,
                       Variadic<Fused_Any>:$outs, F64Attr:$scale,
                       OptionalAttr<DenseI64ArrayAttr>:$block,
                       DefaultValuedAttr<Fused_AttentionFormAttr,
                         "::moec::fused::AttentionForm::absorbed">:$form,
                       UnitAttr:$quantize_latent,
                       OptionalAttr<Fused_AttentionTilesAttr>:$tiles);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $q_nope `,` $q_rope `,` $cache `,` $page_table `,` $sequences `,` $positions
    `,` $layer `weights` `(` $kv_b (`scales` $kv_b_scales^)? `)`
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // MOEC_DIALECTS_FUSED_FUSEDOPS_TD
