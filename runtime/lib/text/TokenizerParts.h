//===- TokenizerParts.h - What a tokenizer is made of -----------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_TOKENIZERPARTS_H
#define MOEC_RUNTIME_LIB_TEXT_TOKENIZERPARTS_H

#include "text/AddedTokens.h"
#include "text/BytePairEncoder.h"
#include "text/Splitter.h"
#include "text/Tokenizer.h"

#include <array>
#include <stdexcept>

namespace moec::runtime {

/// What the readers of the two formats fill in.
struct TokenizerParts {
  /// By id; empty where there is no token. The encoder refers to these.
  std::vector<std::string> tokens;
  std::vector<bool> added; ///< by id
  /// Names to look for, one set after the other: a set sees only what the sets
  /// before left over.
  std::array<AddedTokens, 2> names;
  Splitter splitter;
  BytePairEncoder encoder;
  /// Kimi's tokenizer cuts its input before all else, see KimiSlicer.
  bool slices = false;
  std::optional<int32_t> bos;
};

/// Thrown by the readers, never past Tokenizer's functions.
class TokenizerFileError : public std::runtime_error {
public:
  TokenizerFileError(moec_code code, const std::string &message)
      : std::runtime_error(message), code(code) {}
  const moec_code code;
};
[[noreturn]] inline void invalidTokenizer(const std::string &message) {
  throw TokenizerFileError(MOEC_INVALID_FILE, message);
}
[[noreturn]] inline void unsupportedTokenizer(const std::string &message) {
  throw TokenizerFileError(MOEC_UNSUPPORTED, message);
}

/// Ids are at most this large; it bounds what a bad file can make us allocate.
inline constexpr int32_t maxTokenId = (1 << 21) - 1;

std::unique_ptr<TokenizerParts> readTiktoken(const Tokenizer::Source &model,
                                             const Tokenizer::Source &config);
std::unique_ptr<TokenizerParts>
readTokenizerJson(const Tokenizer::Source &tokenizer,
                  const std::optional<Tokenizer::Source> &config);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_TOKENIZERPARTS_H
