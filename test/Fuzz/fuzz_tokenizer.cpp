//===- fuzz_tokenizer.cpp - Tokenizer files and texts from anywhere -------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input: one byte that says what the rest is, then up to three parts that
// are divided by the byte 0xff. Part one is tiktoken.model or tokenizer.json,
// part two tokenizer_config.json, part three a text to be encoded.
//
//===----------------------------------------------------------------------===//

#include "text/StreamDecoder.h"
#include "text/Tokenizer.h"
#include "text/Utf8.h"

#include <algorithm>
#include <cstdlib>

using namespace moec::runtime;

/// Cuts what stands before the next divider from `rest`.
static std::string_view nextPart(std::string_view &rest) {
  std::size_t end = std::min(rest.find('\xff'), rest.size());
  std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

static void require(bool holds) {
  if (!holds)
    std::abort();
}

/// Encodes and decodes. `lossless`: the tokenizer keeps every byte.
static void useTokenizer(const Tokenizer &tokenizer, std::string_view text,
                         bool lossless) {
  for (bool allowSpecial : {false, true}) {
    Expected<std::vector<int32_t>> ids = tokenizer.encode(text, allowSpecial);
    if (!ids)
      continue;
    StreamDecoder stream(tokenizer);
    std::string streamed;
    for (int32_t id : *ids)
      streamed += stream.push(id);
    streamed += stream.finish();
    std::string decoded = tokenizer.decode(*ids);
    require(streamed == replaceInvalidUtf8(decoded));
    require(!lossless || decoded == text);
  }
}

/// A complete tiktoken.model: whatever the fuzzer adds comes after the bytes.
static std::string completeModel(std::string_view more) {
  static const char *alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string model;
  for (unsigned byte = 0; byte < 256; ++byte) {
    model += {alphabet[byte >> 2], alphabet[(byte & 3) << 4], '=', '='};
    model += " " + std::to_string(byte) + "\n";
  }
  return model.append(more);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, std::size_t size) {
  if (size == 0)
    return 0;
  std::string_view rest(reinterpret_cast<const char *>(data), size);
  auto kind = static_cast<unsigned char>(rest.front());
  rest.remove_prefix(1);
  std::string first(nextPart(rest));
  std::string_view second = nextPart(rest);

  if (kind % 2 == 0) {
    if (kind & 2)
      first = completeModel(first);
    auto tokenizer = Tokenizer::fromTiktoken({first, "tiktoken.model"},
                                             {second, "tokenizer_config.json"});
    if (tokenizer)
      useTokenizer(**tokenizer, rest, /*lossless=*/true);
    return 0;
  }
  std::optional<Tokenizer::Source> config;
  if (!second.empty())
    config = Tokenizer::Source{second, "tokenizer_config.json"};
  auto tokenizer = Tokenizer::fromJson({first, "tokenizer.json"}, config);
  if (tokenizer)
    useTokenizer(**tokenizer, rest, /*lossless=*/false);
  return 0;
}
