//===- Model.h - An artifact with its weights -------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_MODEL_H
#define MOEC_TOOLS_MOEC_RUN_MODEL_H

#include "Artifact.h"
#include "Weights.h"

#include <CLI/CLI.hpp>

namespace moec::run {

/// The options that all commands have.
struct ModelOptions {
  std::string artifact;
  std::string weights;
  std::string variant;
  std::optional<uint64_t> randomSeed; ///< instead of a folder of weights
  int threads = 0;

  /// All options but random weights.
  void addTo(CLI::App &command);

  void addArtifact(CLI::App &command);
  void addWeightsOrRandom(CLI::App &command);
  void addVariant(CLI::App &command);
};

struct Model {
  std::unique_ptr<runtime::Artifact> artifact;
  std::unique_ptr<runtime::Weights> weights;
  std::string variant; ///< the one that is used
  double loadSeconds = 0;

  const runtime::Manifest &manifest() const { return artifact->manifest(); }
};

/// Opens both, and says on stderr what was mapped, how long it took, and which
/// code variant is used.
runtime::Expected<Model> openModel(const ModelOptions &options);

/// Prints a failure to stderr; returns the exit code for wrong input.
int reportFailure(const runtime::Status &status);

/// Seconds since some fixed time.
double now();

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_MODEL_H
