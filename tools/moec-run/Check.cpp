//===- Check.cpp - moec-run check -----------------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchInvariance.h"
#include "Commands.h"
#include "Comparison.h"
#include "Generation.h"
#include "Golden.h"
#include "Json.h"
#include "Model.h"
#include "Recording.h"
#include "Rerouting.h"
#include "Text.h"

#include <algorithm>
#include <bit>
#include <cstdio>

using namespace moec::run;
using namespace moec::runtime;

namespace {

struct CheckCommand {
  ModelOptions model;
  std::string golden;
  Tolerances tolerances;
  int64_t chunk = 0;
  bool skipRerouted = false;
  bool batchInvariance = false;
  bool reportJson = false;

  int run();
  Status record(const Model &opened, const Golden &reference,
                Recording &recording, std::vector<int32_t> &greedyIds,
                Rows &greedyLogits) const;
};

} // namespace

/// All taps of the golden file must be in the artifact, with equal widths.
static Status checkTaps(const Golden &golden, const Manifest &manifest,
                        const Recording &recording) {
  if (!golden.taps.empty() && manifest.taps.empty())
    return Status::invalidArgument(
        "the artifact yields no taps: compile it with --taps to compare those "
        "of the golden file");
  for (const auto &[name, rows] : golden.taps) {
    const Rows *tap = recording.find(name);
    if (!tap)
      return Status::invalidFile(
          concat("the artifact has no tap ", inQuotes(name)));
    if (tap->width != rows.width || tap->dtype != rows.dtype)
      return Status::invalidFile(
          concat("tap ", inQuotes(name), " is ", dtypeName(tap->dtype),
                 " of width ", tap->width, ", the golden file has ",
                 dtypeName(rows.dtype), " of width ", rows.width));
  }
  int64_t vocabSize = manifest.model.vocabSize;
  if ((golden.logits && golden.logits->width != vocabSize) ||
      (!golden.greedyIds.empty() && golden.greedyLogits.width != vocabSize))
    return Status::invalidFile(
        concat("the golden file's logits are not of the artifact's vocabulary "
               "of ",
               vocabSize));
  return Status();
}

/// Runs the prompt, then as many greedy steps as the golden file has.
Status CheckCommand::record(const Model &opened, const Golden &reference,
                            Recording &recording,
                            std::vector<int32_t> &greedyIds,
                            Rows &greedyLogits) const {
  std::span<const int32_t> prompt = reference.inputIds;
  SessionOptions options;
  options.variant = model.variant;
  options.threads = model.threads;
  options.maxTokens = chunk > 0 ? chunk : static_cast<int64_t>(prompt.size());
  options.maxContext = static_cast<int64_t>(
      prompt.size() + std::max<std::size_t>(reference.greedyIds.size(), 1) - 1);
  Expected<std::unique_ptr<Session>> session =
      Session::create(*opened.artifact, *opened.weights, options);
  if (!session)
    return session.status();
  Expected<int32_t> sequence = (*session)->addSequence();
  if (!sequence)
    return sequence.status();
  while (!prompt.empty()) {
    std::size_t tokens =
        std::min<std::size_t>(options.maxTokens, prompt.size());
    SequenceRows rows = {*sequence, prompt.first(tokens), LogitRows::all};
    if (Status status = (*session)->step({&rows, 1}); !status)
      return status;
    recording.append(**session, /*firstRow=*/0, static_cast<int64_t>(tokens),
                     /*firstLogit=*/0);
    prompt = prompt.subspan(tokens);
  }
  std::size_t steps = reference.greedyIds.size();
  while (greedyIds.size() < steps) {
    std::span<const float> logits =
        (*session)->logits((*session)->numLogits() - 1);
    int32_t id = argmax(logits);
    greedyIds.push_back(id);
    for (float logit : logits)
      greedyLogits.bits.push_back(std::bit_cast<uint32_t>(logit));
    if (greedyIds.size() == steps)
      break; // The last id is not run: the context may be full.
    SequenceRows rows = {*sequence, {&id, 1}, LogitRows::last};
    if (Status status = (*session)->step({&rows, 1}); !status)
      return status;
  }
  return Status();
}

static Json toJson(const Comparison &comparison) {
  Json json = {{"name", comparison.name},
               {"ok", comparison.ok},
               {"rows", comparison.rows}};
  if (comparison.isInteger)
    json["mismatching_rows"] = comparison.mismatchingRows;
  else
    json["difference"] = comparison.difference;
  return json;
}

static Json toJson(const GreedyComparison &greedy) {
  Json json = {
      {"steps", greedy.steps}, {"equal", greedy.equal}, {"ok", greedy.ok}};
  if (greedy.equal < greedy.steps)
    json["margin"] = greedy.margin;
  return json;
}

static void print(const Comparison &comparison) {
  const char *verdict = comparison.ok ? "ok" : "BEYOND TOLERANCE";
  if (comparison.isInteger)
    std::printf("%-32s %lld of %lld rows differ  %s\n", comparison.name.c_str(),
                static_cast<long long>(comparison.mismatchingRows),
                static_cast<long long>(comparison.rows), verdict);
  else
    std::printf("%-32s %.3e  %s\n", comparison.name.c_str(),
                comparison.difference, verdict);
}

