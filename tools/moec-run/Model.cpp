//===- Model.cpp - An artifact with its weights ---------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "Parallel.h"

#include <chrono>
#include <cstdio>

using namespace moec::run;
using namespace moec::runtime;

void ModelOptions::addArtifact(CLI::App &command) {
  command.add_option("artifact", artifact, "The compiled model, NAME.moec")
      ->required();
}

static CLI::Option *addWeights(CLI::App &command, std::string &folder) {
  return command.add_option("--weights", folder,
                            "Folder with the checkpoint's safetensors files");
}

void ModelOptions::addWeightsOrRandom(CLI::App &command) {
  CLI::Option_group *group = command.add_option_group("weights");
  addWeights(*group, weights);
  // Not bound to the variable: that would set it where the flag is not given.
  group->add_flag_function(
      "--random-weights{1}",
      [this](int64_t seed) { randomSeed = static_cast<uint64_t>(seed); },
      "Random weights of the model's shapes; a value is the seed");
  group->require_option(1);
}

void ModelOptions::addVariant(CLI::App &command) {
  command.add_option("--variant", variant,
                     "Code variant; default: the fastest on this CPU");
}

void ModelOptions::addTo(CLI::App &command) {
  addArtifact(command);
  addWeights(command, weights)->required();
  addVariant(command);
  command
      .add_option("--threads", threads, "Threads; default: one per CPU core")
      ->check(CLI::Range(1, maxThreads));
}

double moec::run::now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int moec::run::reportFailure(const Status &status) {
  std::fprintf(stderr, "moec-run: error: %s\n", status.message().c_str());
  return 1;
}

/// "code variant x86-64-v4 (GFLOP/s of one thread: x86-64-v3 41.2, ...)".
static void printVariant(const Model &model) {
  std::string measured;
  for (const VariantRate &rate : model.artifact->variantRates()) {
    char text[32];
    std::snprintf(text, sizeof(text), " %.1f", 2e-9 * rate.macsPerSecond);
    measured += (measured.empty() ? "" : ", ") + rate.variant->name + text;
  }
  if (!measured.empty())
    measured = " (GFLOP/s of one thread: " + measured + ")";
  std::fprintf(stderr, "%s: code variant %s%s\n",
               model.manifest().model.name.c_str(), model.variant.c_str(),
               measured.c_str());
}

static void printWeights(const Model &model, double seconds) {
  const Weights &weights = *model.weights;
  const Checkpoint *files = weights.checkpoint();
  int64_t bytes = files ? files->bytes() : weights.bytesUsed();
  double gigabytes = static_cast<double>(bytes) * 1e-9;
  std::string name = model.manifest().model.name;
  std::size_t parameters = model.manifest().parameters.size();
  if (files)
    std::fprintf(stderr,
                 "%s: mapped %.3f GB in %zu files, checked %zu parameters in "
                 "%.3f s (%.1f GB/s)\n",
                 name.c_str(), gigabytes, files->numFiles(), parameters,
                 seconds, gigabytes / seconds);
  else
    std::fprintf(stderr,
                 "%s: made %.3f GB of random weights for %zu parameters in "
                 "%.3f s (%.1f GB/s)\n",
                 name.c_str(), gigabytes, parameters, seconds,
                 gigabytes / seconds);
}

Expected<Model> moec::run::openModel(const ModelOptions &options) {
  Model model;
  double start = now();
  Expected<std::unique_ptr<Artifact>> artifact =
      Artifact::open(options.artifact);
  if (!artifact)
    return artifact.status();
  model.artifact = *std::move(artifact);
  Expected<Artifact::Code> code = model.artifact->code(options.variant);
  if (!code)
    return code.status();
  model.variant = code->variant->name;
  double mapStart = now();
  Expected<std::unique_ptr<Weights>> weights =
      options.randomSeed
          ? Weights::makeRandom(model.manifest(), *options.randomSeed)
          : Weights::open(model.manifest(), options.weights);
  if (!weights)
    return weights.status();
  model.weights = *std::move(weights);
  model.loadSeconds = now() - start;
  printWeights(model, now() - mapStart);
  printVariant(model);
  return model;
}
