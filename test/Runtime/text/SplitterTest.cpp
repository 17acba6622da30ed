//===- SplitterTest.cpp - Patterns and pieces -----------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/Splitter.h"
#include "text/RegexSyntax.h"

#include <gtest/gtest.h>

using namespace moec::runtime;

namespace {

using Pieces = std::vector<std::string>;

Pieces split(std::string_view pattern, SplitBehavior behavior, bool invert,
             std::string_view text) {
  Expected<std::string> translated = translateRegex(pattern);
  EXPECT_TRUE(translated) << translated.status().message();
  Expected<Regex> regex = Regex::compile(*translated);
  EXPECT_TRUE(regex) << regex.status().message();
  std::vector<SplitStage> stages;
  stages.push_back({std::move(*regex), behavior, invert});
  RegexMatcher matcher;
  std::vector<std::string_view> pieces;
  Status status = Splitter(std::move(stages)).split(text, matcher, pieces);
  EXPECT_TRUE(status) << status.message();
  return {pieces.begin(), pieces.end()};
}

TEST(Splitter, Behaviors) {
  auto with = [](SplitBehavior behavior, bool invert = false) {
    return split("-", behavior, invert, "a--b-");
  };
  EXPECT_EQ(with(SplitBehavior::Removed), (Pieces{"a", "b"}));
  EXPECT_EQ(with(SplitBehavior::Isolated), (Pieces{"a", "-", "-", "b", "-"}));
  EXPECT_EQ(with(SplitBehavior::MergedWithPrevious), (Pieces{"a-", "-", "b-"}));
  EXPECT_EQ(with(SplitBehavior::MergedWithNext), (Pieces{"a", "-", "-b", "-"}));
  EXPECT_EQ(with(SplitBehavior::Contiguous), (Pieces{"a", "--", "b", "-"}));
  EXPECT_EQ(with(SplitBehavior::Removed, /*invert=*/true),
            (Pieces{"-", "-", "-"}));
  EXPECT_EQ(with(SplitBehavior::MergedWithNext, /*invert=*/true),
            (Pieces{"a-", "-", "b-"}));
}

TEST(Splitter, EmptyMatchesDivide) {
  EXPECT_EQ(split("x*", SplitBehavior::Isolated, false, "axxé"),
            (Pieces{"a", "xx", "é"}));
}

TEST(Splitter, HardPatternsFailInsteadOfRunningOn) {
  Expected<Regex> regex = Regex::compile("(?:x+x+)+[yz]");
  ASSERT_TRUE(regex);
  RegexMatcher matcher;
  auto found = matcher.find(*regex, std::string(200, 'x') + "w", 0);
  ASSERT_FALSE(found);
  EXPECT_NE(found.status().message().find("byte 0"), std::string::npos);
}

TEST(RegexSyntax, WhatTheSyntaxesReadDifferently) {
  auto pieces = [](std::string_view pattern, std::string_view text) {
    return split(pattern, SplitBehavior::Isolated, false, text);
  };
  // The Mongolian vowel separator is no white space; the ideographic one is.
  EXPECT_EQ(pieces("\\s", "a\u180eb\u3000c"),
            (Pieces{"a\u180eb", "\u3000", "c"}));
  // The script, without the punctuation that Han texts share with others.
  EXPECT_EQ(pieces("\\p{Han}+", "世、界"), (Pieces{"世", "、", "界"}));
  EXPECT_EQ(pieces("\\u4e16", "a世b"), (Pieces{"a", "世", "b"}));
  EXPECT_EQ(pieces("\\w+", "a\u0301_1-"), (Pieces{"a\u0301_1", "-"}));
  EXPECT_EQ(pieces("[^\\w]", "a-b"), (Pieces{"a", "-", "b"}));
  EXPECT_EQ(pieces("^b", "a\nb"), (Pieces{"a\n", "b"}));
}

TEST(RegexSyntax, RefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[a&&b]", "'&&'"},         {"[a[b]]", "a class inside"},
      {"[]", "an empty class"},   {"[a", "without its ']'"},
      {"\\h", "'\\h'"},           {"\\1", "'\\1'"},
      {"\\K", "'\\K'"},           {"(?i)a", "'(?i)'"},
      {"(?<n>a)", "'(?<n'"},      {"(*UCP)a", "'(*UC'"},
      {"(?R)", "'(?R)'"},         {"a{,3}", "least number"},
      {"a{1,3}+", "'+' after"},   {"[\\W]", "'\\W' in a class"},
      {"\\pL", "without '{'"},    {"\\p{L", "without its '}'"},
      {"\\p{a=b}", "'a=b'"},      {"\\u12", "four hexadecimal"},
      {"a\\", "'\\' at the end"},
  };
  for (const auto &[pattern, message] : cases) {
    Expected<std::string> translated = translateRegex(pattern);
    ASSERT_FALSE(translated) << pattern;
    EXPECT_EQ(translated.status().code(), MOEC_UNSUPPORTED);
    EXPECT_NE(translated.status().message().find(message), std::string::npos)
        << translated.status().message();
  }
}

TEST(RegexSyntax, Literal) {
  EXPECT_EQ(literalRegex("a.b\\[c]{2}"), "a\\.b\\\\\\[c\\]\\{2\\}");
}

} // namespace
