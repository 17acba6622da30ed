//===- CApiTest.cpp - Tests of the C interface ----------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "TestFiles.h"
#include "moec/moec_runtime.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

using namespace moec::runtime;

/// The stand-in through the C header alone; memory for 4 tokens, 3 pages.
class CApiTest : public ::testing::Test {
protected:
  void SetUp() override {
    writeArtifact(folder / "a.moec", standInManifestWithTaps());
    writeFile(folder / "model.safetensors", safetensors(standInTensors()));
    ASSERT_EQ(
        moec_artifact_open((folder / "a.moec").c_str(), &artifact, &error),
        MOEC_OK)
        << error.message;
    ASSERT_EQ(
        moec_weights_open(artifact, folder.path().c_str(), &weights, &error),
        MOEC_OK)
        << error.message;
    moec_plan plan;
    moec_artifact_plan(artifact, &plan);
    cache.resize(3 * plan.cache_bytes_per_page);
    options.artifact = artifact;
    options.weights = weights;
    options.cache = cache.data();
    options.cache_pages = 3;
    options.workspace = workspace;
    options.workspace_bytes =
        plan.workspace_bytes_fixed + 4 * plan.workspace_bytes_per_token;
  }
  void TearDown() override {
    moec_context_destroy(context);
    moec_weights_close(weights);
    moec_artifact_close(artifact);
  }
  std::string createFailure() {
    moec_code code = moec_context_create(&options, &context, &error);
    return code == MOEC_OK ? "" : error.message;
  }
  moec_code openFailure(const char *path) {
    moec_artifact *opened = artifact;
    moec_code code = moec_artifact_open(path, &opened, &error);
    EXPECT_EQ(opened, nullptr);
    return code;
  }

  TempFolder folder;
  moec_artifact *artifact = nullptr;
  moec_weights *weights = nullptr;
  moec_context *context = nullptr;
  moec_context_options options = {};
  moec_error error = {};
  std::vector<char> cache;
  alignas(64) char workspace[256];
};

TEST_F(CApiTest, TellsThePlan) {
  moec_plan plan;
  moec_artifact_plan(artifact, &plan);
  EXPECT_EQ(plan.num_layers, 2);
  EXPECT_EQ(plan.vocab_size, 10);
  EXPECT_EQ(plan.max_context, 64);
  EXPECT_EQ(plan.page_size, 4);
  EXPECT_EQ(plan.cache_bytes_per_page, 32);
  EXPECT_EQ(plan.workspace_bytes_fixed, 64);
  EXPECT_EQ(plan.workspace_bytes_per_token, 16);
  EXPECT_EQ(plan.tap_bytes_per_token, 8);
}

TEST_F(CApiTest, PassesArgumentsOn) {
  ASSERT_EQ(createFailure(), "");
  int32_t ids[] = {1, 2, 3}, positions[] = {0, 1, 0}, sequences[] = {1, 1, 0};
  int32_t pageTable[] = {2, 0}, logitRows[] = {1, 2}, taps[6];
  float logits[20];
  moec_batch batch = {3,         2,         2, ids,      positions,
                      sequences, pageTable, 1, logitRows};
  ASSERT_EQ(moec_context_step(context, &batch, logits, taps, &error), MOEC_OK)
      << error.message;
  EXPECT_EQ(logits[3], 1);
  EXPECT_EQ(logits[10 + 3], 1);
  EXPECT_EQ(taps[2], 2);
  EXPECT_EQ(taps[3], 1);
  // The page of a sequence is where the cache was written: page 2, width 1.
  EXPECT_EQ(reinterpret_cast<float *>(cache.data())[2 * 4], 3);
}

TEST(StandIn, SeesEveryField) {
  StandIn model;
  moec_parallel parallel = {
      [](void *, int64_t count, moec_task task, void *env) {
        if (count > 0)
          task(env, 0, count);
      },
      nullptr};
  std::vector<char> cache(96);
  alignas(64) char workspace[128];
  ContextOptions options;
  options.cache = cache.data();
  options.cachePages = 3;
  options.workspace = workspace;
  options.workspaceBytes = sizeof(workspace);
  options.parallel = parallel;
  auto context = Context::create(*model.artifact, *model.weights, options);
  ASSERT_TRUE(context.ok()) << context.status().message();
  EXPECT_EQ((*context)->maxTokens(), 4);
  int32_t ids[] = {5}, positions[] = {0}, sequences[] = {0}, pages[] = {1, 2};
  moec_batch batch = {1, 1, 0, ids, positions, sequences, pages, 2, nullptr};
  int32_t unusedTaps[2];
  ASSERT_EQ((*context)->step(batch, nullptr, unusedTaps, nullptr), MOEC_OK);
  auto &args = model.variable<moec_step_args>("standInLastArgs");
  EXPECT_EQ(args.num_tokens, 1);
  EXPECT_EQ(args.num_sequences, 1);
  EXPECT_EQ(args.num_logits, 0);
  EXPECT_EQ(args.token_ids, ids);
  EXPECT_EQ(args.positions, positions);
  EXPECT_EQ(args.sequences, sequences);
  EXPECT_EQ(args.page_table, pages);
  EXPECT_EQ(args.page_table_stride, 2);
  EXPECT_EQ(args.weights, model.weights->table());
  EXPECT_EQ(args.cache, cache.data());
  EXPECT_EQ(args.cache_pages, 3);
  EXPECT_EQ(args.workspace, workspace);
  EXPECT_EQ(args.taps, nullptr) << "the artifact has no taps";
  EXPECT_EQ(args.parallel->run, parallel.run);
}

