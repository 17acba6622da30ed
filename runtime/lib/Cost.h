//===- Cost.h - Bytes and operations of a step ------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_COST_H
#define MOEC_RUNTIME_LIB_COST_H

#include "Manifest.h"

namespace moec::runtime {

/// What a step is given, as far as its cost depends on it.
struct StepShape {
  int64_t tokens = 0;
  int64_t logits = 0;
  /// Positions that each row attends to, its own among them, added up.
  int64_t rowPositions = 0;
  /// Positions of each sequence at the end of the step, added up.
  int64_t cachePositions = 0;

  /// `count` new tokens of a sequence that has `length`, the last with logits.
  void addRows(int64_t length, int64_t count);
};

struct StepCost {
  double weightBytes = 0;
  double cacheBytes = 0; ///< read by attention, once for each sequence
  double activationBytes = 0;
  double flops = 0;

  StepCost &operator+=(const StepCost &other);
};

/// How many of `experts` have a row, expected for `tokens` that are each routed
/// to `perToken` different ones, any set of them equally probable.
double expectedExperts(int64_t tokens, int64_t perToken, int64_t experts);

/// By the manifest's table of costs, which must not be empty. Weights count
/// once, those of routed experts as often as expected.
StepCost stepCost(const Manifest &manifest, const StepShape &shape);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_COST_H
