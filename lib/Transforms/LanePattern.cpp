//===- LanePattern.cpp - How an access moves along the lanes -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LanePattern.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;
using namespace moec;

bool LanePattern::isUniform() const {
  return llvm::all_of(offsets, [](int64_t offset) { return offset == 0; });
}

bool LanePattern::isContiguous() const {
  return llvm::all_of(llvm::enumerate(offsets), [](auto lane) {
    return lane.value() == static_cast<int64_t>(lane.index());
  });
}

int64_t LanePattern::window() const { return *llvm::max_element(offsets) + 1; }

/// Adds the terms of a sum that contain the lane dimension to `lane`; fails if
/// one of them contains another dimension too.
static bool collectLaneTerms(AffineExpr expr, unsigned laneDim,
                             SmallVectorImpl<AffineExpr> &lane) {
  if (!expr.isFunctionOfDim(laneDim))
    return true;
  if (expr.getKind() == AffineExprKind::Add) {
    auto sum = cast<AffineBinaryOpExpr>(expr);
    return collectLaneTerms(sum.getLHS(), laneDim, lane) &&
           collectLaneTerms(sum.getRHS(), laneDim, lane);
  }
  bool mixed = false;
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      mixed |= dim.getPosition() != laneDim;
    mixed |= isa<AffineSymbolExpr>(part);
  });
  lane.push_back(expr);
  return !mixed;
}

/// Value of a sum of terms in one dimension at `position`.
static int64_t evaluate(ArrayRef<AffineExpr> terms, unsigned laneDim,
                        unsigned numDims, int64_t position) {
  MLIRContext *context = terms.front().getContext();
  SmallVector<AffineExpr> at(numDims, getAffineConstantExpr(0, context));
  at[laneDim] = getAffineConstantExpr(position, context);
  int64_t sum = 0;
  for (AffineExpr term : terms) {
    AffineExpr value = simplifyAffineExpr(term.replaceDims(at), 0, 0);
    sum += cast<AffineConstantExpr>(value).getValue();
  }
  return sum;
}

/// Whether every divisor and modulus in `expr` is a multiple of `lanes` or
/// divides it.
static bool hasAlignedDivisors(AffineExpr expr, int64_t lanes) {
  bool aligned = true;
  expr.walk([&](AffineExpr part) {
    if (part.getKind() != AffineExprKind::FloorDiv &&
        part.getKind() != AffineExprKind::CeilDiv &&
        part.getKind() != AffineExprKind::Mod)
      return;
    auto divisor =
        dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS());
    aligned &= divisor && (divisor.getValue() % lanes == 0 ||
                           lanes % divisor.getValue() == 0);
  });
  return aligned;
}

/// Offsets of one index expression, relative to lane 0.
static std::optional<SmallVector<int64_t>>
getOffsets(AffineExpr expr, unsigned laneDim, unsigned numDims, int64_t lanes) {
  SmallVector<int64_t> offsets(lanes, 0);
  if (!expr.isFunctionOfDim(laneDim))
    return offsets;
  if (isa<AffineDimExpr>(expr)) {
    std::iota(offsets.begin(), offsets.end(), 0);
    return offsets;
  }
  SmallVector<AffineExpr> terms;
  if (!collectLaneTerms(expr, laneDim, terms))
    return std::nullopt;
  // A term repeats from vector to vector if its divisors are multiples of the
  // lanes or divide them; the first vectors then show whether an added constant
  // breaks that.
  for (AffineExpr term : terms)
    if (!hasAlignedDivisors(term, lanes))
      return std::nullopt;
  constexpr int64_t checkedVectors = 16;
  for (int64_t base = 0; base < checkedVectors * lanes; base += lanes) {
    int64_t first = evaluate(terms, laneDim, numDims, base);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t offset = evaluate(terms, laneDim, numDims, base + lane) - first;
      if (base == 0)
        offsets[lane] = offset;
      else if (offsets[lane] != offset)
        return std::nullopt;
    }
  }
  return offsets;
}

std::optional<LanePattern> moec::getLanePattern(AffineMap map, unsigned laneDim,
                                                int64_t lanes) {
  LanePattern pattern;
  pattern.offsets.assign(lanes, 0);
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    auto offsets = getOffsets(expr, laneDim, map.getNumDims(), lanes);
    if (!offsets)
      return std::nullopt;
    bool uniform = llvm::all_of(*offsets, [](int64_t o) { return o == 0; });
    if (uniform)
      continue;
    if (position + 1 != map.getNumResults())
      return std::nullopt;
    pattern.lowest = *llvm::min_element(*offsets);
    for (auto [offset, from] : llvm::zip(pattern.offsets, *offsets))
      offset = from - pattern.lowest;
  }
  return pattern;
}
