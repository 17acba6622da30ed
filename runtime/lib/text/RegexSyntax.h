//===- RegexSyntax.h - Patterns of tokenizer.json for PCRE2 -----*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_REGEXSYNTAX_H
#define MOEC_RUNTIME_LIB_TEXT_REGEXSYNTAX_H

#include "Status.h"

#include <string>
#include <string_view>

namespace moec::runtime {

/// Translates a pattern of tokenizer.json, which means what the Oniguruma
/// library reads in it, into PCRE2's syntax. What the two read differently is
/// translated (\s, \w, \uHHHH, scripts) or refused by name (class intersections
/// and nested classes, \h, inline options...); the rest is the same in both.
Expected<std::string> translateRegex(std::string_view pattern);

/// A pattern that matches `text` and nothing else.
std::string literalRegex(std::string_view text);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_REGEXSYNTAX_H
