//===- FusedCost.cpp - FLOPs and bytes of kernels -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"

using namespace mlir;
using namespace moec;
using namespace moec::fused;

static int64_t elementBytes(Type type) {
  return llvm::divideCeil(getElementTypeOrSelf(type).getIntOrFloatBitWidth(),
                          8);
}

/// Bytes of a static shape.
static int64_t bytes(ShapedType type) {
  return type.getNumElements() * elementBytes(type);
}

/// Bytes of one row of a tensor of rows; of nothing if there is none.
static int64_t rowBytes(Value value) {
  if (!value)
    return 0;
  auto type = cast<ShapedType>(value.getType());
  int64_t count = 1;
  for (int64_t extent : type.getShape().drop_front())
    count *= extent;
  return count * elementBytes(type);
}

static int64_t rowBytes(ValueRange values) {
  int64_t sum = 0;
  for (Value value : values)
    sum += rowBytes(value);
  return sum;
}

static int64_t width(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
}

/// The head's rows are those whose logits are wanted.
static RowKind getRowKind(Value out) {
  auto empty = out.getDefiningOp<tensor::EmptyOp>();
  if (!empty || empty.getDynamicSizes().empty())
    return RowKind::tokens;
  auto extent = empty.getDynamicSizes()[0].getDefiningOp<rt::ExtentOp>();
  return extent && extent.getExtent() == rt::Extent::num_logits
             ? RowKind::logits
             : RowKind::tokens;
}

KernelCost LinearOp::getCost() {
  KernelCost cost;
  cost.rows = getRowKind(getOuts()[0]);
  for (Value part : llvm::concat<Value>(getWeights(), getWeightScales()))
    cost.weightBytes += bytes(cast<ShapedType>(part.getType()));
  auto weight = cast<ShapedType>(getWeights()[0].getType());
  int64_t products = getWeights().size() * weight.getNumElements();
  cost.flopsPerRow = 2 * products;
  cost.activationBytesPerRow = rowBytes(getX()) + rowBytes(getXScales()) +
                               rowBytes(getResidual()) + rowBytes(getOuts());
  return cost;
}

KernelCost GroupedLinearOp::getCost() {
  KernelCost cost;
  cost.rows = RowKind::pairs;
  cost.experts = getExperts();
  auto weight = cast<ShapedType>(getWeightType());
  cost.weightBytesPerExpert = bytes(weight);
  if (getScaleType())
    cost.weightBytesPerExpert += bytes(cast<ShapedType>(*getScaleType()));
  cost.weightBytesPerExpert *= getSlots().size();
  cost.flopsPerRow = 2 * getSlots().size() * weight.getNumElements();
  cost.activationBytesPerRow =
      rowBytes(getX()) + rowBytes(getXScales()) + rowBytes(getOuts());
  return cost;
}

KernelCost DispatchOp::getCost() {
  KernelCost cost;
  cost.activationBytesPerRow = 2 * rowBytes(getIndices());
  return cost;
}

KernelCost ExpertsOp::getCost() {
  // Its body's ops count for themselves.
  return {};
}

KernelCost CombineOp::getCost() {
  KernelCost cost;
  int64_t perToken = width(getRows());
  cost.flopsPerRow = 2 * perToken * width(getY());
  cost.activationBytesPerRow = perToken * rowBytes(getY()) +
                               rowBytes(getRows()) + rowBytes(getWeights()) +
                               rowBytes(getShared()) + rowBytes(getResidual()) +
                               rowBytes(getOuts());
  return cost;
}

KernelCost RmsNormOp::getCost() {
  KernelCost cost;
  cost.rows = getRowKind(getOuts()[0]);
  cost.weightBytes = bytes(cast<ShapedType>(getGain().getType()));
  cost.flopsPerRow = 4 * width(getX());
  cost.activationBytesPerRow =
      rowBytes(getX()) + rowBytes(getResidual()) + rowBytes(getOuts());
  return cost;
}

KernelCost QuantizeOp::getCost() {
  KernelCost cost;
  cost.flopsPerRow = 2 * width(getX());
  cost.activationBytesPerRow = rowBytes(getX()) + rowBytes(getOuts());
  return cost;
}

