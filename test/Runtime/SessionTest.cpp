//===- SessionTest.cpp - Tests of sessions --------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Generation.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace moec::runtime;

class SessionTest : public ::testing::Test {
protected:
  void open(const SessionOptions &options) {
    Expected<std::unique_ptr<Session>> created =
        Session::create(*model.artifact, *model.weights, options);
    ASSERT_TRUE(created.ok()) << created.status().message();
    session = *std::move(created);
  }
  std::string failureOf(const SessionOptions &options) {
    return Session::create(*model.artifact, *model.weights, options)
        .status()
        .message();
  }
  /// Appends ids to one sequence; the sum that the stand-in found.
  int32_t append(int32_t sequence, std::vector<int32_t> ids) {
    SequenceRows rows = {sequence, ids, LogitRows::last};
    Status status = session->step({&rows, 1});
    EXPECT_TRUE(status.ok()) << status.message();
    return status ? argmax(session->logits(0)) : -1;
  }
  std::string appendFailure(int32_t sequence, std::vector<int32_t> ids) {
    SequenceRows rows = {sequence, ids, LogitRows::last};
    return session->step({&rows, 1}).message();
  }

  StandIn model;
  std::unique_ptr<Session> session;
};

TEST_F(SessionTest, FindsEarlierTokensThroughPages) {
  for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), {1}, {2}}) {
    SessionOptions options;
    options.shufflePages = seed;
    options.threads = 2;
    open(options);
    int32_t sequence = *session->addSequence();
    EXPECT_EQ(append(sequence, {1, 2, 3}), 6);
    EXPECT_EQ(append(sequence, {4, 5, 6, 7, 8}), 6);
    for (int32_t sum = 36; session->length(sequence) < 64;)
      EXPECT_EQ(append(sequence, {3}), (sum += 3) % 10);
  }
}

TEST_F(SessionTest, MixesPrefillAndDecode) {
  SessionOptions options;
  options.maxSequences = 3;
  open(options);
  int32_t first = *session->addSequence();
  int32_t second = *session->addSequence();
  append(first, {1, 2, 3, 4, 5}); // 15
  std::vector<int32_t> prompt = {1, 1, 1, 1, 1, 1};
  std::vector<int32_t> token = {7};
  SequenceRows batch[] = {{second, prompt, LogitRows::all},
                          {first, token, LogitRows::last}};
  ASSERT_TRUE(session->step(batch).ok());
  EXPECT_EQ(session->numTokens(), 7);
  ASSERT_EQ(session->numLogits(), 7);
  for (int32_t row = 0; row < 6; ++row)
    EXPECT_EQ(argmax(session->logits(row)), row + 1);
  EXPECT_EQ(argmax(session->logits(6)), 22 % 10);
  EXPECT_EQ(session->length(first), 6);
  EXPECT_EQ(session->length(second), 6);
}

TEST_F(SessionTest, GivesPagesBack) {
  SessionOptions options;
  options.maxSequences = 2;
  options.cachePages = 3;
  open(options);
  int32_t first = *session->addSequence();
  int32_t second = *session->addSequence();
  append(first, {1, 1, 1, 1, 1});
  append(second, {2, 2, 2, 2});
  EXPECT_EQ(appendFailure(second, {2}),
            "the step needs 1 more pages of the cache, 0 are free");
  session->releaseSequence(first);
  EXPECT_EQ(append(second, {2}), 0);
  EXPECT_EQ(*session->addSequence(), first);
  EXPECT_EQ(session->length(first), 0);
}

TEST_F(SessionTest, KnowsWhenTheContextIsFull) {
  SessionOptions options;
  options.maxContext = 6;
  open(options);
  int32_t sequence = *session->addSequence();
  append(sequence, {1, 2, 3, 4, 5});
  EXPECT_EQ(appendFailure(sequence, {6, 7}),
            "sequence 0 would have 5 + 2 tokens, the context has 6");
  EXPECT_EQ(append(sequence, {6}), 1);
}

TEST_F(SessionTest, LeavesLengthsAfterAFailure) {
  SessionOptions options;
  open(options);
  int32_t sequence = *session->addSequence();
  append(sequence, {1, 2});
  EXPECT_EQ(appendFailure(sequence, {3, 10}),
            "row 1 (position 3): token id 10 is outside the vocabulary, "
            "expected 0 to 9");
  EXPECT_EQ(session->length(sequence), 2);
  EXPECT_EQ(append(sequence, {4}), 7);
}

TEST_F(SessionTest, RefusesBatchesThatMakeNoSense) {
  SessionOptions options;
  options.maxTokens = 4;
  open(options);
  int32_t sequence = *session->addSequence();
  EXPECT_EQ(appendFailure(sequence, {}),
            "sequence 0 has no tokens in this step");
  EXPECT_EQ(appendFailure(7, {1}), "there is no sequence 7");
  EXPECT_EQ(appendFailure(-1, {1}), "there is no sequence -1");
  EXPECT_EQ(appendFailure(sequence, {1, 2, 3, 4, 5}),
            "a step of 5 tokens, the session allows 4");
  EXPECT_EQ(session->step({}).message(),
            "the batch has 0 tokens, expected at least 1");
  std::vector<int32_t> token = {1};
  SequenceRows twice[] = {{sequence, token}, {sequence, token}};
  EXPECT_EQ(session->step(twice).message(),
            "sequence 0 stands twice in this step");
  EXPECT_EQ(session->addSequence().status().message(),
            "all 1 sequences of the session are in use");
}

TEST_F(SessionTest, ChecksItsOptions) {
  SessionOptions options;
  options.maxContext = 65;
  EXPECT_EQ(failureOf(options),
            "a context of 65 tokens, the model has 1 to 64");
  options = SessionOptions();
  options.maxTokens = 0;
  EXPECT_NE(failureOf(options).find("0 tokens per step"), std::string::npos);
  options = SessionOptions();
  options.cachePages = int64_t(1) << 40;
  EXPECT_NE(failureOf(options).find("a cache of"), std::string::npos);
  options = SessionOptions();
  options.variant = "future";
  EXPECT_NE(failureOf(options).find("future needs no-such-feature"),
            std::string::npos);
  options.variant = "v9";
  EXPECT_NE(failureOf(options).find("no code variant 'v9'"), std::string::npos);
}

TEST(SessionTaps, AreOfTheLastStep) {
  StandIn model(standInManifestWithTaps());
  SessionOptions options;
  options.cacheFill = std::byte(0xff);
  Expected<std::unique_ptr<Session>> session =
      Session::create(*model.artifact, *model.weights, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::vector<int32_t> ids = {4, 5};
  SequenceRows rows = {*(*session)->addSequence(), ids, LogitRows::none};
  ASSERT_TRUE((*session)->step({&rows, 1}).ok());
  const auto *taps = reinterpret_cast<const int32_t *>((*session)->taps());
  EXPECT_EQ(std::vector<int32_t>(taps, taps + 4),
            (std::vector<int32_t>{4, 0, 5, 1}));
}
