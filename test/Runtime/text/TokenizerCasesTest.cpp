//===- TokenizerCasesTest.cpp - Ids that other tokenizers gave ------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tiny-kimi/tokenizer_cases.json comes from the Python package tiktoken,
// tokenizers/byte-level/cases.json from the package tokenizers.
//
//===----------------------------------------------------------------------===//

#include "TestTokenizers.h"

#include <nlohmann/json.hpp>

using namespace moec::runtime;
using nlohmann::json;

namespace {

struct Case {
  std::string bytes;
  Ids ids;
};

json readJson(const std::filesystem::path &path) {
  return json::parse(readText(path));
}

std::vector<Case> casesOf(const json &list) {
  std::vector<Case> cases;
  for (const json &entry : list) {
    Case one{entry.value("text", ""), entry["ids"].get<Ids>()};
    if (entry.contains("hex")) {
      std::string hex = entry["hex"];
      one.bytes.clear();
      for (std::size_t at = 0; at < hex.size(); at += 2)
        one.bytes += static_cast<char>(
            std::stoi(hex.substr(at, 2), nullptr, /*base=*/16));
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

void expectCases(const Tokenizer &tokenizer, const std::vector<Case> &cases,
                 bool allowSpecial) {
  for (const Case &one : cases) {
    EXPECT_EQ(encoded(tokenizer, one.bytes, allowSpecial), one.ids)
        << one.bytes;
    EXPECT_EQ(tokenizer.decode(one.ids), one.bytes);
  }
}

TEST(TokenizerCases, Kimi) {
  json cases = readJson(kimiFolder() / "tokenizer_cases.json");
  ASSERT_EQ(cases["plain"].size(), 188u);
  ASSERT_EQ(cases["with_special"].size(), 8u);
  ASSERT_EQ(cases["bytes"].size(), 5u);
  expectCases(kimi(), casesOf(cases["plain"]), /*allowSpecial=*/false);
  expectCases(kimi(), casesOf(cases["with_special"]), /*allowSpecial=*/true);
  expectCases(kimi(), casesOf(cases["bytes"]), /*allowSpecial=*/false);
}

TEST(TokenizerCases, KimiPrompts) {
  for (const json &entry : readJson(kimiFolder() / "expected.json")) {
    std::string prompt = entry["prompt"];
    EXPECT_EQ(encoded(kimi(), prompt), entry["prompt_ids"].get<Ids>());
    EXPECT_EQ(kimi().decode(entry["greedy_ids"].get<Ids>()),
              entry["text"].get<std::string>());
  }
}

TEST(TokenizerCases, ByteLevel) {
  json cases = readJson(byteLevelFolder() / "cases.json");
  ASSERT_GE(cases.size(), 150u);
  expectCases(byteLevel(), casesOf(cases), /*allowSpecial=*/true);
}

} // namespace
