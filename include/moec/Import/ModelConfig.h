//===- ModelConfig.h - What a config.json says ------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fields of a model's configuration that change its computation, validated
// and independent of the spelling they were found in. Fields are named as in
// config.json.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_IMPORT_MODELCONFIG_H
#define MOEC_IMPORT_MODELCONFIG_H

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace moec {

/// How expert scores are made of router logits.
enum class ScoringFunc { Sigmoid, Softmax };

/// How experts are chosen by their scores.
enum class TopkMethod { NoauxTc, Greedy, GroupLimitedGreedy };

/// The type that a checkpoint's unquantised weights are stored in.
enum class WeightType { BF16, F16, F32 };

/// YaRN's parameters (`rope_scaling` of type "yarn").
struct YarnScaling {
  double factor = 1;
  double beta_fast = 32;
  double beta_slow = 1;
  double mscale = 1;
  double mscale_all_dim = 0;
  int64_t original_max_position_embeddings = 0;
};

/// FP8 (e4m3) weights with one f32 scale per block of rows x cols.
struct Fp8Blocks {
  int64_t rows = 0;
  int64_t cols = 0;
  /// modules_to_not_convert, without the tensor prefix: names that hold in
  /// every layer, and what follows "model.layers.N." of the others.
  std::vector<std::string> notConverted;
  std::map<int64_t, std::vector<std::string>> notConvertedInLayer;

  /// Whether a linear of a layer has FP8 weights; `module` is its name within
  /// the layer: "self_attn.o_proj", "mlp.experts.up_proj", ...
  bool converts(int64_t layer, llvm::StringRef module) const;
};

/// Tensors of the checkpoint that the compiled model does not use.
struct LeftOut {
  std::string prefix;
  std::string reason;
};

/// Layers [begin, end), which are equal: all dense or all MoE, with the same
/// weights converted to FP8.
struct LayerRange {
  int64_t begin;
  int64_t end;
  bool isMoE;
};

/// A class of the model's Python modelling file.
struct ModelingClass {
  std::string name;
  mlir::FileLineColRange loc;
};

struct ModelConfig {
  explicit ModelConfig(mlir::Location object) : object(object) {}

  /// Of the folder, or of the file where it is not called config.json.
  std::string name;
  std::string model_type;
  std::string architecture;
  /// What the text model's tensor names start with: "" or "language_model.".
  std::string tensor_prefix;

  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t max_position_embeddings = 0;
  double rms_norm_eps = 0;
  /// Of q_a_layernorm and kv_a_layernorm, whatever rms_norm_eps says: so it is
  /// in the family's published modelling files.
  double inner_norm_eps = 1e-6;
  bool tie_word_embeddings = false;
  WeightType weightType = WeightType::BF16;
  std::optional<Fp8Blocks> fp8;

  int64_t num_attention_heads = 0;
  std::optional<int64_t> q_lora_rank;
  int64_t kv_lora_rank = 0;
  int64_t qk_nope_head_dim = 0;
  int64_t qk_rope_head_dim = 0;
  int64_t v_head_dim = 0;
  double rope_theta = 0;
  std::optional<YarnScaling> yarn;
  /// Rope rotates the pairs (2i, 2i + 1); otherwise (i, i + half).
  bool rope_interleave = true;

  /// 0 for a dense model, whose other fields of this group mean nothing.
  int64_t n_routed_experts = 0;
  int64_t num_experts_per_tok = 0;
  int64_t moe_intermediate_size = 0;
  int64_t n_shared_experts = 0;
  int64_t first_k_dense_replace = 0;
  int64_t moe_layer_freq = 1;
  /// Where moe_layer_freq is a list: one entry per layer.
  std::vector<bool> moe_layers;
  int64_t n_group = 1;
  int64_t topk_group = 1;
  /// False too where a token has one expert, whose weight stays as it is.
  bool norm_topk_prob = false;
  double routed_scaling_factor = 1;
  ScoringFunc scoring_func = ScoringFunc::Sigmoid;
  TopkMethod topk_method = TopkMethod::NoauxTc;
  /// Whether the checkpoint has e_score_correction_bias.
  bool has_router_bias = false;

  std::optional<int64_t> bos_token_id;
  std::vector<int64_t> eos_token_ids;
  std::vector<LeftOut> leftOut;

  /// By suffix of the class's name: "RMSNorm", "MoEGate", "Attention", ...
  llvm::StringMap<ModelingClass> modelingClasses;

  bool isMoELayer(int64_t layer) const;

  /// The layers as runs of equal ones. At most `maxLayerRanges`.
  llvm::SmallVector<LayerRange> layerRanges() const;
  static constexpr size_t maxLayerRanges = 256;

  /// Where the keys that gave a field stand; the enclosing object's place for a
  /// key that is absent. `key` is a field's name, or "rope_scaling" and
  /// "quantization_config" for the whole groups.
  llvm::SmallVector<mlir::Location> locationsOf(llvm::StringRef key) const;
  void addLocation(llvm::StringRef key, mlir::Location loc) {
    locations[key].push_back(loc);
  }

private:
  mlir::Location object;
  llvm::StringMap<llvm::SmallVector<mlir::Location, 1>> locations;
};

/// Reads and validates a configuration: a model's folder, or its config.json.
/// Beside it, generation_config.json gives the end tokens, hf_quant_config.json
/// is refused, and modeling_*.py gives evidence. Every error is a diagnostic at
/// the line and column of the value that is wrong.
///
/// Files that were read are added to `sources`, whose diagnostic handler then
/// shows the line.
mlir::FailureOr<ModelConfig>
readModelConfig(mlir::MLIRContext *context, llvm::StringRef path,
                llvm::SourceMgr *sources = nullptr);

/// The same for texts in memory, whose identifiers are the files' names.
struct ConfigTexts {
  llvm::MemoryBufferRef config;
  std::optional<llvm::MemoryBufferRef> generationConfig;
  std::optional<llvm::MemoryBufferRef> hfQuantConfig;
};
mlir::FailureOr<ModelConfig> parseModelConfig(mlir::MLIRContext *context,
                                              const ConfigTexts &texts);

/// Finds the classes of a modelling file that stand for the model's parts.
/// `classPrefix` is what the family's class names begin with ("DeepseekV3").
void scanModelingFile(mlir::MLIRContext *context, llvm::MemoryBufferRef text,
                      llvm::StringRef classPrefix,
                      llvm::StringMap<ModelingClass> &classes);

} // namespace moec

#endif // MOEC_IMPORT_MODELCONFIG_H
