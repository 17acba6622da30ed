//===- TransformerDialect.td - The transformer dialect -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_TRANSFORMER_TRANSFORMERDIALECT_TD
#define MOEC_DIALECTS_TRANSFORMER_TRANSFORMERDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"

def Transformer_Dialect : Dialect {
  let name = "transformer";
  let cppNamespace = "::moec::transformer";
  let summary = "What a mixture-of-experts transformer computes";
  let description = [{
    The model in its own words and shapes: [B, T, hidden] for the residual
    stream, with B sequences of T new tokens each. Nothing is fused, placed or
    tiled. Letters in the descriptions:

    | letter | size | config key |
    |---|---|---|
    | B, T | sequences, new tokens of each | |
    | H | residual stream | `hidden_size` |
    | A | heads | `num_attention_heads` |
    | N, P, V | nope, rope and value size of a head | `qk_nope_head_dim`, `qk_rope_head_dim`, `v_head_dim` |
    | R | latent of keys and values | `kv_lora_rank` |
    | E, K | routed experts, experts per token | `n_routed_experts`, `num_experts_per_tok` |

    Reductions accumulate in f32; an op's result is rounded to its element type
    once. Parameters are symbols that carry the checkpoint's tensor names.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

#endif // MOEC_DIALECTS_TRANSFORMER_TRANSFORMERDIALECT_TD
