//===- KimiSlicer.h - How Kimi's tokenizer cuts its input -------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_KIMISLICER_H
#define MOEC_RUNTIME_LIB_TEXT_KIMISLICER_H

#include <cstddef>
#include <optional>
#include <string_view>

namespace moec::runtime {

/// Cuts text as Kimi's tokenizer does before all else: every 400,000
/// characters, and inside of these where a run of white space, or a run of
/// anything else, would exceed 25,000. A name of an added token that a cut goes
/// through is not found, as in the original; whoever puts long texts of others
/// between added tokens encodes them apart.
/// A byte that is not UTF-8 counts as a character that is no space.
class KimiSlicer {
public:
  static constexpr std::size_t maxCharacters = 400'000;
  static constexpr std::size_t maxRun = 25'000;

  explicit KimiSlicer(std::string_view text) : rest(text) {}

  /// The next slice, none at the end; slices are not empty.
  std::optional<std::string_view> next();

private:
  std::string_view rest;
  /// Characters taken from the current 400,000.
  std::size_t taken = 0;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_KIMISLICER_H
