//===- BenchRuns.h - The timed runs of moec-run bench -----------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_BENCHRUNS_H
#define MOEC_TOOLS_MOEC_RUN_BENCHRUNS_H

#include "Artifact.h"
#include "Cost.h"
#include "Weights.h"

namespace moec::run {

/// A prompt of `tokens` of one sequence, or `tokens` steps of one new token for
/// each of `batch` sequences.
struct BenchTest {
  bool isPrompt = true;
  int64_t tokens = 0;
  int64_t batch = 1;
  int64_t context = 0; ///< of a sequence before the test
  int threads = 1;

  /// "pp512", "tg32@b4", "tg32@b1+d1024".
  std::string name() const;
};

struct BenchOptions {
  std::string variant;
  int64_t repetitions = 3;
  int64_t chunk = 512; ///< tokens of a prompt per step
  uint64_t seed = 1;   ///< of the token ids
};

struct BenchResult {
  BenchTest test;
  std::vector<double> seconds; ///< of each repetition, in their order
  runtime::StepCost cost;      ///< of one repetition, all its steps

  int64_t numTokens() const { return test.tokens * test.batch; }
  double medianSeconds() const;
};

/// Runs a test once to warm up, then as often as the options say.
runtime::Expected<BenchResult> runBench(const runtime::Artifact &artifact,
                                        const runtime::Weights &weights,
                                        const BenchTest &test,
                                        const BenchOptions &options);

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_BENCHRUNS_H
