//===- Comparison.h - Values against a reference ----------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_COMPARISON_H
#define MOEC_TOOLS_MOEC_RUN_COMPARISON_H

#include "Golden.h"

namespace moec::run {

struct Tolerances {
  double difference = 1e-4;    ///< largest difference over largest magnitude
  int64_t mismatchingRows = 0; ///< of integer values
};

/// Real values: largest difference over largest reference magnitude; NaN
/// where only one side has a NaN counts as infinite. Integers: rows that
/// differ.
struct Comparison {
  std::string name;
  bool isInteger = false;
  bool ok = false;
  int64_t rows = 0;
  double difference = 0;
  int64_t mismatchingRows = 0;
};

Comparison compareRows(const std::string &name, const Rows &expected,
                       const Rows &found, const Tolerances &tolerances);

/// The ids of greedy steps. A difference is put down to rounding where the
/// reference's two best logits are nearer to each other than the tolerance
/// allows both to move.
struct GreedyComparison {
  int64_t steps = 0;
  int64_t equal = 0; ///< ids before the first that differs
  bool ok = false;
  int32_t expectedId = 0;
  int32_t foundId = 0;
  double margin = 0; ///< of the two best logits over the largest magnitude
};

GreedyComparison compareGreedy(const Golden &golden,
                               const std::vector<int32_t> &found,
                               const Tolerances &tolerances);

Rows firstRows(const Rows &rows, int64_t count);

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_COMPARISON_H
