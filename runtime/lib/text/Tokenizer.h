//===- Tokenizer.h - Text to token ids and back -----------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the two forms of tokenizer that the family's checkpoints come with:
//
// - Kimi: tiktoken.model (lines "base64 rank") beside tokenizer_config.json,
//   whose added_tokens_decoder names some of the 256 special tokens after the
//   last rank; the others are <|reserved_token_ID|>.
// - DeepSeek and others: tokenizer.json with a byte-level BPE. The file
// decides,
//   not the class that tokenizer_config.json names (DeepSeek's says Llama).
//
// A folder with both is read as Kimi's: tiktoken.model is what Kimi publishes,
// a tokenizer.json beside it is somebody's conversion.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_TOKENIZER_H
#define MOEC_RUNTIME_LIB_TEXT_TOKENIZER_H

#include "Status.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moec::runtime {

struct TokenizerParts;

/// Read-only after it is made; all members may be called by several threads.
class Tokenizer {
public:
  /// The text of a file and the name that messages give it.
  struct Source {
    std::string_view text;
    std::string name;
  };

  /// From the first of `folders` that has tiktoken.model or tokenizer.json.
  static Expected<std::unique_ptr<Tokenizer>>
  open(const std::vector<std::filesystem::path> &folders);
  /// From the text of Kimi's two files.
  static Expected<std::unique_ptr<Tokenizer>>
  fromTiktoken(const Source &model, const Source &config);
  /// From the text of tokenizer.json and, if there is one,
  /// tokenizer_config.json.
  static Expected<std::unique_ptr<Tokenizer>>
  fromJson(const Source &tokenizer, const std::optional<Source> &config);

  ~Tokenizer();

  /// The ids of `text`. Any bytes will do: decode gives them back (unless
  /// tokenizer.json itself says to drop some).
  ///
  /// With `allowSpecial`, names of added tokens in the text become those
  /// tokens. Without, they are text like any other; this is for what users
  /// write, for it must not end a turn or begin one. All added tokens count,
  /// those that the file doesn't mark as special too: DeepSeek's role marks are
  /// such.
  ///
  /// Text that is not UTF-8: what stands before the first wrong byte is split
  /// as usual, then the last piece and everything after it are merged as one.
  ///
  /// Fails if the text is 4 GiB or more, or if a pattern of tokenizer.json
  /// takes too many steps on it; Kimi's never does.
  Expected<std::vector<int32_t>> encode(std::string_view text,
                                        bool allowSpecial) const;
  /// The ids of a prompt: encode with added tokens allowed, and the BOS token
  /// in front if it is to be added and the text does not begin with it already
  /// (a chat template may have written it).
  Expected<std::vector<int32_t>> encodePrompt(std::string_view text) const;

  /// The bytes of the tokens one after the other; they need not be UTF-8 (see
  /// StreamDecoder and replaceInvalidUtf8).
  std::string decode(std::span<const int32_t> ids) const;
  /// The bytes of a token: its name for an added one. Empty for ids that the
  /// tokenizer doesn't know: a model's vocabulary may be larger (padding rows).
  std::string_view bytes(int32_t id) const;

  /// The largest id plus one.
  int32_t size() const;
  /// The token that belongs before every text that has none, if any.
  std::optional<int32_t> bosToBeAdded() const;
  /// The added token of this name.
  std::optional<int32_t> addedToken(std::string_view name) const;
  bool isAddedToken(int32_t id) const;

private:
  explicit Tokenizer(std::unique_ptr<const TokenizerParts> parts);

  std::unique_ptr<const TokenizerParts> parts;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_TOKENIZER_H
