//===- BatchTest.cpp - Tests of batch checks ------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch.h"

#include <gtest/gtest.h>

#include <functional>

using namespace moec::runtime;

namespace {

/// A valid batch of 4 rows: sequence 1 with positions 5 to 7, sequence 0 with
/// position 0; 10 ids, pages of 4 tokens, 6 pages in the cache.
struct Arrays {
  std::vector<int32_t> ids = {1, 2, 3, 9};
  std::vector<int32_t> positions = {5, 6, 7, 0};
  std::vector<int32_t> sequences = {1, 1, 1, 0};
  std::vector<int32_t> pageTable = {3, -1, -1, 0, 5, -1};
  std::vector<int32_t> logitRows = {2, 3};
  moec_batch batch = {};

  moec_code check(moec_error &error, int64_t maxTokens = 8) {
    moec_batch full = batch;
    full.num_tokens = static_cast<int64_t>(ids.size()) + batch.num_tokens;
    full.num_sequences = 2 + batch.num_sequences;
    full.num_logits = static_cast<int64_t>(logitRows.size()) + batch.num_logits;
    full.token_ids = ids.data();
    full.positions = positions.data();
    full.sequences = sequences.data();
    full.page_table = pageTable.data();
    full.page_table_stride = 3 + batch.page_table_stride;
    full.logit_rows = logitRows.data();
    moec_plan plan = {};
    plan.vocab_size = 10;
    plan.max_context = 9;
    plan.page_size = 4;
    BatchChecker checker(plan, /*cachePages=*/6, maxTokens);
    return checker.check(full, &error);
  }
};

struct Broken {
  const char *name;
  std::function<void(Arrays &)> edit;
  moec_code code;
  const char *message;
};

class BrokenBatch : public ::testing::TestWithParam<Broken> {};

} // namespace

