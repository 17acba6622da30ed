//===- FusedTiling.cpp - Tiles of kernels -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace moec;
using namespace moec::fused;

//===----------------------------------------------------------------------===//
// fused.linear: rows and output features
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> LinearOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::parallel};
}

SmallVector<Range> LinearOp::getIterationDomain(OpBuilder &b) {
  SmallVector<Range> domain;
  for (unsigned dim : {0u, 1u})
    domain.push_back({b.getIndexAttr(0),
                      tensor::getMixedSize(b, getLoc(), getOuts()[0], dim),
                      b.getIndexAttr(1)});
  return domain;
}

/// Rows [offset, + size) of a tensor, or all of its second dimension's part.
static Value slice(OpBuilder &b, Location loc, Value tensor,
                   ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes,
                                        strides);
}

FailureOr<TilingResult>
LinearOp::getTiledImplementation(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes) {
  Location loc = getLoc();
  auto columns = getConstantIntValue(sizes[1]);
  auto firstColumn = getConstantIntValue(offsets[1]);
  auto weight = cast<RankedTensorType>(getWeights()[0].getType());
  bool allColumns = columns == weight.getDimSize(0) && firstColumn == 0;
  // A tile of columns takes whole blocks of scales: its first column must be
  // known to begin one, which only the attribute's own tiles say.
  if (getBlock() && !allColumns)
    return emitOpError("expects tiles over rows only where weights are "
                       "block-scaled");
  OpFoldResult zero = b.getIndexAttr(0);
  auto wholeWidth = [&](Value tensor) -> OpFoldResult {
    return tensor::getMixedSize(b, loc, tensor, 1);
  };
  SmallVector<Value> operands;
  SmallVector<Operation *> slices;
  for (OpOperand &operand : (*this)->getOpOperands()) {
    Value value = operand.get();
    bool isWeight = llvm::is_contained(getWeights(), value);
    if (llvm::is_contained(getWeightScales(), value)) {
      operands.push_back(value);
      continue;
    }
    Value tile;
    if (isWeight)
      tile = slice(b, loc, value, {offsets[1], zero},
                   {sizes[1], wholeWidth(value)});
    else if (value == getX() || value == getXScales())
      tile = slice(b, loc, value, {offsets[0], zero},
                   {sizes[0], wholeWidth(value)});
    else
      tile =
          slice(b, loc, value, {offsets[0], offsets[1]}, {sizes[0], sizes[1]});
    operands.push_back(tile);
    slices.push_back(tile.getDefiningOp());
  }
  Type result = operands.back().getType();
  Operation *tiled = mlir::clone(b, *this, TypeRange(result), operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult LinearOp::getResultTilePosition(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  return success();
}
