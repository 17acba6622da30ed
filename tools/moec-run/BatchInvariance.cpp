//===- BatchInvariance.cpp - Does company change a result? ----------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchInvariance.h"

#include "Text.h"

#include <algorithm>

using namespace moec::run;
using namespace moec::runtime;

namespace {

/// How the prompt is run.
struct Way {
  std::string name;
  int threads = 1;
  int64_t chunk = 0; ///< 0: the whole prompt
  bool shuffledPages = false;
  bool poisonedCache = false;
  bool company = false; ///< three other sequences in each step
};

/// Sequences that fill a batch: rotations of the prompt of different lengths,
/// one of which already has a history and decodes while the prompt is read.
class Company {
public:
  Company(const std::vector<int32_t> &prompt, int64_t vocabSize);

  Status join(Session &session);
  /// Puts the next tokens of the others before (or behind) the batch.
  void addRows(std::vector<SequenceRows> &batch, std::size_t step);
  int64_t maxTokensPerStep() const;

private:
  static constexpr std::size_t count = 3;
  std::vector<int32_t> ids[count];
  std::size_t used[count] = {};
  int32_t sequences[count] = {};
};

} // namespace

Company::Company(const std::vector<int32_t> &prompt, int64_t vocabSize) {
  for (std::size_t other = 0; other < count; ++other) {
    ids[other] = prompt;
    std::size_t rotation = (prompt.size() * (other + 1) / 4) % prompt.size();
    std::rotate(ids[other].begin(), ids[other].begin() + rotation,
                ids[other].end());
    // A prompt of one token has no other rotation.
    ids[other].front() = static_cast<int32_t>(
        (int64_t(ids[other].front()) + 1 + static_cast<int64_t>(other)) %
        vocabSize);
  }
}

Status Company::join(Session &session) {
  for (int32_t &sequence : sequences) {
    Expected<int32_t> added = session.addSequence();
    if (!added)
      return added.status();
    sequence = *added;
  }
  // The first sequence has its history before the prompt comes.
  used[0] = ids[0].size() / 2;
  if (used[0] == 0)
    return Status();
  SequenceRows history = {sequences[0], std::span(ids[0]).first(used[0]),
                          LogitRows::none};
  return session.step({&history, 1});
}

void Company::addRows(std::vector<SequenceRows> &batch, std::size_t step) {
  // Decodes one token, reads five at a time, reads three at a time.
  constexpr std::size_t tokensPerStep[count] = {1, 5, 3};
  for (std::size_t other = 0; other < count; ++other) {
    std::size_t tokens =
        std::min(tokensPerStep[other], ids[other].size() - used[other]);
    if (tokens == 0)
      continue;
    SequenceRows rows = {sequences[other],
                         std::span(ids[other]).subspan(used[other], tokens),
                         other == 0 ? LogitRows::last : LogitRows::none};
    used[other] += tokens;
    // The prompt's place among them changes from step to step.
    bool before = (step + other) % 2 == 0;
    batch.insert(before ? batch.begin() : batch.end(), rows);
  }
}

int64_t Company::maxTokensPerStep() const {
  return std::max<int64_t>(9, static_cast<int64_t>(ids[0].size() / 2));
}

static std::vector<Way> allWays(std::size_t promptTokens) {
  std::vector<Way> ways;
  for (int threads : {2, 3})
    ways.push_back({.name = concat(threads, " threads"), .threads = threads});
  for (int64_t chunk : {1, 7, 16})
    if (chunk < static_cast<int64_t>(promptTokens))
      ways.push_back({.name = concat("chunks of ", chunk), .chunk = chunk});
  ways.push_back({.name = "shuffled pages", .shuffledPages = true});
  ways.push_back({.name = "cache full of NaN", .poisonedCache = true});
  ways.push_back({.name = "with 3 other sequences", .company = true});
  ways.push_back({.name = "with 3 other sequences, chunks of 7, 3 threads, "
                          "shuffled pages, cache full of NaN",
                  .threads = 3,
                  .chunk = 7,
                  .shuffledPages = true,
                  .poisonedCache = true,
                  .company = true});
  return ways;
}

