//===- KimiSlicer.cpp - How Kimi's tokenizer cuts its input ---------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/KimiSlicer.h"

#include "text/Utf8.h"

using namespace moec::runtime;

/// What Python's str.isspace says: Unicode's white space and four separators of
/// ASCII.
static bool isSpace(char32_t codePoint) {
  return (codePoint >= 0x09 && codePoint <= 0x0d) ||
         (codePoint >= 0x1c && codePoint <= 0x20) || codePoint == 0x85 ||
         codePoint == 0xa0 || codePoint == 0x1680 ||
         (codePoint >= 0x2000 && codePoint <= 0x200a) || codePoint == 0x2028 ||
         codePoint == 0x2029 || codePoint == 0x202f || codePoint == 0x205f ||
         codePoint == 0x3000;
}

std::optional<std::string_view> KimiSlicer::next() {
  if (rest.empty())
    return std::nullopt;
  std::size_t end = 0, run = 0;
  bool runIsSpace = false;
  while (end < rest.size() && taken < maxCharacters) {
    Utf8Step step = nextUtf8(rest.substr(end));
    bool whole = step.kind == Utf8Step::Character;
    bool space = whole && isSpace(step.codePoint);
    run = space == runIsSpace ? run + 1 : 1;
    runIsSpace = space;
    if (run > maxRun)
      break;
    end += whole ? step.length : 1;
    ++taken;
  }
  if (taken == maxCharacters)
    taken = 0;
  std::string_view slice = rest.substr(0, end);
  rest.remove_prefix(end);
  return slice;
}
