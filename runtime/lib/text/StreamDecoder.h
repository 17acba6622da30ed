//===- StreamDecoder.h - Text from token ids as they come -------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_STREAMDECODER_H
#define MOEC_RUNTIME_LIB_TEXT_STREAMDECODER_H

#include "text/Tokenizer.h"

#include <cstdint>
#include <string>

namespace moec::runtime {

/// Turns ids into text piece by piece. What it returns is always whole
/// characters of valid UTF-8: the start of a character is kept until its other
/// bytes come, and bytes that can't be part of a character become U+FFFD.
class StreamDecoder {
public:
  /// `tokenizer` outlives this object.
  explicit StreamDecoder(const Tokenizer &tokenizer) : tokenizer(tokenizer) {}

  /// The text that `id` completes; may be empty.
  std::string push(int32_t id);
  /// What is left at the end: U+FFFD if the last character never came whole.
  /// The object is as new afterwards.
  std::string finish();

private:
  const Tokenizer &tokenizer;
  std::string pending; ///< the unfinished start of one character
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_STREAMDECODER_H