TEST_F(CApiTest, RefusesNullPointers) {
  EXPECT_EQ(moec_artifact_open("x", nullptr, &error), MOEC_INVALID_ARGUMENT);
  EXPECT_EQ(openFailure(nullptr), MOEC_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "path is a null pointer");
  moec_weights *opened = nullptr;
  EXPECT_EQ(moec_weights_open(nullptr, "x", &opened, &error),
            MOEC_INVALID_ARGUMENT);
  EXPECT_EQ(moec_weights_open(artifact, nullptr, &opened, nullptr),
            MOEC_INVALID_ARGUMENT);
  EXPECT_EQ(moec_context_create(nullptr, &context, &error),
            MOEC_INVALID_ARGUMENT);
  moec_batch batch = {};
  EXPECT_EQ(moec_context_step(nullptr, &batch, nullptr, nullptr, &error),
            MOEC_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "context is a null pointer");
  moec_context_destroy(nullptr);
  moec_weights_close(nullptr);
  moec_artifact_close(nullptr);
}

TEST_F(CApiTest, RefusesMemoryThatDoesNotDo) {
  auto restore = options;
  options.workspace = workspace + 8;
  EXPECT_EQ(createFailure(), "the workspace is not aligned to 64 bytes");
  options = restore;
  options.workspace_bytes = 79;
  EXPECT_EQ(createFailure(),
            "the workspace has 79 bytes, one token needs 64 + 16");
  options = restore;
  options.cache_pages = 0;
  EXPECT_EQ(createFailure(), "cache of 0 pages, expected at least 1 page");
  options = restore;
  options.cache = nullptr;
  EXPECT_NE(createFailure().find("null pointer"), std::string::npos);
  options = restore;
  options.cache_pages = INT64_MAX;
  EXPECT_NE(createFailure().find("overflows"), std::string::npos);
  options = restore;
  options.variant = "future";
  EXPECT_NE(createFailure().find("future needs"), std::string::npos);
  EXPECT_EQ(error.code, MOEC_UNSUPPORTED);
}

TEST_F(CApiTest, RefusesWeightsOfAnotherArtifact) {
  moec_artifact *other = nullptr;
  ASSERT_EQ(moec_artifact_open((folder / "a.moec").c_str(), &other, &error),
            MOEC_OK);
  options.artifact = other;
  EXPECT_EQ(createFailure(), "the weights were opened for another artifact");
  moec_artifact_close(other);
}

TEST_F(CApiTest, ChecksEachStep) {
  ASSERT_EQ(createFailure(), "");
  int32_t ids[] = {1}, positions[] = {0}, sequences[] = {0}, pages[] = {0},
          rows[] = {0}, taps[2];
  float logits[10];
  moec_batch batch = {1, 1, 1, ids, positions, sequences, pages, 1, rows};
  EXPECT_EQ(moec_context_step(context, &batch, nullptr, taps, &error),
            MOEC_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "logits is a null pointer");
  EXPECT_EQ(moec_context_step(context, &batch, logits, nullptr, &error),
            MOEC_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(error.message, "--taps"), nullptr);
  pages[0] = 3;
  EXPECT_EQ(moec_context_step(context, &batch, logits, taps, &error),
            MOEC_OUT_OF_RANGE);
  pages[0] = 0;
  batch.num_tokens = 5;
  EXPECT_EQ(moec_context_step(context, &batch, logits, taps, &error),
            MOEC_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(error.message, "large enough for 4"), nullptr);
}

TEST_F(CApiTest, RefusesDamagedArtifacts) {
  EXPECT_EQ(openFailure((folder / "missing.moec").c_str()), MOEC_INVALID_FILE);
  // Not the fixture's own, whose code is loaded.
  writeArtifact(folder / "damaged.moec", standInManifest());
  std::filesystem::path code = folder / "damaged.moec/code.so";
  std::fstream file(code, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-1, std::ios::end);
  char last = static_cast<char>(file.get() ^ 1);
  file.seekp(-1, std::ios::end);
  file.put(last);
  file.close();
  EXPECT_EQ(openFailure((folder / "damaged.moec").c_str()), MOEC_INVALID_FILE);
  EXPECT_NE(std::strstr(error.message, "is damaged"), nullptr) << error.message;
  std::filesystem::resize_file(code, 100);
  EXPECT_EQ(openFailure((folder / "damaged.moec").c_str()), MOEC_INVALID_FILE);
  EXPECT_NE(std::strstr(error.message, "has 100 bytes"), nullptr);
  std::filesystem::remove(code);
  EXPECT_EQ(openFailure((folder / "damaged.moec").c_str()), MOEC_INVALID_FILE);
}

TEST_F(CApiTest, RefusesCodeThatDoesNotFit) {
  Json manifest = standInManifest();
  manifest["code"]["variants"][0]["entry"] = "no_such_entry";
  writeArtifact(folder / "entry.moec", manifest);
  EXPECT_EQ(openFailure((folder / "entry.moec").c_str()), MOEC_INVALID_FILE);
  EXPECT_NE(std::strstr(error.message,
                        "has no entry point 'no_such_entry' of variant "
                        "'plain'"),
            nullptr)
      << error.message;

  manifest = standInManifest();
  manifest["code"]["variants"].erase(0);
  writeArtifact(folder / "features.moec", manifest);
  EXPECT_EQ(openFailure((folder / "features.moec").c_str()), MOEC_UNSUPPORTED);
  EXPECT_NE(std::strstr(error.message, "no-such-feature"), nullptr);
}

TEST_F(CApiTest, CutsLongMessages) {
  std::string path(10'000, 'x');
  EXPECT_EQ(openFailure(path.c_str()), MOEC_INVALID_FILE);
  EXPECT_EQ(std::strlen(error.message), sizeof(error.message) - 1);
}
