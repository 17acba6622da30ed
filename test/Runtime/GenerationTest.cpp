//===- GenerationTest.cpp - Tests of generation ---------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generation.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

using namespace moec::runtime;

/// The stand-in's next id is the sum of all ids so far mod 10; its manifest's
/// end-of-text id is 9.
class GenerationTest : public ::testing::Test {
protected:
  Expected<Generated> run(const std::vector<int32_t> &prompt,
                          int64_t maxNewTokens, int64_t maxContext = 0,
                          int64_t chunk = 512) {
    SessionOptions sessionOptions;
    sessionOptions.maxContext = maxContext;
    sessionOptions.maxTokens = chunk;
    Expected<std::unique_ptr<Session>> session =
        Session::create(*model.artifact, *model.weights, sessionOptions);
    if (!session)
      return session.status();
    GenerateOptions options;
    options.maxNewTokens = maxNewTokens;
    options.eosIds = {9};
    options.choose = argmax;
    options.onToken = [&](int32_t id) { streamed.push_back(id); };
    return generate(**session, prompt, options);
  }

  StandIn model;
  std::vector<int32_t> streamed;
};

TEST_F(GenerationTest, StopsAtItsLength) {
  Expected<Generated> result = run({1}, 5);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->ids, (std::vector<int32_t>{1, 2, 4, 8, 6}));
  EXPECT_EQ(result->ids, streamed);
  EXPECT_EQ(result->finishReason, "length");
  EXPECT_EQ(result->finishMessage, "");
  EXPECT_FALSE(result->ended);
}

TEST_F(GenerationTest, StopsAtAnEndOfText) {
  Expected<Generated> result = run({4, 5}, 5);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->ids, (std::vector<int32_t>{9}));
  EXPECT_EQ(result->finishReason, "stop");
  EXPECT_TRUE(result->ended);
}

TEST_F(GenerationTest, StopsWhereTheContextIsFull) {
  Expected<Generated> result = run({1, 1}, 50, /*maxContext=*/4);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->ids, (std::vector<int32_t>{2, 4, 8}));
  EXPECT_EQ(result->finishReason, "length");
  EXPECT_EQ(result->finishMessage, "the context is full: 4 of 4 tokens");
}

TEST_F(GenerationTest, DoesNotDependOnChunks) {
  std::vector<int32_t> prompt = {1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5};
  for (int64_t chunk : {1, 2, 3, 7, 11, 512}) {
    Expected<Generated> result = run(prompt, 3, /*maxContext=*/0, chunk);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->ids, (std::vector<int32_t>{4, 8, 6})) << chunk;
  }
}

TEST_F(GenerationTest, MayBeOfNothing) {
  Expected<Generated> result = run({1}, 0);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ids.empty());
  EXPECT_EQ(result->finishReason, "length");
}

TEST_F(GenerationTest, RefusesPromptsThatDoNotFit) {
  EXPECT_EQ(run({}, 5).status().message(),
            "the prompt is empty: there must be at least one token to go on "
            "from");
  EXPECT_EQ(run({1, 2, 3}, 5, /*maxContext=*/2).status().message(),
            "the prompt has 3 tokens, the context has 2");
  EXPECT_EQ(
      run({1, 2, 3, 10}, 5, /*maxContext=*/0, /*chunk=*/3).status().message(),
      "row 0 (position 3): token id 10 is outside the vocabulary, "
      "expected 0 to 9");
}

TEST_F(GenerationTest, FailsWhereNothingCanBeChosen) {
  Expected<std::unique_ptr<Session>> session =
      Session::create(*model.artifact, *model.weights, {});
  GenerateOptions options;
  options.choose = [](std::span<const float>) { return -1; };
  std::vector<int32_t> prompt = {1};
  Expected<Generated> result = generate(**session, prompt, options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("no token can be chosen"),
            std::string::npos);
}

TEST(EosIds, AreTheManifestsFirst) {
  Manifest manifest;
  TempFolder folder;
  writeFile(folder / "config.json", R"({"eos_token_id": 1})");
  EXPECT_EQ(*readEosIds(manifest, folder.path()), std::vector<int32_t>{1});
  writeFile(folder / "generation_config.json", R"({"eos_token_id": [2, 3]})");
  EXPECT_EQ(*readEosIds(manifest, folder.path()), (std::vector<int32_t>{2, 3}));
  manifest.eosIds = {4};
  EXPECT_EQ(*readEosIds(manifest, folder.path()), std::vector<int32_t>{4});
}

TEST(EosIds, MayBeNullOrNestedOrAbsent) {
  Manifest manifest;
  TempFolder folder;
  EXPECT_TRUE(readEosIds(manifest, folder.path())->empty());
  writeFile(folder / "generation_config.json", R"({"eos_token_id": null})");
  writeFile(folder / "config.json", R"({"text_config": {"eos_token_id": 7}})");
  EXPECT_EQ(*readEosIds(manifest, folder.path()), std::vector<int32_t>{7});
}

TEST(EosIds, AreNamedWhenWrong) {
  Manifest manifest;
  TempFolder folder;
  writeFile(folder / "generation_config.json", R"({"eos_token_id": -2})");
  Expected<std::vector<int32_t>> ids = readEosIds(manifest, folder.path());
  ASSERT_FALSE(ids.ok());
  EXPECT_NE(
      ids.status().message().find("generation_config.json: key 'eos_token_id'"),
      std::string::npos)
      << ids.status().message();
}

TEST(Argmax, TakesTheLowestOfEquals) {
  std::vector<float> values = {1, 3, 2, 3};
  EXPECT_EQ(argmax(values), 1);
}
