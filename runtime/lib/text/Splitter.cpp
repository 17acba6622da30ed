//===- Splitter.cpp - Text into the pieces that merges stay inside of -----===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/Splitter.h"

#include "text/Utf8.h"

using namespace moec::runtime;

namespace {
struct Range {
  std::size_t begin, end;
  bool match;
};
} // namespace

/// Covers `text` with matches and what lies between them. Empty matches count:
/// they divide what they stand in.
static Status findRanges(const SplitStage &stage, std::string_view text,
                         RegexMatcher &matcher, std::vector<Range> &ranges) {
  std::size_t covered = 0, start = 0;
  while (start <= text.size()) {
    auto found = matcher.find(stage.regex, text, start);
    if (!found)
      return found.status();
    if (!*found)
      break;
    auto [begin, end] = **found;
    bool empty = begin == end;
    // An empty match at the end of the match before is none.
    bool repeats = empty && begin == covered && covered != 0;
    if (!repeats) {
      if (covered != begin)
        ranges.push_back({covered, begin, false});
      ranges.push_back({begin, end, true});
      covered = end;
    }
    start = end;
    if (empty)
      start += end < text.size() ? nextUtf8(text.substr(end)).length : 1;
  }
  if (covered != text.size())
    ranges.push_back({covered, text.size(), false});
  return {};
}

/// Joins neighbours of `ranges` as the behavior says.
static void joinRanges(SplitBehavior behavior, std::vector<Range> &ranges) {
  auto joins = [&](const Range &before, const Range &after) {
    switch (behavior) {
    case SplitBehavior::MergedWithPrevious:
      return after.match && !before.match;
    case SplitBehavior::MergedWithNext:
      return before.match && !after.match;
    case SplitBehavior::Contiguous:
      return before.match == after.match;
    case SplitBehavior::Removed:
    case SplitBehavior::Isolated:
      return false;
    }
    return false;
  };
  std::vector<Range> joined;
  for (const Range &range : ranges) {
    if (!joined.empty() && joins(joined.back(), range)) {
      joined.back().end = range.end;
      joined.back().match = range.match;
    } else {
      joined.push_back(range);
    }
  }
  ranges = std::move(joined);
}

Status Splitter::split(std::string_view text, RegexMatcher &matcher,
                       std::vector<std::string_view> &pieces) const {
  pieces.clear();
  if (!text.empty())
    pieces.push_back(text);
  std::vector<std::string_view> next;
  std::vector<Range> ranges;
  for (const SplitStage &stage : stages) {
    next.clear();
    for (std::string_view piece : pieces) {
      ranges.clear();
      if (Status status = findRanges(stage, piece, matcher, ranges); !status)
        return status;
      for (Range &range : ranges)
        range.match ^= stage.invert;
      if (stage.behavior != SplitBehavior::Isolated)
        joinRanges(stage.behavior, ranges);
      for (const Range &range : ranges) {
        bool removed = range.match && stage.behavior == SplitBehavior::Removed;
        if (range.begin != range.end && !removed)
          next.push_back(piece.substr(range.begin, range.end - range.begin));
      }
    }
    std::swap(pieces, next);
  }
  return {};
}
