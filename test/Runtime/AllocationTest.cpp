//===- AllocationTest.cpp - A step allocates nothing ----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AllocationCounter.h"
#include "Context.h"
#include "Parallel.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

using namespace moec::runtime;

namespace {

/// Three tokens of two sequences.
struct Step {
  explicit Step(const StandIn &model, const moec_parallel &parallel)
      : cache(3 * model.artifact->plan().cache_bytes_per_page) {
    ContextOptions options;
    options.cache = cache.data();
    options.cachePages = 3;
    options.workspace = workspace;
    options.workspaceBytes = sizeof(workspace);
    options.parallel = parallel;
    context = *Context::create(*model.artifact, *model.weights, options);
  }
  moec_code run() {
    moec_batch batch = {3, 2, 2, ids, positions, sequences, pages, 1, rows};
    return context->step(batch, logits, nullptr, &error);
  }

  std::vector<char> cache;
  alignas(64) char workspace[128];
  std::unique_ptr<Context> context;
  int32_t ids[3] = {1, 2, 3}, positions[3] = {0, 1, 0},
          sequences[3] = {0, 0, 1}, pages[2] = {2, 0}, rows[2] = {1, 2};
  float logits[20];
  moec_error error = {};
};

} // namespace

TEST(Allocations, AreCounted) {
  int64_t before = numAllocations;
  auto *value = new std::vector<int>(100);
  EXPECT_EQ(numAllocations - before, 2);
  delete value;
}

TEST(Allocations, AreNoneInASerialStep) {
  StandIn model;
  Step step(model, serialParallel());
  int64_t before = numAllocations;
  moec_code code = step.run();
  int64_t after = numAllocations;
  EXPECT_EQ(code, MOEC_OK);
  EXPECT_EQ(after - before, 0);
}

TEST(Allocations, AreNoneInAParallelStep) {
  StandIn model;
  Step step(model, openMPParallel(3)); // For 3 rows and 2 logits.
  step.run(); // OpenMP makes its threads with the first one.
  int64_t before = numAllocations;
  moec_code code = step.run();
  int64_t after = numAllocations;
  EXPECT_EQ(code, MOEC_OK);
  EXPECT_EQ(after - before, 0);
}

TEST(Allocations, AreNoneInAStepThatFails) {
  StandIn model;
  Step step(model, serialParallel());
  step.ids[2] = 10;
  int64_t before = numAllocations;
  moec_code code = step.run();
  int64_t after = numAllocations;
  EXPECT_EQ(code, MOEC_OUT_OF_RANGE);
  EXPECT_EQ(after - before, 0);
}
