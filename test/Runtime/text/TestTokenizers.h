//===- TestTokenizers.h - The tokenizers that the tests use -----*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TEST_RUNTIME_TEXT_TESTTOKENIZERS_H
#define MOEC_TEST_RUNTIME_TEXT_TESTTOKENIZERS_H

#include "text/Tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace moec::runtime {

using Ids = std::vector<int32_t>;

inline std::filesystem::path testModels() { return MOEC_TEST_MODELS; }
inline std::filesystem::path kimiFolder() { return testModels() / "tiny-kimi"; }
/// DeepSeek's pre-tokenizer sequence over a small vocabulary.
inline std::filesystem::path byteLevelFolder() {
  return testModels() / "tokenizers" / "byte-level";
}

inline std::unique_ptr<Tokenizer>
openTokenizer(const std::filesystem::path &folder) {
  Expected<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::open({folder});
  if (!tokenizer) {
    ADD_FAILURE() << tokenizer.status().message();
    return nullptr;
  }
  return std::move(*tokenizer);
}

inline const Tokenizer &kimi() {
  static const std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(kimiFolder());
  return *tokenizer;
}
inline const Tokenizer &byteLevel() {
  static const std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(byteLevelFolder());
  return *tokenizer;
}

inline Ids encoded(const Tokenizer &tokenizer, std::string_view text,
                   bool allowSpecial = false) {
  Expected<Ids> ids = tokenizer.encode(text, allowSpecial);
  if (!ids) {
    ADD_FAILURE() << ids.status().message();
    return {};
  }
  return std::move(*ids);
}

inline std::string readText(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace moec::runtime

#endif // MOEC_TEST_RUNTIME_TEXT_TESTTOKENIZERS_H
