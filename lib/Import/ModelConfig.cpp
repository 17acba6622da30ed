//===- ModelConfig.cpp - What a config.json says --------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Import/ModelConfig.h"

using namespace moec;
using llvm::StringRef;

bool ModelConfig::isMoELayer(int64_t layer) const {
  if (n_routed_experts == 0 || layer < first_k_dense_replace)
    return false;
  if (!moe_layers.empty())
    return moe_layers[layer];
  return layer % moe_layer_freq == 0;
}

/// One bit per kind of linear: whether its weights are FP8 in this layer.
static uint32_t convertedModules(const Fp8Blocks &fp8, int64_t layer) {
  static constexpr StringRef modules[] = {
      "self_attn.q_proj",
      "self_attn.q_a_proj",
      "self_attn.q_b_proj",
      "self_attn.kv_a_proj_with_mqa",
      "self_attn.kv_b_proj",
      "self_attn.o_proj",
      "mlp.gate_proj",
      "mlp.up_proj",
      "mlp.down_proj",
      "mlp.experts.gate_proj",
      "mlp.experts.up_proj",
      "mlp.experts.down_proj",
      "mlp.shared_experts.gate_proj",
      "mlp.shared_experts.up_proj",
      "mlp.shared_experts.down_proj",
  };
  uint32_t bits = 0;
  for (auto [index, module] : llvm::enumerate(modules))
    bits |= uint32_t(fp8.converts(layer, module)) << index;
  return bits;
}

llvm::SmallVector<LayerRange> ModelConfig::layerRanges() const {
  // Layers that no entry of modules_to_not_convert names are all the same.
  constexpr int64_t noLayer = -1;
  uint32_t usual = fp8 ? convertedModules(*fp8, noLayer) : 0;
  auto modulesOf = [&](int64_t layer) {
    return fp8 && fp8->notConvertedInLayer.count(layer)
               ? convertedModules(*fp8, layer)
               : usual;
  };
  llvm::SmallVector<LayerRange> ranges;
  uint32_t previous = 0;
  for (int64_t layer = 0; layer < num_hidden_layers; ++layer) {
    bool isMoE = isMoELayer(layer);
    uint32_t modules = modulesOf(layer);
    if (!ranges.empty() && ranges.back().isMoE == isMoE && modules == previous)
      ranges.back().end = layer + 1;
    else
      ranges.push_back({layer, layer + 1, isMoE});
    previous = modules;
  }
  return ranges;
}

llvm::SmallVector<mlir::Location>
ModelConfig::locationsOf(StringRef key) const {
  auto found = locations.find(key);
  if (found == locations.end())
    return {object};
  return {found->second.begin(), found->second.end()};
}
