//===- Regex.h - Regular expressions with bounds ----------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_REGEX_H
#define MOEC_RUNTIME_LIB_TEXT_REGEX_H

#include "Status.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// PCRE2's own names, so that this header does not need its header.
struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace moec::runtime {

/// A compiled pattern over UTF-8 text with Unicode classes; compiled to machine
/// code where PCRE2 can. Read-only, may be shared between threads.
class Regex {
public:
  /// `pattern` is in PCRE2's syntax (see RegexSyntax.h for other syntaxes).
  static Expected<Regex> compile(const std::string &pattern);

private:
  friend class RegexMatcher;
  struct Free {
    void operator()(pcre2_real_code_8 *code) const;
  };
  using Code = std::unique_ptr<pcre2_real_code_8, Free>;
  explicit Regex(Code code) : code(std::move(code)) {}

  Code code;
};

/// The memory that matching needs, with bounds on steps and memory, so that no
/// pair of pattern and text runs for minutes. One per thread.
class RegexMatcher {
public:
  RegexMatcher();
  ~RegexMatcher();
  RegexMatcher(const RegexMatcher &) = delete;
  RegexMatcher &operator=(const RegexMatcher &) = delete;

  struct Match {
    std::size_t begin, end;
  };
  /// The first match at or after `start`, none, or a failure if a bound was
  /// reached. `text` is valid UTF-8, `start` at a character.
  Expected<std::optional<Match>> find(const Regex &regex, std::string_view text,
                                      std::size_t start);

private:
  pcre2_real_match_data_8 *data;
  pcre2_real_match_context_8 *context;
  pcre2_real_jit_stack_8 *stack;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_REGEX_H
