//===- Utf8.h - Characters of UTF-8 text ------------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_UTF8_H
#define MOEC_RUNTIME_LIB_TEXT_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace moec::runtime {

/// What stands at the start of some bytes.
struct Utf8Step {
  enum Kind {
    Character, ///< a whole character
    Invalid,   ///< bytes that can't be part of a character
    Unfinished ///< the bytes end inside what could still become a character
  };
  Kind kind;
  /// Bytes of it. An invalid sequence is a maximal subpart (Unicode 3.9, table
  /// 3-8): the longest start of a character, or one byte.
  std::size_t length;
  char32_t codePoint; ///< of a Character
};

/// `bytes` is not empty.
Utf8Step nextUtf8(std::string_view bytes);

/// The length of the longest valid start of `bytes`.
std::size_t validUtf8Prefix(std::string_view bytes);

void appendUtf8(std::string &out, char32_t codePoint);

/// `bytes` with U+FFFD in place of each invalid sequence.
std::string replaceInvalidUtf8(std::string_view bytes);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_UTF8_H
