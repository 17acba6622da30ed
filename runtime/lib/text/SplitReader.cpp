//===- SplitReader.cpp - The pre-tokenizer of tokenizer.json --------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/SplitReader.h"

#include "Text.h"
#include "text/RegexSyntax.h"

#include <algorithm>
#include <array>

using namespace moec::runtime;

/// What ByteLevel splits by when its use_regex is true: GPT-2's rule.
static constexpr std::string_view byteLevelPattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+"
    "|\\s+(?!\\S)|\\s+";

static void checkNormalizer(const JsonCursor &normalizer) {
  if (normalizer.isNull())
    return;
  const std::string &type = normalizer["type"].text();
  if (type != "Sequence")
    normalizer["type"].unsupported(
        concat("component ", inQuotes(type), " is not supported"));
  for (const JsonCursor &part : normalizer["normalizers"].elements())
    checkNormalizer(part);
}

namespace {

class SplitReader {
public:
  void read(const JsonCursor &component) {
    if (component.isNull())
      component.expected("components that end in 'ByteLevel'");
    const std::string &type = component["type"].text();
    if (type == "Sequence") {
      for (const JsonCursor &part : component["pretokenizers"].elements())
        read(part);
      return;
    }
    if (ended)
      component.unsupported(concat("component ", inQuotes(type),
                                   " after 'ByteLevel' is not ", "supported"));
    if (type == "Split")
      return readSplit(component);
    if (type == "Digits")
      return readDigits(component);
    if (type == "ByteLevel")
      return readByteLevel(component);
    component["type"].unsupported(
        concat("component ", inQuotes(type), " is not supported"));
  }

  bool ended = false; ///< by ByteLevel
  std::vector<SplitStage> stages;

private:
  void readSplit(const JsonCursor &split) {
    JsonCursor pattern = split["pattern"];
    JsonCursor literal = pattern["String"], regex = pattern["Regex"];
    SplitBehavior behavior = readBehavior(split["behavior"]);
    bool invert = split["invert"].flag(false);
    if (!literal.isNull()) {
      if (literal.text().empty())
        literal.expected("a text that is not empty");
      return add(literal, literalRegex(literal.text()), behavior, invert);
    }
    if (regex.isNull())
      pattern.expected("an object with 'String' or 'Regex'");
    add(regex, translated(regex, regex.text()), behavior, invert);
  }

  static SplitBehavior readBehavior(const JsonCursor &behavior) {
    static constexpr std::array<std::string_view, 5> names = {
        "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
        "Contiguous"};
    auto found = std::find(names.begin(), names.end(), behavior.text());
    if (found == names.end())
      behavior.expected("Removed, Isolated, MergedWithPrevious, "
                        "MergedWithNext or Contiguous");
    return static_cast<SplitBehavior>(found - names.begin());
  }

  void readDigits(const JsonCursor &digits) {
    bool individual = digits["individual_digits"].flag(false);
    add(digits, "\\p{N}",
        individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous,
        /*invert=*/false);
  }

  void readByteLevel(const JsonCursor &byteLevel) {
    if (byteLevel["add_prefix_space"].flag(true))
      byteLevel["add_prefix_space"].unsupported(
          "found true (the default), supported is false");
    if (byteLevel["use_regex"].flag(true))
      add(byteLevel, translated(byteLevel, byteLevelPattern),
          SplitBehavior::Isolated, /*invert=*/false);
    ended = true;
  }

  static std::string translated(const JsonCursor &place,
                                std::string_view pattern) {
    Expected<std::string> result = translateRegex(pattern);
    if (!result)
      place.unsupported(result.status().message());
    return std::move(*result);
  }

  void add(const JsonCursor &place, const std::string &pattern,
           SplitBehavior behavior, bool invert) {
    Expected<Regex> regex = Regex::compile(pattern);
    if (!regex)
      place.invalid(regex.status().message());
    stages.push_back({std::move(*regex), behavior, invert});
  }
};

} // namespace

Splitter moec::runtime::readSplitter(const JsonCursor &normalizer,
                                     const JsonCursor &preTokenizer) {
  checkNormalizer(normalizer);
  SplitReader reader;
  reader.read(preTokenizer);
  if (!reader.ended)
    preTokenizer.unsupported(
        "a pre-tokenizer without 'ByteLevel' is not supported");
  return Splitter(std::move(reader.stages));
}
