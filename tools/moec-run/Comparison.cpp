//===- Comparison.cpp - Values against a reference ------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace moec::run;
using namespace moec::runtime;

static void compareIntegers(const Rows &expected, const Rows &found,
                            Comparison &result) {
  for (int64_t row = 0; row < expected.count(); ++row) {
    auto begin = row * expected.width;
    result.mismatchingRows +=
        !std::equal(expected.bits.begin() + begin,
                    expected.bits.begin() + begin + expected.width,
                    found.bits.begin() + begin);
  }
}

static void compareReals(const Rows &expected, const Rows &found,
                         Comparison &result) {
  double largest = 0;
  double difference = 0;
  for (std::size_t index = 0; index < expected.bits.size(); ++index) {
    double reference = expected.real(index);
    double value = found.real(index);
    bool bothNan = std::isnan(reference) && std::isnan(value);
    if (bothNan || reference == value) {
      largest = std::fmax(largest, std::fabs(reference));
      continue;
    }
    double apart = std::fabs(value - reference);
    if (!std::isfinite(apart))
      apart = std::numeric_limits<double>::infinity();
    difference = std::max(difference, apart);
    largest = std::fmax(largest, std::fabs(reference));
  }
  result.difference =
      difference == 0 || largest == 0 ? difference : difference / largest;
}

Comparison moec::run::compareRows(const std::string &name, const Rows &expected,
                                  const Rows &found,
                                  const Tolerances &tolerances) {
  Comparison result;
  result.name = name;
  result.rows = expected.count();
  result.isInteger = expected.dtype == DType::I32;
  if (expected.bits.size() != found.bits.size()) {
    result.mismatchingRows = result.rows;
    result.difference = std::numeric_limits<double>::infinity();
    return result;
  }
  if (result.isInteger) {
    compareIntegers(expected, found, result);
    result.ok = result.mismatchingRows <= tolerances.mismatchingRows;
    return result;
  }
  compareReals(expected, found, result);
  result.ok = result.difference <= tolerances.difference;
  return result;
}

/// The distance of the two best logits of a row over its largest magnitude.
static double marginOf(const Rows &logits, int64_t row) {
  double best = -std::numeric_limits<double>::infinity();
  double second = best;
  double largest = 0;
  for (int64_t id = 0; id < logits.width; ++id) {
    double logit = logits.real(row * logits.width + id);
    largest = std::fmax(largest, std::fabs(logit));
    if (logit > best) {
      second = best;
      best = logit;
    } else if (logit > second) {
      second = logit;
    }
  }
  return largest > 0 ? (best - second) / largest : 0;
}

GreedyComparison moec::run::compareGreedy(const Golden &golden,
                                          const std::vector<int32_t> &found,
                                          const Tolerances &tolerances) {
  GreedyComparison result;
  const std::vector<int32_t> &expected = golden.greedyIds;
  result.steps = static_cast<int64_t>(expected.size());
  auto differing = std::mismatch(expected.begin(), expected.end(),
                                 found.begin(), found.end());
  result.equal = differing.first - expected.begin();
  if (result.equal == result.steps) {
    result.ok = true;
    return result;
  }
  result.expectedId = *differing.first;
  result.foundId = *differing.second;
  result.margin = marginOf(golden.greedyLogits, result.equal);
  result.ok = result.margin <= 2 * tolerances.difference;
  return result;
}

Rows moec::run::firstRows(const Rows &rows, int64_t count) {
  return {rows.dtype,
          rows.width,
          {rows.bits.begin(), rows.bits.begin() + count * rows.width}};
}
