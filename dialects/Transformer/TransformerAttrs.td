//===- TransformerAttrs.td - Attributes of the transformer dialect -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_TRANSFORMER_TRANSFORMERATTRS_TD
#define MOEC_DIALECTS_TRANSFORMER_TRANSFORMERATTRS_TD

include "dialects/Transformer/TransformerDialect.td"
include "mlir/IR/EnumAttr.td"

class Transformer_Attr<string name, string attrMnemonic>
    : AttrDef<Transformer_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Transformer_YarnAttr : Transformer_Attr<"Yarn", "yarn"> {
  let summary = "YaRN's scaling of rope frequencies";
  let description = [{
    Fields as in config.json's `rope_scaling` (Peng et al. 2023, section 3.2):
    frequencies below `low` stay, those above `high` are divided by `factor`, with
    a ramp between; low and high come from `beta_fast` and `beta_slow` rotations
    over `original_max_position_embeddings`.
  }];
  let parameters = (ins "::mlir::FloatAttr":$factor,
                        "::mlir::FloatAttr":$beta_fast,
                        "::mlir::FloatAttr":$beta_slow,
                        "::mlir::FloatAttr":$mscale,
                        "::mlir::FloatAttr":$mscale_all_dim,
                        "int64_t":$original_max_position_embeddings);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Transformer_RopeAttr : Transformer_Attr<"Rope", "rope"> {
  let summary = "Rotary position embedding: base, size and scaling";
  let description = [{
    `theta` is `rope_theta`, `dim` is `qk_rope_head_dim`; numbers are f64.

    Examples:
    ```mlir
    #transformer.rope<theta = 5.000000e+04, dim = 64>
    #transformer.rope<theta = 1.000000e+04, dim = 64, yarn = <factor = 40.0, ...>>
    ```
  }];
  let parameters = (ins "::mlir::FloatAttr":$theta, "int64_t":$dim,
                        OptionalParameter<"::moec::transformer::YarnAttr">:$yarn);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The dim / 2 frequencies that positions are multiplied by, computed in f64.
    ::llvm::SmallVector<float> getInverseFrequencies() const;
    /// Factor of cos and sin: mscale(factor, mscale) / mscale(factor,
    /// mscale_all_dim); 1 without YaRN.
    double getCosSinScale() const;
    /// Factor of the softmax scale: mscale(factor, mscale_all_dim)^2, or 1.
    double getSoftmaxScaleFactor() const;
  }];
}

def Transformer_ScoringFunc : I32Enum<"ScoringFunc",
    "how router logits become scores (scoring_func)", [
    I32EnumCase<"softmax", 0>, I32EnumCase<"sigmoid", 1>]> {
  let cppNamespace = "::moec::transformer";
}
def Transformer_ScoringFuncAttr
    : EnumAttr<Transformer_Dialect, Transformer_ScoringFunc, "scoring">;

def Transformer_TopkMethod : I32Enum<"TopkMethod",
    "how experts are chosen by their scores (topk_method)", [
    I32EnumCase<"greedy", 0>, I32EnumCase<"group_limited_greedy", 1>,
    I32EnumCase<"noaux_tc", 2>]> {
  let cppNamespace = "::moec::transformer";
}
def Transformer_TopkMethodAttr
    : EnumAttr<Transformer_Dialect, Transformer_TopkMethod, "method">;

#endif // MOEC_DIALECTS_TRANSFORMER_TRANSFORMERATTRS_TD
