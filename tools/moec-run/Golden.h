//===- Golden.h - Reference values of a model -------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A golden file is a safetensors file with `input_ids` [T], any taps [T, width]
// by the names that artifacts compiled with --taps use, `logits` [T, V], and
// `greedy_ids` [S] with `greedy_logits` [S, V]: what S greedy steps after the
// prompt gave.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_GOLDEN_H
#define MOEC_TOOLS_MOEC_RUN_GOLDEN_H

#include "Safetensors.h"

namespace moec::run {

/// Rows of equal width, of F32 or I32 values.
struct Rows {
  runtime::DType dtype = runtime::DType::F32;
  int64_t width = 0;
  std::vector<uint32_t> bits;

  int64_t count() const {
    return width ? static_cast<int64_t>(bits.size()) / width : 0;
  }
  float real(int64_t index) const;
  int32_t integer(int64_t index) const;
};

struct Golden {
  std::vector<int32_t> inputIds;
  /// In the order of the model: embedding, then layer by layer.
  std::vector<std::pair<std::string, Rows>> taps;
  std::optional<Rows> logits;
  std::vector<int32_t> greedyIds;
  Rows greedyLogits;
};

runtime::Expected<Golden> readGolden(const std::string &path);

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_GOLDEN_H
