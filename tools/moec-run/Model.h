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
  int threads = 0;

  void addTo(CLI::App &command);
};

struct Model {
  std::unique_ptr<runtime::Artifact> artifact;
  std::unique_ptr<runtime::Weights> weights;
  double loadSeconds = 0;

  const runtime::Manifest &manifest() const { return artifact->manifest(); }
};

/// Opens both, and says on stderr what was mapped and how long it took.
runtime::Expected<Model> openModel(const ModelOptions &options);

/// Prints a failure to stderr; returns the exit code for wrong input.
int reportFailure(const runtime::Status &status);

/// Seconds since some fixed time.
double now();

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_MODEL_H
