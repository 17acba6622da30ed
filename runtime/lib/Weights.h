//===- Weights.h - A checkpoint as an artifact reads it ---------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_WEIGHTS_H
#define MOEC_RUNTIME_LIB_WEIGHTS_H

#include "Checkpoint.h"
#include "Manifest.h"
#include "Memory.h"
#include "Text.h"

#include <memory>

namespace moec::runtime {

/// The table of pointers that code is called with: for slot s, entry 2 s is the
/// payload and entry 2 s + 1 the block scales. Tensors are used where they are
/// mapped; only `widened` parameters are copied.
class Weights {
public:
  /// Maps the checkpoint and checks every parameter: all that are missing or
  /// of another dtype or shape are listed together. `manifest` must outlive
  /// the weights.
  static Expected<std::unique_ptr<Weights>>
  open(const Manifest &manifest, const std::filesystem::path &folder);

  /// Weights of no checkpoint, to measure with: valid values of plausible size
  /// that depend on the seed alone, all in memory.
  static Expected<std::unique_ptr<Weights>> makeRandom(const Manifest &manifest,
                                                       uint64_t seed);

  const void *const *table() const { return pointers.data(); }
  const Manifest &manifest() const { return description; }
  /// The mapped files; null for random weights.
  const Checkpoint *checkpoint() const { return files ? &*files : nullptr; }
  /// Bytes of the tensors that the artifact reads.
  int64_t bytesUsed() const { return usedBytes; }

private:
  Weights(const Manifest &manifest, std::optional<Checkpoint> files)
      : description(manifest), files(std::move(files)) {}
  void bind(const Manifest::Parameter &parameter, int64_t layer, int64_t expert,
            Findings &findings);

  const Manifest &description;
  std::optional<Checkpoint> files;
  Memory random;
  std::vector<const void *> pointers;
  std::vector<std::unique_ptr<float[]>> widened;
  int64_t usedBytes = 0;
};

/// Widens F32, BF16 or F16 values, which may lie at any address.
std::unique_ptr<float[]> widenToFloat(const Tensor &tensor);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_WEIGHTS_H
