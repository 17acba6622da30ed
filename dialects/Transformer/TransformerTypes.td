//===- TransformerTypes.td - Types of the transformer dialect -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_TRANSFORMER_TRANSFORMERTYPES_TD
#define MOEC_DIALECTS_TRANSFORMER_TRANSFORMERTYPES_TD

include "dialects/Transformer/TransformerDialect.td"

class Transformer_Type<string name, string typeMnemonic>
    : TypeDef<Transformer_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Transformer_BlockScaledType
    : Transformer_Type<"BlockScaled", "block_scaled"> {
  let summary = "Codes with one scale per block";
  let description = [{
    One value made of two arrays: `value[i] = payload[i] * scale[i / block]`,
    with one scale per block of `block` elements. The last block of a dimension may
    be short: the scales' shape is `ceil(shape / block)`. Dynamic extents (`?`) are
    those of rows and have blocks of 1.

    FP8 checkpoints of the family store weights so (`weight` and
    `weight_scale_inv`, blocks of 128x128: `quantization_config.weight_block_size`);
    activations are quantised so with blocks of 1 token and 128 features
    (DeepSeek-V3, section 3.3.2).

    Examples:
    ```mlir
    !transformer.block_scaled<576x7168, f8E4M3FN, f32, [128, 128]>    // scales 5x56
    !transformer.block_scaled<?x?x7168, f8E4M3FN, f32, [1, 1, 128]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::FloatType":$payload,
                        "::mlir::FloatType":$scale,
                        ArrayRefParameter<"int64_t">:$block);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Extents of the scales: ceil(shape / block).
    ::llvm::SmallVector<int64_t> getScaleShape() const;
  }];
}

def Transformer_LatentCacheType
    : Transformer_Type<"LatentCache", "latent_cache"> {
  let summary = "The cache of latents and rope keys of all layers";
  let description = [{
    For each layer and each past token of each sequence: the normalised latent
    (`kv_lora_rank` values) and the rotated rope key that all heads share
    (`qk_rope_head_dim` values). How it is paged is not this level's matter
    (DeepSeek-V2, section 2.1).

    Example: `!transformer.latent_cache<layers = 61, kv_lora_rank = 512, rope = 64, bf16>`
  }];
  let parameters = (ins "int64_t":$layers, "int64_t":$kv_lora_rank,
                        "int64_t":$qk_rope_head_dim,
                        "::mlir::FloatType":$elementType);
  let assemblyFormat = [{
    `<` `layers` `=` $layers `,` `kv_lora_rank` `=` $kv_lora_rank `,`
    `rope` `=` $qk_rope_head_dim `,` $elementType `>`
  }];
  let genVerifyDecl = 1;
}

#endif // MOEC_DIALECTS_TRANSFORMER_TRANSFORMERTYPES_TD
