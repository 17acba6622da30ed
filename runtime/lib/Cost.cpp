//===- Cost.cpp - Bytes and operations of a step --------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost.h"

#include <cmath>

using namespace moec::runtime;

void StepShape::addRows(int64_t length, int64_t count) {
  tokens += count;
  logits += 1;
  rowPositions += count * length + count * (count + 1) / 2;
  cachePositions += length + count;
}

StepCost &StepCost::operator+=(const StepCost &other) {
  weightBytes += other.weightBytes;
  cacheBytes += other.cacheBytes;
  activationBytes += other.activationBytes;
  flops += other.flops;
  return *this;
}

double moec::runtime::expectedExperts(int64_t tokens, int64_t perToken,
                                      int64_t experts) {
  if (experts == 0)
    return 0;
  auto all = static_cast<double>(experts);
  double missedByOne = 1 - static_cast<double>(perToken) / all;
  return all * (1 - std::pow(missedByOne, static_cast<double>(tokens)));
}

static double rowsOf(const Manifest &manifest, Manifest::Rows rows,
                     const StepShape &shape) {
  switch (rows) {
  case Manifest::Rows::tokens:
    return static_cast<double>(shape.tokens);
  case Manifest::Rows::logits:
    return static_cast<double>(shape.logits);
  case Manifest::Rows::pairs:
    return static_cast<double>(shape.tokens) *
           static_cast<double>(manifest.model.expertsPerToken);
  }
  __builtin_unreachable();
}

static StepCost kernelCost(const Manifest &manifest,
                           const Manifest::KernelCost &kernel,
                           const StepShape &shape) {
  double rows = rowsOf(manifest, kernel.rows, shape);
  if (rows == 0)
    return {};
  auto number = [](int64_t value) { return static_cast<double>(value); };
  double touched = expectedExperts(shape.tokens, manifest.model.expertsPerToken,
                                   kernel.experts);
  double runs = number(kernel.layers);
  StepCost cost;
  cost.weightBytes = runs * (number(kernel.weightBytes) +
                             touched * number(kernel.weightBytesPerExpert));
  cost.cacheBytes = runs * number(kernel.cacheBytesPerRowAndPosition) *
                    number(shape.cachePositions);
  cost.activationBytes = runs * rows * number(kernel.activationBytesPerRow);
  cost.flops = runs * (rows * number(kernel.flopsPerRow) +
                       number(shape.rowPositions) *
                           number(kernel.flopsPerRowAndPosition));
  return cost;
}

StepCost moec::runtime::stepCost(const Manifest &manifest,
                                 const StepShape &shape) {
  StepCost cost;
  for (const Manifest::KernelCost &kernel : manifest.cost)
    cost += kernelCost(manifest, kernel, shape);
  return cost;
}
