//===- BenchReport.cpp - What moec-run bench prints -----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BenchReport.h"

#include <algorithm>
#include <cstdio>

using namespace moec::run;
using namespace moec::runtime;

namespace {

/// A result in the table's units.
struct Figures {
  double tokensPerSecond;
  double slowest, fastest; ///< tokens per second
  double bytesPerSecond, bandwidthShare;
  double flopsPerSecond, peakShare;
};

} // namespace

static const MachineRates &ratesFor(const BenchSetting &setting, int threads) {
  return *std::find_if(
      setting.machine.begin(), setting.machine.end(),
      [&](const MachineRates &rates) { return rates.threads == threads; });
}

static bool hasCost(const BenchSetting &setting) {
  return !setting.artifact->manifest().cost.empty();
}

static Figures figuresOf(const BenchSetting &setting,
                         const BenchResult &result) {
  const MachineRates &machine = ratesFor(setting, result.test.threads);
  auto [least, most] =
      std::minmax_element(result.seconds.begin(), result.seconds.end());
  auto tokens = static_cast<double>(result.numTokens());
  double seconds = result.medianSeconds();
  Figures figures;
  figures.tokensPerSecond = tokens / seconds;
  figures.slowest = tokens / *most;
  figures.fastest = tokens / *least;
  figures.bytesPerSecond =
      (result.cost.weightBytes + result.cost.cacheBytes) / seconds;
  figures.bandwidthShare = figures.bytesPerSecond / machine.readBytesPerSecond;
  figures.flopsPerSecond = result.cost.flops / seconds;
  figures.peakShare = figures.flopsPerSecond / (2 * machine.macsPerSecond);
  return figures;
}

void moec::run::printHead(const BenchSetting &setting) {
  const Manifest &manifest = setting.artifact->manifest();
  std::printf("%s, activations %s, attention %s, code variant %s\n",
              manifest.model.name.c_str(), manifest.activations.c_str(),
              manifest.attention.c_str(), setting.variant.c_str());
  std::printf("%s, %d CPUs\n", cpuName().c_str(), numCpus());
  for (const MachineRates &rates : setting.machine)
    std::printf("%d thread%s: reads %.2f GB/s, multiplies and adds %.1f "
                "GFLOP/s (%s)\n",
                rates.threads, rates.threads == 1 ? "" : "s",
                rates.readBytesPerSecond * 1e-9, 2e-9 * rates.macsPerSecond,
                rates.peakVariant.c_str());
  std::printf("\n%-16s %7s %10s %22s %8s %6s %9s %6s\n", "test", "threads",
              "tokens/s", "(min..max)", "GB/s", "share", "GFLOP/s", "share");
}

void moec::run::printResult(const BenchSetting &setting,
                            const BenchResult &result) {
  Figures figures = figuresOf(setting, result);
  char range[64];
  std::snprintf(range, sizeof(range), "(%.2f..%.2f)", figures.slowest,
                figures.fastest);
  std::printf("%-16s %7d %10.2f %22s", result.test.name().c_str(),
              result.test.threads, figures.tokensPerSecond, range);
  if (hasCost(setting))
    std::printf(" %8.2f %5.1f%% %9.1f %5.1f%%\n", figures.bytesPerSecond * 1e-9,
                100 * figures.bandwidthShare, figures.flopsPerSecond * 1e-9,
                100 * figures.peakShare);
  else
    std::printf(" %8s %6s %9s %6s\n", "-", "-", "-", "-");
  std::fflush(stdout);
}

void moec::run::printNote(const BenchSetting &setting) {
  std::printf(
      "\ntokens/s: median of %lld. pp: a prompt of one sequence, %lld tokens "
      "per step; tg: steps of one token\nfor each of b sequences; d: tokens "
      "in the cache before.\n",
      static_cast<long long>(setting.options.repetitions),
      static_cast<long long>(setting.options.chunk));
  if (hasCost(setting))
    std::printf(
        "GB/s: weights and cache that the steps read, over the read bandwidth "
        "measured above. Of E experts,\nk per token, N tokens are taken to "
        "touch E (1 - (1 - k/E)^N): what uniform routing would.\n");
  else
    std::printf("The artifact has no table of costs: no GB/s and GFLOP/s.\n");
}

static Json describe(const BenchSetting &setting, const BenchResult &result) {
  Figures figures = figuresOf(setting, result);
  const BenchTest &test = result.test;
  Json json = {{"name", test.name()},
               {"kind", test.isPrompt ? "prompt" : "decode"},
               {"tokens", test.tokens},
               {"batch", test.batch},
               {"context", test.context},
               {"threads", test.threads},
               {"seconds", result.seconds},
               {"tokens_per_second", figures.tokensPerSecond},
               {"tokens_per_second_min", figures.slowest},
               {"tokens_per_second_max", figures.fastest}};
  if (!hasCost(setting))
    return json;
  json["weight_bytes"] = result.cost.weightBytes;
  json["cache_bytes"] = result.cost.cacheBytes;
  json["activation_bytes"] = result.cost.activationBytes;
  json["flops"] = result.cost.flops;
  json["bytes_per_second"] = figures.bytesPerSecond;
  json["share_of_read_bandwidth"] = figures.bandwidthShare;
  json["flops_per_second"] = figures.flopsPerSecond;
  json["share_of_peak"] = figures.peakShare;
  return json;
}

static Json describeMachine(const BenchSetting &setting) {
  Json rates = Json::array();
  for (const MachineRates &entry : setting.machine)
    rates.push_back({{"threads", entry.threads},
                     {"read_bytes_per_second", entry.readBytesPerSecond},
                     {"flops_per_second", 2 * entry.macsPerSecond},
                     {"peak_variant", entry.peakVariant}});
  return {{"cpu", cpuName()}, {"cpus", numCpus()}, {"rates", rates}};
}

Json moec::run::describe(const BenchSetting &setting,
                         const std::vector<BenchResult> &results) {
  const Manifest &manifest = setting.artifact->manifest();
  Expected<Artifact::Code> code = setting.artifact->code(setting.variant);
  Json measured = Json::object();
  for (const VariantRate &rate : setting.artifact->variantRates())
    measured[rate.variant->name] = 2 * rate.macsPerSecond;
  Json runs = Json::array();
  for (const BenchResult &result : results)
    runs.push_back(::describe(setting, result));
  return {{"moec", MOEC_VERSION},
          {"artifact", setting.artifact->folder().string()},
          {"model", manifest.model.name},
          {"activations", manifest.activations},
          {"attention", manifest.attention},
          {"weights", setting.weights},
          {"variant",
           {{"name", setting.variant},
            {"features", code->variant->features},
            {"measured_flops_per_second", measured}}},
          {"machine", describeMachine(setting)},
          {"repetitions", setting.options.repetitions},
          {"chunk", setting.options.chunk},
          {"seed", setting.options.seed},
          {"runs", runs}};
}
