//===- ParallelTest.cpp - Tests of the parallel-for -----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

using namespace moec::runtime;

namespace {

struct Visits {
  explicit Visits(int64_t count) : counts(count) {}
  std::vector<std::atomic<int>> counts;
  std::atomic<int> ranges{0};
  const moec_parallel *nested = nullptr;
};

} // namespace

static void visit(void *env, int64_t begin, int64_t end) {
  auto *visits = static_cast<Visits *>(env);
  ++visits->ranges;
  for (int64_t index = begin; index < end; ++index)
    ++visits->counts[index];
}

static void visitNested(void *env, int64_t begin, int64_t end) {
  auto *visits = static_cast<Visits *>(env);
  for (int64_t index = begin; index < end; ++index)
    visits->nested->run(visits->nested->user,
                        static_cast<int64_t>(visits->counts.size()), visit,
                        env);
}

TEST(Parallel, CoversEachIterationOnce) {
  for (int threads : {1, 2, 3, 7})
    for (int64_t count : {0, 1, 2, 3, 6, 7, 8, 1000}) {
      Visits visits(count);
      moec_parallel parallel = openMPParallel(threads);
      parallel.run(parallel.user, count, visit, &visits);
      for (std::atomic<int> &times : visits.counts)
        EXPECT_EQ(times, 1);
      EXPECT_EQ(visits.ranges, std::min<int64_t>(threads, count));
    }
}

TEST(Parallel, DoesNotNest) {
  Visits visits(5);
  moec_parallel parallel = openMPParallel(2);
  visits.nested = &parallel;
  parallel.run(parallel.user, 2, visitNested, &visits);
  EXPECT_EQ(visits.ranges, 2);
  for (std::atomic<int> &times : visits.counts)
    EXPECT_EQ(times, 2);
}

TEST(Parallel, RunsInOneRangeWhereItIsSerial) {
  Visits visits(9);
  moec_parallel parallel = serialParallel();
  parallel.run(parallel.user, 9, visit, &visits);
  EXPECT_EQ(visits.ranges, 1);
}
