//===- TokenizerTest.cpp - What holds for every text ----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestTokenizers.h"

#include "text/BytePairEncoder.h"
#include "text/KimiSlicer.h"
#include "text/Utf8.h"

#include <algorithm>
#include <array>
#include <random>

using namespace moec::runtime;

namespace {

void expectRoundTrip(const std::string &text) {
  for (const Tokenizer *tokenizer : {&kimi(), &byteLevel()})
    for (bool allowSpecial : {false, true})
      EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, text, allowSpecial)),
                text);
}

TEST(Tokenizer, RandomBytesComeBack) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 80, '\0');
    // Every other text is mostly ASCII, so that words and bad bytes meet.
    for (char &byte : text)
      byte = static_cast<char>(round % 2 && random() % 8 ? 32 + random() % 95
                                                         : random() % 256);
    expectRoundTrip(text);
  }
}

TEST(Tokenizer, RandomCharactersComeBack) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (unsigned count = random() % 40; count > 0; --count) {
      char32_t limit =
          std::array{0x80u, 0x3000u, 0x10000u, 0x110000u}[random() % 4];
      char32_t codePoint = random() % limit;
      if (codePoint < 0xd800 || codePoint >= 0xe000)
        appendUtf8(text, codePoint);
    }
    expectRoundTrip(text);
  }
}

// The bytes of one token are given back by encode as bytes again, whatever
// they are.
TEST(Tokenizer, EveryTokenComesBack) {
  for (const Tokenizer *tokenizer : {&kimi(), &byteLevel()})
    for (int32_t id = 0; id < tokenizer->size(); ++id) {
      std::string bytes(tokenizer->bytes(id));
      EXPECT_FALSE(bytes.empty()) << id;
      EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, bytes)), bytes);
    }
}

TEST(Tokenizer, ReservedNamesAreOneTokenOnlyIfAllowed) {
  const std::string name = "<|reserved_token_1797|>";
  EXPECT_EQ(encoded(kimi(), name, /*allowSpecial=*/true), Ids{1797});
  EXPECT_GT(encoded(kimi(), name).size(), 1u);
  EXPECT_EQ(kimi().decode(Ids{1797}), name);
  EXPECT_EQ(kimi().addedToken(name), 1797);
  EXPECT_TRUE(kimi().isAddedToken(1797));
  EXPECT_FALSE(kimi().isAddedToken(1791));
  EXPECT_EQ(kimi().size(), 2048);
}

// Ends and beginnings of turns in what a user writes stay text.
TEST(Tokenizer, NamesInContentAreText) {
  for (int32_t id : encoded(kimi(), "a<|im_end|><|im_system|>b"))
    EXPECT_FALSE(kimi().isAddedToken(id));
  for (int32_t id : encoded(byteLevel(), "a<｜Assistant｜>b<think>"))
    EXPECT_FALSE(byteLevel().isAddedToken(id));
}

TEST(Tokenizer, LongestNameWins) {
  std::optional<int32_t> think = byteLevel().addedToken("<think>");
  ASSERT_TRUE(think);
  EXPECT_EQ(encoded(byteLevel(), "<think>", /*allowSpecial=*/true),
            Ids{*think});
}

TEST(Tokenizer, UnknownIdsAreNoText) {
  for (const Tokenizer *tokenizer : {&kimi(), &byteLevel()})
    for (int32_t id : {-1, tokenizer->size(), INT32_MAX, INT32_MIN})
      EXPECT_EQ(tokenizer->decode(Ids{id}), "");
}

TEST(Tokenizer, OneBosInFrontOfPrompts) {
  EXPECT_EQ(kimi().bosToBeAdded(), std::nullopt);
  EXPECT_EQ(byteLevel().bosToBeAdded(), 0);
  std::string bos(byteLevel().bytes(0));
  for (const std::string &prompt : {std::string("text"), bos + "text"}) {
    Expected<Ids> ids = byteLevel().encodePrompt(prompt);
    ASSERT_TRUE(ids);
    EXPECT_EQ(byteLevel().decode(*ids), bos + "text");
    EXPECT_EQ(std::count(ids->begin(), ids->end(), 0), 1);
  }
  EXPECT_EQ(*byteLevel().encodePrompt(""), Ids{0});
  EXPECT_EQ(*kimi().encodePrompt(""), Ids{});
}

TEST(Tokenizer, LongRunsComeBack) {
  const std::size_t million = 1'000'000;
  for (const char *unit : {"a", " ", "世", "\n", "\xff", "a ", "A", "\xcc\x81"})
    for (const Tokenizer *tokenizer : {&kimi(), &byteLevel()}) {
      std::string text;
      while (text.size() < million)
        text += unit;
      EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, text)), text) << unit;
    }
}

// The work is counted, not timed: each byte and each join looks at no more than
// two pairs.
TEST(BytePairEncoder, WorkIsLinear) {
  const std::vector<std::string> runs = {"a", "aa", "aaaa", "aaaaaaaa"};
  BytePairEncoder encoder;
  for (std::size_t id = 0; id < runs.size(); ++id)
    encoder.addToken(runs[id], static_cast<int32_t>(id));
  encoder.setByte('a', 0);
  encoder.mergeByBytes();
  const std::size_t million = 1'000'000;
  BytePairEncoder::Scratch scratch;
  Ids ids;
  encoder.encode(std::string(million, 'a'), scratch, ids);
  EXPECT_EQ(ids, Ids(million / 8, 3));
  EXPECT_LE(scratch.lookups, 3 * million);
}

TEST(KimiSlicer, CutsAtTheLimits) {
  auto lengths = [](const std::string &text) {
    std::vector<std::size_t> result;
    KimiSlicer slicer(text);
    while (auto slice = slicer.next())
      result.push_back(slice->size());
    return result;
  };
  using Lengths = std::vector<std::size_t>;
  std::string words;
  while (words.size() < 400'001)
    words += "ab ";
  std::string run(25'000, 'a'), spaces(25'000, ' ');
  EXPECT_EQ(lengths(""), Lengths{});
  EXPECT_EQ(lengths(words), (Lengths{400'000, words.size() - 400'000}));
  EXPECT_EQ(lengths(run), Lengths{25'000});
  EXPECT_EQ(lengths(run + "a"), (Lengths{25'000, 1}));
  EXPECT_EQ(lengths(run + spaces + run), Lengths{75'000});
  EXPECT_EQ(lengths("x " + run + "世" + spaces),
            (Lengths{2 + 25'000, 3 + 25'000}));
}

TEST(Tokenizer, FirstFolderWithFilesWins) {
  auto both = Tokenizer::open({testModels(), byteLevelFolder(), kimiFolder()});
  ASSERT_TRUE(both);
  EXPECT_EQ((*both)->size(), byteLevel().size());
  auto none = Tokenizer::open({testModels()});
  ASSERT_FALSE(none);
  EXPECT_NE(none.status().message().find(testModels().string()),
            std::string::npos);
  EXPECT_FALSE(Tokenizer::open({}));
}

} // namespace