static Expected<std::unique_ptr<Session>>
openSession(const Model &model, const std::string &variant, const Way &way,
            int64_t promptTokens, const Company &company) {
  SessionOptions options;
  options.variant = variant;
  options.threads = way.threads;
  options.maxContext = promptTokens;
  options.maxTokens = promptTokens;
  if (way.company) {
    options.maxSequences = 4;
    options.maxTokens += company.maxTokensPerStep();
  }
  if (way.shuffledPages) {
    options.shufflePages = 1;
    // More pages than needed, so that they lie apart.
    int64_t pageSize = model.manifest().cache.pageSize;
    options.cachePages =
        options.maxSequences * ((promptTokens + pageSize - 1) / pageSize) + 5;
  }
  if (way.poisonedCache)
    options.cacheFill = std::byte(0xff); // NaN in F32, F16 and BF16.
  return Session::create(*model.artifact, *model.weights, options);
}

static Expected<Recording> recordWay(const Model &model,
                                     const std::string &variant, const Way &way,
                                     const std::vector<TapColumn> &columns,
                                     const std::vector<int32_t> &prompt) {
  int64_t vocabSize = model.manifest().model.vocabSize;
  Company company(prompt, vocabSize);
  Expected<std::unique_ptr<Session>> session = openSession(
      model, variant, way, static_cast<int64_t>(prompt.size()), company);
  if (!session)
    return session.status();
  if (way.company)
    if (Status status = company.join(**session); !status)
      return status;
  Expected<int32_t> sequence = (*session)->addSequence();
  if (!sequence)
    return sequence.status();

  Recording recording(columns, vocabSize);
  std::size_t chunk = way.chunk ? way.chunk : prompt.size();
  std::size_t step = 0;
  for (std::size_t begin = 0; begin < prompt.size(); begin += chunk, ++step) {
    std::size_t tokens = std::min(chunk, prompt.size() - begin);
    std::vector<SequenceRows> batch = {
        {*sequence, std::span(prompt).subspan(begin, tokens), LogitRows::all}};
    if (way.company)
      company.addRows(batch, step);
    if (Status status = (*session)->step(batch); !status)
      return status;
    int64_t firstRow = 0;
    int64_t firstLogit = 0;
    for (const SequenceRows &rows : batch) {
      if (rows.sequence == *sequence)
        break;
      firstRow += static_cast<int64_t>(rows.ids.size());
      firstLogit += rows.logits == LogitRows::last;
    }
    recording.append(**session, firstRow, static_cast<int64_t>(tokens),
                     firstLogit);
  }
  return recording;
}

static InvarianceResult compare(const std::string &way,
                                const Recording &expected,
                                const Recording &found) {
  InvarianceResult result;
  result.way = way;
  for (std::size_t index = 0; index < expected.all().size(); ++index) {
    const auto &[name, left] = expected.all()[index];
    const Rows &right = found.all()[index].second;
    if (left.bits == right.bits)
      continue;
    result.identical = false;
    result.firstDifference = name;
    for (std::size_t value = 0; value < left.bits.size(); ++value)
      result.differingValues += left.bits[value] != right.bits[value];
    return result;
  }
  return result;
}

Expected<std::vector<InvarianceResult>>
moec::run::checkBatchInvariance(const Model &model, const std::string &variant,
                                const std::vector<int32_t> &prompt) {
  std::vector<TapColumn> columns = expandTaps(model.manifest());
  Expected<Recording> plain =
      recordWay(model, variant, {.name = "alone"}, columns, prompt);
  if (!plain)
    return plain.status();
  std::vector<InvarianceResult> results;
  for (const Way &way : allWays(prompt.size())) {
    Expected<Recording> recording =
        recordWay(model, variant, way, columns, prompt);
    if (!recording)
      return recording.status();
    results.push_back(compare(way.name, *plain, *recording));
  }
  return results;
}
