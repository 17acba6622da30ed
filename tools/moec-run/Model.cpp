//===- Model.cpp - An artifact with its weights ---------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include <chrono>
#include <cstdio>

using namespace moec::run;
using namespace moec::runtime;

void ModelOptions::addTo(CLI::App &command) {
  command.add_option("artifact", artifact, "The compiled model, NAME.moec")
      ->required();
  command
      .add_option("--weights", weights,
                  "Folder with the checkpoint's safetensors files")
      ->required();
  command.add_option("--variant", variant,
                     "Code variant; default: the best for this CPU");
  command
      .add_option("--threads", threads, "Threads; default: one per CPU core")
      ->check(CLI::Range(1, 4096));
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

Expected<Model> moec::run::openModel(const ModelOptions &options) {
  Model model;
  double start = now();
  Expected<std::unique_ptr<Artifact>> artifact =
      Artifact::open(options.artifact);
  if (!artifact)
    return artifact.status();
  model.artifact = *std::move(artifact);
  double mapStart = now();
  Expected<std::unique_ptr<Weights>> weights =
      Weights::open(model.manifest(), options.weights);
  if (!weights)
    return weights.status();
  model.weights = *std::move(weights);
  double mapSeconds = now() - mapStart;
  model.loadSeconds = now() - start;
  double gigabytes =
      static_cast<double>(model.weights->checkpoint().bytes()) * 1e-9;
  std::fprintf(stderr,
               "%s: mapped %.3f GB in %zu files, checked %zu parameters in "
               "%.3f s (%.1f GB/s)\n",
               model.manifest().model.name.c_str(), gigabytes,
               model.weights->checkpoint().numFiles(),
               model.manifest().parameters.size(), mapSeconds,
               gigabytes / mapSeconds);
  return model;
}
