//===- Regex.cpp - Regular expressions with bounds ------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/Regex.h"

#include "Text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstdint>
#include <new>

using namespace moec::runtime;

/// Steps of one search: so many for each byte of the text and a constant for
/// short ones. The patterns of this family need one or two for each character.
static constexpr std::size_t stepsPerByte = 8;
static constexpr std::size_t constantSteps = 1'000'000;
/// In KiB, of the matcher that runs where there is no machine code.
static constexpr uint32_t maxHeap = 256 * 1024;
static constexpr std::size_t maxJitStack = std::size_t(64) << 20;
static constexpr std::size_t maxPatternBytes = 16 * 1024;

static std::string messageOf(int error) {
  PCRE2_UCHAR buffer[160];
  if (pcre2_get_error_message(error, buffer, sizeof buffer) < 0)
    return concat("error ", error);
  return reinterpret_cast<const char *>(buffer);
}

void Regex::Free::operator()(pcre2_real_code_8 *code) const {
  pcre2_code_free(code);
}

Expected<Regex> Regex::compile(const std::string &pattern) {
  if (pattern.size() > maxPatternBytes)
    return Status::invalidFile(concat("pattern has ", pattern.size(),
                                      " bytes, expected at most ",
                                      maxPatternBytes));
  int error;
  PCRE2_SIZE offset;
  // Only a line feed ends a line and ^ and $ stand at each line, as in the
  // syntax of tokenizer.json.
  std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)>
      context(pcre2_compile_context_create(nullptr),
              pcre2_compile_context_free);
  if (!context)
    throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()),
                          pattern.size(),
                          PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                              PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE,
                          &error, &offset, context.get()));
  if (!code)
    return Status::invalidFile(concat("pattern ", inQuotes(pattern), ", byte ",
                                      offset, ": ", messageOf(error)));
  // Without machine code (an unusual CPU, no executable memory) the
  // interpreter gives the same matches.
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  return Regex(std::move(code));
}

RegexMatcher::RegexMatcher()
    : data(pcre2_match_data_create(1, nullptr)),
      context(pcre2_match_context_create(nullptr)),
      stack(pcre2_jit_stack_create(32 * 1024, maxJitStack, nullptr)) {
  if (!data || !context)
    throw std::bad_alloc();
  pcre2_set_heap_limit(context, maxHeap);
  if (stack)
    pcre2_jit_stack_assign(context, nullptr, stack);
}

RegexMatcher::~RegexMatcher() {
  pcre2_jit_stack_free(stack);
  pcre2_match_context_free(context);
  pcre2_match_data_free(data);
}

Expected<std::optional<RegexMatcher::Match>>
RegexMatcher::find(const Regex &regex, std::string_view text,
                   std::size_t start) {
  std::size_t steps = constantSteps + stepsPerByte * text.size();
  pcre2_set_match_limit(
      context, static_cast<uint32_t>(std::min<std::size_t>(steps, UINT32_MAX)));
  int found =
      pcre2_match(regex.code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                  text.size(), start, PCRE2_NO_UTF_CHECK, data, context);
  if (found == PCRE2_ERROR_NOMATCH)
    return std::optional<Match>();
  if (found < 0)
    return Status::outOfRange(
        concat("splitting the text at byte ", start, ": ", messageOf(found)));
  const PCRE2_SIZE *range = pcre2_get_ovector_pointer(data);
  return std::optional<Match>({range[0], range[1]});
}
