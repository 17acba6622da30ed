//===- BenchReport.h - What moec-run bench prints ---------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_BENCHREPORT_H
#define MOEC_TOOLS_MOEC_RUN_BENCHREPORT_H

#include "BenchRuns.h"
#include "Json.h"
#include "Machine.h"

namespace moec::run {

/// What all runs have in common.
struct BenchSetting {
  const runtime::Artifact *artifact;
  std::string variant;
  std::string weights; ///< a folder, or "random"
  BenchOptions options;
  std::vector<MachineRates> machine; ///< one for each number of threads
};

void printHead(const BenchSetting &setting);
/// One line of the table.
void printResult(const BenchSetting &setting, const BenchResult &result);
/// What the columns mean.
void printNote(const BenchSetting &setting);

runtime::Json describe(const BenchSetting &setting,
                       const std::vector<BenchResult> &results);

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_BENCHREPORT_H
