//===- BenchRuns.cpp - The timed runs of moec-run bench -------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BenchRuns.h"

#include "Model.h"
#include "Session.h"
#include "Text.h"

#include <algorithm>
#include <random>

using namespace moec::run;
using namespace moec::runtime;

namespace {

/// A session with the sequences of a test.
class Bench {
public:
  Bench(const Manifest &manifest, const BenchTest &test,
        const BenchOptions &options)
      : manifest(manifest), test(test), options(options),
        generator(options.seed) {}

  Status open(const Artifact &artifact, const Weights &weights);
  /// Seconds of one repetition; the sequences are then as they were.
  Expected<double> repeat();
  StepCost cost() const;

private:
  Status runPrompt(int32_t sequence, std::span<const int32_t> ids,
                   LogitRows logits);
  Status decode(std::span<const int32_t> ids);
  std::vector<int32_t> randomIds(int64_t count);

  const Manifest &manifest;
  const BenchTest &test;
  const BenchOptions &options;
  std::mt19937_64 generator;
  std::unique_ptr<Session> session;
  std::vector<int32_t> sequences;
  std::vector<SequenceRows> rows;
};

} // namespace

std::string BenchTest::name() const {
  std::string depth = context > 0 ? concat("+d", context) : "";
  return isPrompt ? concat("pp", tokens, depth)
                  : concat("tg", tokens, "@b", batch, depth);
}

double BenchResult::medianSeconds() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::vector<int32_t> Bench::randomIds(int64_t count) {
  std::uniform_int_distribution<int32_t> id(
      0, static_cast<int32_t>(manifest.model.vocabSize - 1));
  std::vector<int32_t> ids(count);
  for (int32_t &element : ids)
    element = id(generator);
  return ids;
}

Status Bench::open(const Artifact &artifact, const Weights &weights) {
  SessionOptions sessionOptions;
  sessionOptions.variant = options.variant;
  sessionOptions.threads = test.threads;
  sessionOptions.maxContext = test.context + test.tokens;
  sessionOptions.maxSequences = test.batch;
  int64_t longest =
      test.isPrompt ? std::max(test.context, test.tokens) : test.context;
  sessionOptions.maxTokens =
      std::max(std::min(longest, options.chunk), test.batch);
  Expected<std::unique_ptr<Session>> created =
      Session::create(artifact, weights, sessionOptions);
  if (!created)
    return created.status();
  session = *std::move(created);
  for (int64_t index = 0; index < test.batch; ++index) {
    Expected<int32_t> sequence = session->addSequence();
    if (!sequence)
      return sequence.status();
    sequences.push_back(*sequence);
    if (Status status =
            runPrompt(*sequence, randomIds(test.context), LogitRows::none);
        !status)
      return status;
  }
  return Status();
}

Status Bench::runPrompt(int32_t sequence, std::span<const int32_t> ids,
                        LogitRows logits) {
  while (!ids.empty()) {
    std::size_t count = std::min<std::size_t>(options.chunk, ids.size());
    bool isLast = count == ids.size();
    SequenceRows part = {sequence, ids.first(count),
                         isLast ? logits : LogitRows::none};
    if (Status status = session->step({&part, 1}); !status)
      return status;
    ids = ids.subspan(count);
  }
  return Status();
}

/// One step: a token for each sequence.
Status Bench::decode(std::span<const int32_t> ids) {
  rows.clear();
  for (std::size_t index = 0; index < sequences.size(); ++index)
    rows.push_back({sequences[index], ids.subspan(index, 1), LogitRows::last});
  return session->step(rows);
}

Expected<double> Bench::repeat() {
  std::vector<int32_t> ids = randomIds(test.tokens * test.batch);
  double start = now();
  Status status;
  if (test.isPrompt)
    status = runPrompt(sequences.front(), ids, LogitRows::last);
  for (int64_t step = 0; step < test.tokens && !test.isPrompt && status; ++step)
    status = decode(std::span(ids).subspan(step * test.batch, test.batch));
  double seconds = now() - start;
  if (!status)
    return status;
  for (int32_t sequence : sequences)
    session->truncate(sequence, test.context);
  return seconds;
}

StepCost Bench::cost() const {
  StepCost total;
  int64_t perStep = test.isPrompt ? options.chunk : 1;
  for (int64_t done = 0; done < test.tokens; done += perStep) {
    StepShape shape;
    int64_t count = std::min(perStep, test.tokens - done);
    for (int64_t index = 0; index < test.batch; ++index)
      shape.addRows(test.context + done, count);
    if (done + count < test.tokens && test.isPrompt)
      shape.logits = 0;
    total += stepCost(manifest, shape);
  }
  return total;
}

Expected<BenchResult> moec::run::runBench(const Artifact &artifact,
                                          const Weights &weights,
                                          const BenchTest &test,
                                          const BenchOptions &options) {
  Bench bench(artifact.manifest(), test, options);
  if (Status status = bench.open(artifact, weights); !status)
    return Status(status.code(), test.name() + ": " + status.message());
  BenchResult result;
  result.test = test;
  result.cost = bench.cost();
  for (int64_t count = 0; count <= options.repetitions; ++count) {
    Expected<double> seconds = bench.repeat();
    if (!seconds)
      return Status(seconds.status().code(),
                    test.name() + ": " + seconds.status().message());
    if (count > 0) // The first brings weights and workspace into memory.
      result.seconds.push_back(*seconds);
  }
  return result;
}
