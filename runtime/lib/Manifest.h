//===- Manifest.h - manifest.json of an artifact ----------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/artifact-format.md is the contract. Everything here has been checked:
// a Manifest that exists is consistent in itself.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_MANIFEST_H
#define MOEC_RUNTIME_LIB_MANIFEST_H

#include "Safetensors.h"
#include "Status.h"

#include <string>
#include <vector>

namespace moec::runtime {

/// A half-open range of layers; one nameless layer where a name has none.
struct LayerRange {
  int64_t begin = 0;
  int64_t end = 1;
  int64_t count() const { return end - begin; }
};

struct Manifest {
  struct Model {
    std::string name;
    std::string modelType;
    int64_t hiddenSize = 0;
    int64_t numLayers = 0;
    int64_t vocabSize = 0;
    int64_t maxPositions = 0;
    int64_t expertsPerToken = 0; ///< 0 without routed experts
  };

  /// A function of the code that does multiply-adds in registers:
  /// int64_t probe(int64_t iterations), `macs` of them in each iteration.
  struct Probe {
    std::string symbol;
    int64_t macs = 0;
  };

  struct Variant {
    std::string name;
    std::string entry;
    std::vector<std::string> features;
    Probe probe = {};
  };

  /// What a kernel's rows stand for: tokens of the step, rows of logits, or
  /// pairs of a token and an expert that it is routed to.
  enum class Rows { tokens, logits, pairs };

  /// What one run of a kernel costs; a step runs it `layers` times.
  struct KernelCost {
    std::string kernel;
    std::string name; ///< of its first weight, as a rule
    int64_t layers = 0;
    Rows rows = Rows::tokens;
    int64_t weightBytes = 0;
    int64_t experts = 0;
    int64_t weightBytesPerExpert = 0; ///< read for each that has a row
    int64_t flopsPerRow = 0;
    int64_t activationBytesPerRow = 0;
    int64_t flopsPerRowAndPosition = 0;
    int64_t cacheBytesPerRowAndPosition = 0;
  };

  /// A tensor as the checkpoint must hold it.
  struct TensorSpec {
    std::string name; ///< may hold {layer} and {expert}
    DType dtype = DType::F32;
    std::vector<int64_t> shape;
  };

  struct Parameter {
    TensorSpec tensor;
    std::optional<TensorSpec> scale;
    bool widened = false; ///< read as F32 from a copy, else in place
    int64_t slot = 0;
    LayerRange layers;
    int64_t experts = 1;
  };

  struct Cache {
    DType dtype = DType::BF16;
    int64_t layers = 0;
    int64_t pageSize = 0;
    int64_t width = 0;
    int64_t bytesPerToken = 0;
  };

  struct Workspace {
    int64_t bytesFixed = 0;
    int64_t bytesPerToken = 0;
  };

  /// A recorded value; offsets and widths count values of 4 bytes per token.
  struct Tap {
    std::string name; ///< may hold {layer}
    DType dtype = DType::F32;
    LayerRange layers;
    int64_t offset = 0;
    int64_t stride = 0;
    int64_t width = 0;
  };

  struct File {
    std::string name;
    int64_t bytes = 0;
    uint64_t xxh3 = 0;
  };

  struct LeftOut {
    std::string prefix;
    std::string reason;
  };

  std::string activations;
  std::string attention;
  Model model;
  std::string codeFile;
  std::vector<Variant> variants;
  std::vector<Parameter> parameters;
  int64_t numSlots = 0;
  std::vector<LeftOut> leftOut;
  Cache cache;
  Workspace workspace;
  std::vector<Tap> taps;
  std::vector<KernelCost> cost;            ///< empty if it does not say
  std::vector<std::string> tokenizerFiles; ///< empty if it brings none
  std::vector<int32_t> eosIds;             ///< empty if it does not say
  std::vector<File> files;

  /// Bytes of taps per token; 0 without taps.
  int64_t tapBytesPerToken() const;
};

/// A name with its placeholders replaced.
std::string expandName(const std::string &name, int64_t layer, int64_t expert);

/// Parses and checks the text of a manifest; `place` names it in messages.
Expected<Manifest> parseManifest(std::string_view text,
                                 const std::string &place);

/// Reads the manifest of the folder NAME.moec.
Expected<Manifest> readManifest(const std::filesystem::path &folder);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_MANIFEST_H