KernelCost SwigluOp::getCost() {
  KernelCost cost;
  cost.flopsPerRow = 4 * width(getGate());
  cost.activationBytesPerRow =
      rowBytes(getGate()) + rowBytes(getUp()) + rowBytes(getOuts());
  return cost;
}

KernelCost AddOp::getCost() {
  KernelCost cost;
  cost.flopsPerRow = width(getA());
  cost.activationBytesPerRow =
      rowBytes(getA()) + rowBytes(getB()) + rowBytes(getOuts());
  return cost;
}

KernelCost GatherRowsOp::getCost() {
  KernelCost cost;
  cost.rows = getRowKind(getOuts()[0]);
  // A row of the table is read for each row, however large the table is.
  cost.activationBytesPerRow = rowBytes(getTable()) + rowBytes(getOuts());
  return cost;
}

KernelCost RouterOp::getCost() {
  KernelCost cost;
  if (getBias())
    cost.weightBytes = bytes(cast<ShapedType>(getBias().getType()));
  // Scores and biases, and a comparison of each for each choice.
  cost.flopsPerRow = (4 + getTopK()) * width(getLogits());
  cost.activationBytesPerRow = rowBytes(getLogits()) + rowBytes(getOuts());
  return cost;
}

KernelCost RopeOp::getCost() {
  KernelCost cost;
  int64_t values = rowBytes(getX()) / elementBytes(getX().getType());
  cost.flopsPerRow = 3 * values;
  cost.activationBytesPerRow = rowBytes(getX()) + rowBytes(getCos()) +
                               rowBytes(getSin()) + rowBytes(getOuts());
  return cost;
}

KernelCost CacheWriteOp::getCost() {
  KernelCost cost;
  cost.activationBytesPerRow = rowBytes(getLatent()) + rowBytes(getKRope());
  cost.cacheBytesPerRow = (width(getLatent()) + width(getKRope())) *
                          elementBytes(getCache().getType());
  return cost;
}

KernelCost MlaPrepareOp::getCost() {
  KernelCost cost;
  cost.weightBytes = bytes(cast<ShapedType>(getGain().getType()));
  int64_t queries = rowBytes(getQRope()) / elementBytes(getQRope().getType());
  cost.flopsPerRow = 4 * width(getLatent()) + 3 * (width(getKRope()) + queries);
  cost.activationBytesPerRow = rowBytes(getLatent()) + rowBytes(getKRope()) +
                               rowBytes(getQRope()) + rowBytes(getCos()) +
                               rowBytes(getSin()) + rowBytes(getOuts());
  cost.cacheBytesPerRow = (width(getLatent()) + width(getKRope())) *
                          elementBytes(getCache().getType());
  return cost;
}

KernelCost MlaAttentionOp::getCost() {
  KernelCost cost;
  auto nope = cast<ShapedType>(getQNope().getType());
  int64_t heads = nope.getDimSize(1), key = nope.getDimSize(2);
  int64_t rope = width(getQRope()), value = width(getOuts()[0]);
  auto kvB = cast<ShapedType>(getKvB().getType());
  int64_t rank = kvB.getDimSize(1);
  cost.weightBytes = bytes(kvB);
  if (getKvBScales())
    cost.weightBytes += bytes(cast<ShapedType>(getKvBScales().getType()));
  cost.activationBytesPerRow =
      rowBytes(getQNope()) + rowBytes(getQRope()) + rowBytes(getOuts());
  cost.cacheBytesPerRowAndPosition =
      (rank + rope) * elementBytes(getCache().getType());
  if (getForm() == AttentionForm::absorbed) {
    cost.flopsPerRow = 2 * heads * rank * (key + value);
    cost.flopsPerRowAndPosition = 2 * heads * (2 * rank + rope);
  } else {
    // Keys and values of a position are made anew for each row.
    cost.flopsPerRowAndPosition =
        2 * heads * (rank * (key + value) + key + rope + value);
  }
  return cost;
}