TEST_P(BrokenBatch, IsRefused) {
  Arrays arrays;
  GetParam().edit(arrays);
  moec_error error = {};
  EXPECT_EQ(arrays.check(error), GetParam().code);
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_STREQ(error.message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenBatch,
    ::testing::Values(
        Broken{"NoTokens", [](Arrays &a) { a.batch.num_tokens = -4; },
               MOEC_INVALID_ARGUMENT,
               "the batch has 0 tokens, expected at least 1"},
        Broken{"NegativeTokens", [](Arrays &a) { a.batch.num_tokens = -9; },
               MOEC_INVALID_ARGUMENT,
               "the batch has -5 tokens, expected at least 1"},
        Broken{"TooManyTokens", [](Arrays &a) { a.batch.num_tokens = 5; },
               MOEC_INVALID_ARGUMENT,
               "the batch has 9 tokens, the workspace is large enough for 8"},
        Broken{"NoSequences", [](Arrays &a) { a.batch.num_sequences = -2; },
               MOEC_INVALID_ARGUMENT,
               "the batch has 0 sequences, expected at least 1"},
        Broken{"NegativeLogits", [](Arrays &a) { a.batch.num_logits = -3; },
               MOEC_INVALID_ARGUMENT, "num_logits is -1, expected 0 or more"},
        Broken{"NoStride", [](Arrays &a) { a.batch.page_table_stride = -3; },
               MOEC_INVALID_ARGUMENT,
               "page_table_stride is 0, expected at least 1"},
        Broken{"TableOverflow",
               [](Arrays &a) {
                 a.batch.num_sequences = 4294967294;
                 a.batch.page_table_stride = 4294967293;
               },
               MOEC_INVALID_ARGUMENT,
               "num_sequences 4294967296 x page_table_stride 4294967296 "
               "overflows"},
        Broken{"NegativeId", [](Arrays &a) { a.ids[2] = -1; },
               MOEC_OUT_OF_RANGE,
               "row 2 (position 7): token id -1 is outside the vocabulary, "
               "expected 0 to 9"},
        Broken{"IdOfVocabSize", [](Arrays &a) { a.ids[0] = 10; },
               MOEC_OUT_OF_RANGE,
               "row 0 (position 5): token id 10 is outside the vocabulary, "
               "expected 0 to 9"},
        Broken{"LargestId", [](Arrays &a) { a.ids[3] = INT32_MAX; },
               MOEC_OUT_OF_RANGE,
               "row 3 (position 0): token id 2147483647 is outside the "
               "vocabulary, expected 0 to 9"},
        Broken{"NegativeSequence", [](Arrays &a) { a.sequences[1] = -1; },
               MOEC_OUT_OF_RANGE, "row 1: sequence -1, expected 0 to 1"},
        Broken{"UnknownSequence", [](Arrays &a) { a.sequences[1] = 2; },
               MOEC_OUT_OF_RANGE, "row 1: sequence 2, expected 0 to 1"},
        Broken{"NegativePosition", [](Arrays &a) { a.positions[3] = -1; },
               MOEC_OUT_OF_RANGE,
               "row 3: position -1 is outside the context, expected 0 to 8"},
        Broken{"PositionBeyond", [](Arrays &a) { a.positions[3] = 9; },
               MOEC_OUT_OF_RANGE,
               "row 3: position 9 is outside the context, expected 0 to 8"},
        Broken{"PositionTwice", [](Arrays &a) { a.positions[1] = 5; },
               MOEC_INVALID_ARGUMENT,
               "row 1: position 5 of sequence 1 follows position 5, expected "
               "6"},
        Broken{"PositionSkipped", [](Arrays &a) { a.positions[2] = 8; },
               MOEC_INVALID_ARGUMENT,
               "row 2: position 8 of sequence 1 follows position 6, expected "
               "7"},
        Broken{"PositionsFalling",
               [](Arrays &a) {
                 a.positions[0] = 7;
                 a.positions[1] = 6;
               },
               MOEC_INVALID_ARGUMENT,
               "row 1: position 6 of sequence 1 follows position 7, expected "
               "8"},
        Broken{"TableTooShort",
               [](Arrays &a) { a.batch.page_table_stride = -2; },
               MOEC_OUT_OF_RANGE,
               "row 0: position 5 needs 2 pages, the page table has 1 per "
               "sequence"},
        Broken{"PageMissing", [](Arrays &a) { a.pageTable[4] = -1; },
               MOEC_OUT_OF_RANGE,
               "sequence 1: entry 1 of its page table is -1, expected 0 to 5"},
        Broken{"PageBeyond", [](Arrays &a) { a.pageTable[4] = 6; },
               MOEC_OUT_OF_RANGE,
               "sequence 1: entry 1 of its page table is 6, expected 0 to 5"},
        Broken{"EarlierPageBeyond", [](Arrays &a) { a.pageTable[3] = 100; },
               MOEC_OUT_OF_RANGE,
               "sequence 1: entry 0 of its page table is 100, expected 0 to "
               "5"},
        Broken{"LaterRowsPageMissing",
               [](Arrays &a) {
                 a.ids.insert(a.ids.begin(), 0);
                 a.positions = {5, 6, 7, 8, 0};
                 a.sequences = {1, 1, 1, 1, 0};
               },
               MOEC_OUT_OF_RANGE,
               "sequence 1: entry 2 of its page table is -1, expected 0 to 5"},
        Broken{"NegativeLogitRow", [](Arrays &a) { a.logitRows[0] = -1; },
               MOEC_OUT_OF_RANGE, "logit_rows[0] is -1, expected 0 to 3"},
        Broken{"LogitRowBeyond", [](Arrays &a) { a.logitRows[1] = 4; },
               MOEC_OUT_OF_RANGE, "logit_rows[1] is 4, expected 0 to 3"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(BatchChecker, AcceptsAValidBatch) {
  Arrays arrays;
  moec_error error = {};
  EXPECT_EQ(arrays.check(error), MOEC_OK) << error.message;
}

TEST(BatchChecker, AcceptsRowsOfSequencesInTurn) {
  Arrays arrays;
  arrays.positions = {5, 0, 6, 1};
  arrays.sequences = {1, 0, 1, 0};
  moec_error error = {};
  EXPECT_EQ(arrays.check(error), MOEC_OK) << error.message;
  arrays.positions = {5, 0, 6, 0};
  EXPECT_EQ(arrays.check(error), MOEC_INVALID_ARGUMENT);
}

TEST(BatchChecker, KnowsManySequencesApart) {
  constexpr int32_t count = 3000;
  std::vector<int32_t> zeros(count, 0), sequences(count);
  for (int32_t sequence = 0; sequence < count; ++sequence)
    sequences[sequence] = (sequence * 7919) % count * 1000;
  std::vector<int32_t> pageTable(count * 1000, 0);
  moec_batch batch = {};
  batch.num_tokens = count;
  batch.num_sequences = count * 1000;
  batch.token_ids = batch.positions = zeros.data();
  batch.sequences = sequences.data();
  batch.page_table = pageTable.data();
  batch.page_table_stride = 1;
  moec_plan plan = {};
  plan.vocab_size = plan.max_context = plan.page_size = 1;
  BatchChecker checker(plan, /*cachePages=*/1, /*maxTokens=*/count);
  moec_error error = {};
  EXPECT_EQ(checker.check(batch, &error), MOEC_OK) << error.message;
  sequences.back() = sequences.front();
  EXPECT_EQ(checker.check(batch, &error), MOEC_INVALID_ARGUMENT);
}

TEST(BatchChecker, NeedsAllArrays) {
  moec_plan plan = {};
  plan.vocab_size = plan.max_context = plan.page_size = 1;
  BatchChecker checker(plan, /*cachePages=*/1, /*maxTokens=*/1);
  moec_batch batch = {};
  batch.num_tokens = batch.num_sequences = batch.page_table_stride = 1;
  moec_error error = {};
  EXPECT_EQ(checker.check(batch, &error), MOEC_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "an array of the batch is a null pointer");
  EXPECT_EQ(checker.check(batch, nullptr), MOEC_INVALID_ARGUMENT);
}
