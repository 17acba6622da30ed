//===- Splitter.h - Text into the pieces that merges stay inside of -*- C++
//-*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_SPLITTER_H
#define MOEC_RUNTIME_LIB_TEXT_SPLITTER_H

#include "text/Regex.h"

#include <string_view>
#include <vector>

namespace moec::runtime {

/// What becomes of the matches of a split. Named as in tokenizer.json.
enum class SplitBehavior {
  Removed,            ///< matches are dropped
  Isolated,           ///< each match is a piece
  MergedWithPrevious, ///< a match ends the piece before it
  MergedWithNext,     ///< a match begins the piece after it
  Contiguous          ///< neighbouring matches are one piece
};

struct SplitStage {
  Regex regex;
  SplitBehavior behavior = SplitBehavior::Isolated;
  bool invert = false; ///< what lies between the matches takes their part
};

/// Cuts text stage after stage: each works on the pieces of the one before, and
/// sees nothing beyond a piece's ends.
class Splitter {
public:
  Splitter() = default;
  explicit Splitter(std::vector<SplitStage> stages)
      : stages(std::move(stages)) {}

  /// Replaces `pieces` by those of `text`, which is valid UTF-8. Fails when a
  /// pattern takes too many steps on it.
  Status split(std::string_view text, RegexMatcher &matcher,
               std::vector<std::string_view> &pieces) const;

private:
  std::vector<SplitStage> stages;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_SPLITTER_H
