//===- Generation.h - Text generation, token by token -----------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_GENERATION_H
#define MOEC_RUNTIME_LIB_GENERATION_H

#include "Session.h"

#include <functional>

namespace moec::runtime {

/// The ids that end a text: the manifest's; without any there, those of
/// generation_config.json, else of config.json, in `checkpoint`.
Expected<std::vector<int32_t>>
readEosIds(const Manifest &manifest, const std::filesystem::path &checkpoint);

struct GenerateOptions {
  int64_t maxNewTokens = 64;
  std::vector<int32_t> eosIds;
  /// Chooses the next id from the logits of the last token; negative: none of
  /// them can be chosen.
  std::function<int32_t(std::span<const float>)> choose;
  /// Called with each new id, the end-of-text id among them.
  std::function<void(int32_t)> onToken;
};

struct Generated {
  std::vector<int32_t> ids;  ///< without the prompt's
  bool ended = false;        ///< the last id is an end-of-text id
  std::string finishReason;  ///< "stop" or "length"
  std::string finishMessage; ///< where the reason needs words
  double promptSeconds = 0;  ///< until the first id was chosen
  double decodeSeconds = 0;  ///< of the ids after it
};

/// Runs the prompt in chunks of at most session.maxTokens(), then one token
/// at a time, on a sequence of its own. An empty prompt, one longer than the
/// context, and ids outside the vocabulary are failures; a context that fills
/// up ends the text with "length".
Expected<Generated> generate(Session &session, std::span<const int32_t> prompt,
                             const GenerateOptions &options);

/// The index of the largest value, the lowest of equals.
int32_t argmax(std::span<const float> values);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_GENERATION_H
