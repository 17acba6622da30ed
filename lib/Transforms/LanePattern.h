//===- LanePattern.h - How an access moves along the lanes -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_TRANSFORMS_LANEPATTERN_H
#define MOEC_LIB_TRANSFORMS_LANEPATTERN_H

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace moec {

/// Where the lanes of one vector find their elements, relative to the element
/// of lane 0, in the last dimension of a memref. With 8 lanes along d:
///
///   expression        offsets             read as
///   k                 0 0 0 0 0 0 0 0     one element, broadcast
///   d                 0 1 2 3 4 5 6 7     a vector
///   d floordiv 128    0 0 0 0 0 0 0 0     one element (a block's scale)
///   d floordiv 2      0 0 1 1 2 2 3 3     half a vector, shuffled (rope's cos)
///   d + 1 - 2(d % 2)  1 0 3 2 5 4 7 6     a vector, shuffled (rope's partner)
struct LanePattern {
  /// Offset of each lane from `lowest`; all >= 0.
  llvm::SmallVector<int64_t> offsets;
  /// Offset of the lowest element from the element of lane 0; <= 0.
  int64_t lowest = 0;

  bool isUniform() const;
  bool isContiguous() const;
  /// Elements from the lowest to the highest one.
  int64_t window() const;
};

/// The pattern of an access through `map` along the dimension `laneDim`, for
/// vectors that begin at multiples of `lanes`. No value if the pattern is not
/// the same for each such vector, or if the lanes spread over other dimensions
/// of the memref than its last.
std::optional<LanePattern> getLanePattern(mlir::AffineMap map, unsigned laneDim,
                                          int64_t lanes);

} // namespace moec

#endif // MOEC_LIB_TRANSFORMS_LANEPATTERN_H
