//===- Machine.h - What this machine can do at most -------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_MACHINE_H
#define MOEC_TOOLS_MOEC_RUN_MACHINE_H

#include "Artifact.h"

namespace moec::run {

/// Measured limits for a number of threads.
struct MachineRates {
  int threads = 0;
  double readBytesPerSecond = 0;
  double macsPerSecond = 0;
  std::string peakVariant; ///< whose probe reached it
};

/// Reads memory and runs the artifact's probes; takes about a second.
runtime::Expected<MachineRates>
measureMachine(const runtime::Artifact &artifact, int threads);

/// The CPU's name as the system gives it, else "unknown".
std::string cpuName();

/// CPUs that this process may use.
int numCpus();

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_MACHINE_H