static void print(const GreedyComparison &greedy) {
  if (greedy.equal == greedy.steps)
    std::printf("%-32s all %lld ids equal  ok\n", "greedy_ids",
                static_cast<long long>(greedy.steps));
  else
    std::printf("%-32s differ at position %lld of %lld: %d, expected %d; "
                "margin there %.3e of the largest logit  %s\n",
                "greedy_ids", static_cast<long long>(greedy.equal),
                static_cast<long long>(greedy.steps), greedy.foundId,
                greedy.expectedId, greedy.margin,
                greedy.ok ? "within rounding" : "BEYOND TOLERANCE");
}

static void print(const InvarianceResult &result) {
  if (result.identical)
    std::printf("%s: identical bits\n", result.way.c_str());
  else
    std::printf("%s: DIFFERS, first in %s: %lld values\n", result.way.c_str(),
                result.firstDifference.c_str(),
                static_cast<long long>(result.differingValues));
}

static int reportInvariance(const std::vector<InvarianceResult> &results,
                            bool asJson) {
  bool all = true;
  Json ways = Json::array();
  for (const InvarianceResult &result : results) {
    all = all && result.identical;
    if (!asJson)
      print(result);
    ways.push_back({{"way", result.way},
                    {"identical", result.identical},
                    {"first_difference", result.firstDifference},
                    {"differing_values", result.differingValues}});
  }
  if (asJson)
    std::printf("%s\n", Json({{"ok", all}, {"ways", ways}}).dump().c_str());
  return all ? 0 : 1;
}

static int reportComparisons(const std::vector<Comparison> &comparisons,
                             const std::optional<GreedyComparison> &greedy,
                             bool asJson) {
  bool all = !greedy || greedy->ok;
  Json list = Json::array();
  for (const Comparison &comparison : comparisons) {
    all = all && comparison.ok;
    list.push_back(toJson(comparison));
    if (!asJson)
      print(comparison);
  }
  if (greedy && !asJson)
    print(*greedy);
  if (asJson) {
    Json report = {{"ok", all}, {"values", list}};
    if (greedy)
      report["greedy"] = toJson(*greedy);
    std::printf("%s\n", report.dump().c_str());
  }
  return all ? 0 : 1;
}

int CheckCommand::run() {
  Expected<Golden> reference = readGolden(golden);
  if (!reference)
    return reportFailure(reference.status());
  Expected<Model> opened = openModel(model);
  if (!opened)
    return reportFailure(opened.status());
  if (batchInvariance) {
    Expected<std::vector<InvarianceResult>> results =
        checkBatchInvariance(*opened, model.variant, reference->inputIds);
    return results ? reportInvariance(*results, reportJson)
                   : reportFailure(results.status());
  }
  int64_t vocabSize = opened->manifest().model.vocabSize;
  Recording recording(expandTaps(opened->manifest()), vocabSize);
  if (Status status = checkTaps(*reference, opened->manifest(), recording);
      !status)
    return reportFailure(status);
  std::vector<int32_t> greedyIds;
  Rows greedyLogits{DType::F32, vocabSize, {}};
  if (Status status =
          record(*opened, *reference, recording, greedyIds, greedyLogits);
      !status)
    return reportFailure(status);

  std::vector<Comparison> comparisons;
  Rerouting rerouting(*reference, recording);
  auto compare = [&](const std::string &name, const Rows &expected) {
    const Rows &found = *recording.find(name);
    bool select = skipRerouted && expected.dtype != DType::I32 &&
                  expected.bits.size() == found.bits.size();
    comparisons.push_back(
        select ? compareRows(name, rerouting.select(name, expected),
                             rerouting.select(name, found), tolerances)
               : compareRows(name, expected, found, tolerances));
  };
  for (const auto &[name, rows] : reference->taps)
    compare(name, rows);
  if (reference->logits)
    compare("logits", *reference->logits);
  std::optional<GreedyComparison> greedy;
  if (!reference->greedyIds.empty()) {
    greedy = compareGreedy(*reference, greedyIds, tolerances);
    // Once an id differs, later logits belong to another text.
    int64_t comparable = std::min(greedy->equal + 1, greedy->steps);
    comparisons.push_back(compareRows(
        "greedy_logits", firstRows(reference->greedyLogits, comparable),
        firstRows(greedyLogits, comparable), tolerances));
  }
  return reportComparisons(comparisons, greedy, reportJson);
}

void moec::run::addCheckCommand(CLI::App &program, int &exitCode) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App *app = program.add_subcommand(
      "check", "Compares a model's values with a reference's, one line each");
  command->model.addTo(*app);
  app->add_option("--golden", command->golden,
                  "safetensors file with input_ids and reference values")
      ->required();
  app->add_option("--tolerance", command->tolerances.difference,
                  "Largest difference allowed, over the largest magnitude")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--router-mismatches", command->tolerances.mismatchingRows,
                  "Tokens per layer that may be routed to other experts")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_flag("--skip-rerouted", command->skipRerouted,
                "Leave out rows that were routed to other experts than the "
                "reference's, and what they reach in later layers");
  app->add_option("--chunk", command->chunk,
                  "Tokens of the prompt per step; default: all")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24));
  app->add_flag("--batch-invariance", command->batchInvariance,
                "Compare the prompt alone, bit for bit, with other batches, "
                "threads, chunks and pages");
  app->add_flag("--report-json", command->reportJson,
                "Print one JSON object instead of lines");
  app->final_callback([command, &exitCode] { exitCode = command->run(); });
}
