//===- VariantChoice.cpp - Which code variant is the fastest --------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VariantChoice.h"

#include "Parallel.h"

#include <algorithm>
#include <cassert>
#include <chrono>

using namespace moec::runtime;

// Long against the clock's resolution and the start of threads, short enough
// that one of the runs is left alone by other programs.
static constexpr double leastSeconds = 150e-6;
static constexpr int numRuns = 8;
static constexpr int64_t maxIterations = int64_t(1) << 32;
static constexpr double tieShare = 0.9;

namespace {
struct ProbeRun {
  ProbeFunction probe;
  int64_t iterations;
};
} // namespace

static void runProbe(void *env, int64_t begin, int64_t end) {
  const auto &run = *static_cast<const ProbeRun *>(env);
  for (int64_t index = begin; index < end; ++index)
    run.probe(run.iterations);
}

/// Seconds until every thread has done its iterations.
static double timeProbe(ProbeRun run, int threads) {
  moec_parallel parallel = openMPParallel(threads);
  auto start = std::chrono::steady_clock::now();
  parallel.run(parallel.user, threads, runProbe, &run);
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - start;
  return std::max(passed.count(), 1e-9);
}

double moec::runtime::measureProbe(ProbeFunction probe, int64_t macs,
                                   int threads) {
  // Also wakes the threads and lets the core settle on its wide registers.
  ProbeRun run = {probe, 256};
  while (run.iterations < maxIterations &&
         timeProbe(run, threads) < leastSeconds)
    run.iterations *= 2;
  double best = timeProbe(run, threads);
  for (int count = 1; count < numRuns; ++count)
    best = std::min(best, timeProbe(run, threads));
  return static_cast<double>(run.iterations) * static_cast<double>(macs) *
         threads / best;
}

const Manifest::Variant *
moec::runtime::fastest(std::span<const VariantRate> rates) {
  assert(!rates.empty() && "nothing to choose from");
  double best = 0;
  for (const VariantRate &rate : rates)
    best = std::max(best, rate.macsPerSecond);
  const Manifest::Variant *chosen = rates.front().variant;
  for (const VariantRate &rate : rates)
    if (rate.macsPerSecond >= tieShare * best)
      chosen = rate.variant;
  return chosen;
}
