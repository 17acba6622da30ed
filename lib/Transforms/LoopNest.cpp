//===- LoopNest.cpp - A linalg op as loops of vectors -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "dialects/Runtime/RuntimeOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace moec;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

bool LoopNest::hasUnitStride(OpOperand &operand) const {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || type.getRank() == 0)
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

void LoopNest::chooseLaneDim() {
  int64_t bestScore = 0;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim) {
    SmallVector<LanePattern> candidate;
    int64_t score = 0;
    bool fits = true;
    for (OpOperand &operand : op->getOpOperands()) {
      auto pattern =
          getLanePattern(op.getMatchingIndexingMap(&operand), dim, maxLanes);
      fits &= pattern.has_value();
      if (!fits)
        break;
      bool uniform = pattern->isUniform();
      if (op.isDpsInit(&operand))
        fits &=
            isReduction(dim) ? uniform : pattern->isContiguous() && !uniform;
      fits &= uniform || hasUnitStride(operand);
      score += !uniform;
      candidate.push_back(*pattern);
    }
    // On a tie the innermost parallel dimension is better: it needs no sum over
    // the lanes at the end.
    if (!fits || score == 0 || score < bestScore)
      continue;
    if (score == bestScore && isReduction(dim))
      continue;
    bestScore = score;
    laneDim = dim;
    patterns = candidate;
  }
  lanes = laneDim ? maxLanes : 1;
  if (!laneDim) {
    LanePattern scalar;
    scalar.offsets.assign(1, 0);
    patterns.assign(op->getNumOperands(), scalar);
  }
}

void LoopNest::chooseBlocks() {
  SmallVector<int64_t> shape = op.getStaticLoopRanges();
  SmallVector<unsigned> dynamicDims;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim) {
    if (laneDim == dim)
      continue;
    if (isReduction(dim))
      reductions.push_back(dim);
    else if (ShapedType::isDynamic(shape[dim]) && combiner)
      dynamicDims.push_back(dim);
    else
      order.push_back(dim);
  }
  bool onlyDynamic = order.empty();
  numParallelDims = onlyDynamic ? dynamicDims.size() : order.size();
  llvm::append_range(order, dynamicDims);
  // Elementwise ops: the outermost dimension alone has enough iterations.
  if (!combiner)
    numParallelDims = std::min<unsigned>(order.size(), 1);

  blockSizes.assign(op.getNumLoops(), 1);
  if (!combiner || !laneDim)
    return;
  // A dimension that some vector operand does not depend on reuses it.
  for (unsigned dim : order)
    for (OpOperand *input : op.getDpsInputOperands())
      if (!patterns[input->getOperandNumber()].isUniform() &&
          !op.getMatchingIndexingMap(input).isFunctionOfDim(dim))
        blockSizes[dim] = maxBlock;
  // Without reuse in rows, several vectors along the lanes hide the latency of
  // the multiply-adds.
  if (!isReduction(*laneDim))
    blockSizes[*laneDim] = 2;
}

LogicalResult LoopNest::matchReduction() {
  if (op.getNumReductionLoops() == 0)
    return success();
  SmallVector<Operation *> combiners;
  if (op.getNumDpsInits() != 1 ||
      !mlir::matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1 || !arith::getNeutralElement(combiners.front()))
    return op.emitOpError("expects a reduction into one result by one "
                          "combining operation that has a neutral element");
  combiner = combiners.front();
  partialOperand =
      combiner->getOperand(0) == op.getRegionOutputArgs().front() ? 0 : 1;
  Operation *value = combiner->getOperand(1 - partialOperand).getDefiningOp();
  if (isa<arith::AddFOp>(combiner) && isa_and_nonnull<arith::MulFOp>(value) &&
      value->hasOneUse() && value->getBlock() == op.getBody())
    product = value;
  return success();
}

LogicalResult LoopNest::analyze() {
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isa<linalg::IndexOp, arith::ConstantOp>(inner) &&
        !OpTrait::hasElementwiseMappableTraits(&inner))
      return inner.emitOpError("is not elementwise; found in the body of a "
                               "linalg op that is to be vectorised");
  if (failed(matchReduction()))
    return failure();
  chooseLaneDim();
  chooseBlocks();
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value LoopNest::constant(OpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, op.getLoc(), value);
}

static Value toValue(OpBuilder &b, Location loc, OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(b, loc, value);
}

std::pair<Value, std::optional<int64_t>>
LoopNest::splitExtent(OpBuilder &b, unsigned dim, int64_t step) {
  if (auto extent = getConstantIntValue(extents[dim]))
    return {constant(b, *extent - *extent % step), *extent % step};
  AffineExpr e = b.getAffineSymbolExpr(0);
  OpFoldResult whole = affine::makeComposedFoldedAffineApply(
      b, op.getLoc(), e - e % step, {extents[dim]});
  return {toValue(b, op.getLoc(), whole), std::nullopt};
}

void LoopNest::emit(OpBuilder &b, Value step) {
  for (Range range : cast<linalg::LinalgOp>(op.getOperation())
                         .createLoopRanges(b, op.getLoc()))
    extents.push_back(range.size);
  ivs.assign(op.getNumLoops(), Value());
  blocks.assign(op.getNumLoops(), 1);
  if (step && numParallelDims > 0)
    return emitParallel(b, step);
  emitLoops(b, 0);
}

void LoopNest::emitParallel(OpBuilder &b, Value step) {
  Location loc = op.getLoc();
  SmallVector<Value> counts;
  Value count = constant(b, 1);
  for (unsigned dim : ArrayRef(order).take_front(numParallelDims)) {
    AffineExpr e = b.getAffineSymbolExpr(0);
    OpFoldResult number = affine::makeComposedFoldedAffineApply(
        b, loc, e.ceilDiv(blockSizes[dim]), {extents[dim]});
    counts.push_back(toValue(b, loc, number));
    count = b.createOrFold<arith::MulIOp>(loc, count, counts.back());
  }
  Value count64 = arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
  auto parallel = rt::ParallelOp::create(b, loc, step, count64);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&parallel.getBody(), {},
                              {b.getI64Type(), b.getI64Type()}, {loc, loc});
  Value begin = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                           body->getArgument(0));
  Value end = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                         body->getArgument(1));
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(b, 1));
  rt::YieldOp::create(b, loc);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> numbers{loop.getInductionVar()};
  if (numParallelDims > 1)
    numbers = affine::AffineDelinearizeIndexOp::create(
                  b, loc, loop.getInductionVar(), counts)
                  .getResults();
  emitBlock(b, numbers, 0);
}

/// Emits the block with the given numbers; the last block of a dimension may be
/// shorter.
void LoopNest::emitBlock(OpBuilder &b, ArrayRef<Value> blockNumbers,
                         unsigned level) {
  if (level == numParallelDims)
    return emitLoops(b, level);
  Location loc = op.getLoc();
  unsigned dim = order[level];
  int64_t block = blockSizes[dim];
  AffineExpr number = b.getAffineDimExpr(0);
  ivs[dim] = affine::makeComposedAffineApply(b, loc, number * block,
                                             {blockNumbers[level]});
  blocks[dim] = block;
  auto staticExtent = getConstantIntValue(extents[dim]);
  if (block == 1 || (staticExtent && *staticExtent % block == 0))
    return emitBlock(b, blockNumbers, level + 1);

  Value limit = toValue(b, loc, extents[dim]);
  Value last = affine::makeComposedAffineApply(b, loc, number + block,
                                               {OpFoldResult(ivs[dim])});
  Value whole =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, last, limit);
  auto choice = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  emitBlock(b, blockNumbers, level + 1);
  b.setInsertionPointToStart(choice.elseBlock());
  if (staticExtent) {
    blocks[dim] = *staticExtent % block;
    return emitBlock(b, blockNumbers, level + 1);
  }
  auto rest = scf::ForOp::create(b, loc, ivs[dim], limit, constant(b, 1));
  b.setInsertionPointToStart(rest.getBody());
  ivs[dim] = rest.getInductionVar();
  blocks[dim] = 1;
  emitBlock(b, blockNumbers, level + 1);
}

void LoopNest::emitLoops(OpBuilder &b, unsigned level) {
  if (level == order.size())
    return emitLanes(b);
  Location loc = op.getLoc();
  unsigned dim = order[level];
  auto [whole, rest] = splitExtent(b, dim, blockSizes[dim]);
  OpBuilder::InsertionGuard guard(b);
  auto main = scf::ForOp::create(b, loc, constant(b, 0), whole,
                                 constant(b, blockSizes[dim]));
  if (rest && *rest > 0) {
    ivs[dim] = whole;
    blocks[dim] = *rest;
    emitLoops(b, level + 1);
  } else if (!rest && blockSizes[dim] > 1) {
    auto single = scf::ForOp::create(
        b, loc, whole, toValue(b, loc, extents[dim]), constant(b, 1));
    b.setInsertionPointToStart(single.getBody());
    ivs[dim] = single.getInductionVar();
    blocks[dim] = 1;
    emitLoops(b, level + 1);
  }
  b.setInsertionPointToStart(main.getBody());
  ivs[dim] = main.getInductionVar();
  blocks[dim] = blockSizes[dim];
  emitLoops(b, level + 1);
}

/// The loops along the lanes if they are parallel: several vectors at a time,
/// single vectors, and a masked vector for the rest.
void LoopNest::emitLanes(OpBuilder &b) {
  if (!laneDim || isReduction(*laneDim))
    return emitPoint(b);
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  Value begin = constant(b, 0);
  SmallVector<int64_t> vectorCounts{1};
  if (blockSizes[*laneDim] > 1)
    vectorCounts.insert(vectorCounts.begin(), blockSizes[*laneDim]);
  std::optional<int64_t> rest;
  for (int64_t vectors : vectorCounts) {
    Value whole;
    std::tie(whole, rest) = splitExtent(b, *laneDim, vectors * lanes);
    auto loop =
        scf::ForOp::create(b, loc, begin, whole, constant(b, vectors * lanes));
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(loop.getBody());
    ivs[*laneDim] = loop.getInductionVar();
    blocks[*laneDim] = vectors;
    emitPoint(b);
    begin = whole;
  }
  if (rest && *rest == 0)
    return;
  Value limit = toValue(b, loc, extents[*laneDim]);
  auto tail = scf::ForOp::create(b, loc, begin, limit, constant(b, lanes));
  b.setInsertionPointToStart(tail.getBody());
  ivs[*laneDim] = tail.getInductionVar();
  blocks[*laneDim] = 1;
  remaining = b.createOrFold<arith::SubIOp>(loc, limit, ivs[*laneDim]);
  emitPoint(b);
  remaining = Value();
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

SmallVector<LoopNest::Instance> LoopNest::getInstances() {
  SmallVector<Instance> instances{Instance(op.getNumLoops(), 0)};
  auto multiply = [&](unsigned dim, int64_t count, int64_t stride) {
    SmallVector<Instance> product;
    for (const Instance &instance : instances)
      for (int64_t number = 0; number < count; ++number) {
        product.push_back(instance);
        product.back()[dim] = number * stride;
      }
    instances = std::move(product);
  };
  for (unsigned dim : order)
    multiply(dim, blocks[dim], 1);
  if (laneDim && !isReduction(*laneDim))
    multiply(*laneDim, blocks[*laneDim], lanes);
  return instances;
}

void LoopNest::emitPoint(OpBuilder &b) {
  Location loc = op.getLoc();
  SmallVector<Instance> instances = getInstances();
  if (!combiner) {
    for (const Instance &instance : instances) {
      SmallVector<Value> results = inlineBody(b, instance);
      for (auto [init, result] : llvm::zip(op.getDpsInitsMutable(), results))
        write(b, init, instance, result);
    }
    return;
  }
  OpOperand &init = op.getDpsInitsMutable()[0];
  bool sumsLanes = laneDim && isReduction(*laneDim);
  SmallVector<Value> partials;
  for (const Instance &instance : instances) {
    if (!sumsLanes) {
      partials.push_back(read(b, init, instance));
      continue;
    }
    Value neutral =
        arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner));
    partials.push_back(toLanes(b, neutral));
  }
  partials = emitReduction(b, 0, instances, partials);
  for (auto [instance, partial] : llvm::zip(instances, partials)) {
    if (!sumsLanes) {
      write(b, init, instance, partial);
      continue;
    }
    // The result is one element, whatever the lanes hold.
    SmallVector<Value> at;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      at.push_back(getIndex(b, expr, instance));
    Value before = memref::LoadOp::create(b, loc, init.get(), at);
    Value sum = combine(b, before, addUpLanes(b, partial));
    memref::StoreOp::create(b, loc, sum, init.get(), at);
  }
}

SmallVector<Value> LoopNest::emitReduction(OpBuilder &b, unsigned level,
                                           ArrayRef<Instance> instances,
                                           ValueRange partials) {
  if (level == reductions.size()) {
    if (laneDim && isReduction(*laneDim))
      return emitLaneReduction(b, instances, partials);
    return accumulate(b, instances, partials);
  }
  unsigned dim = reductions[level];
  auto loop = scf::ForOp::create(
      b, op.getLoc(), constant(b, 0), toValue(b, op.getLoc(), extents[dim]),
      constant(b, 1), partials,
      [&](OpBuilder &inner, Location loc, Value iv, ValueRange carried) {
        ivs[dim] = iv;
        scf::YieldOp::create(
            inner, loc, emitReduction(inner, level + 1, instances, carried));
      });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> LoopNest::emitLaneReduction(OpBuilder &b,
                                               ArrayRef<Instance> instances,
                                               ValueRange partials) {
  Location loc = op.getLoc();
  auto emitLoop = [&](Value begin, Value end, ValueRange inits, bool tail) {
    auto loop = scf::ForOp::create(
        b, loc, begin, end, constant(b, lanes), inits,
        [&](OpBuilder &inner, Location loc, Value iv, ValueRange carried) {
          ivs[*laneDim] = iv;
          if (tail)
            remaining = inner.createOrFold<arith::SubIOp>(loc, end, iv);
          scf::YieldOp::create(inner, loc,
                               accumulate(inner, instances, carried));
          remaining = Value();
        });
    return SmallVector<Value>(loop.getResults());
  };
  auto [whole, rest] = splitExtent(b, *laneDim, lanes);
  SmallVector<Value> sums = emitLoop(constant(b, 0), whole, partials, false);
  if (rest && *rest == 0)
    return sums;
  return emitLoop(whole, toValue(b, loc, extents[*laneDim]), sums, true);
}

SmallVector<Value> LoopNest::accumulate(OpBuilder &b,
                                        ArrayRef<Instance> instances,
                                        ValueRange partials) {
  Location loc = op.getLoc();
  SmallVector<Value> results;
  for (auto [instance, partial] : llvm::zip(instances, partials)) {
    SmallVector<Value> values = inlineBody(b, instance);
    // math.fma is one rounding by definition; a vector.fma would become
    // llvm.fmuladd, which may or may not be.
    Value result =
        product ? math::FmaOp::create(b, loc, values[0], values[1], partial)
                      .getResult()
                : combine(b, partial, values[0]);
    bool sumsLanes = laneDim && isReduction(*laneDim);
    if (remaining && sumsLanes)
      result = arith::SelectOp::create(b, loc, getMask(b, remaining, lanes),
                                       result, partial);
    results.push_back(result);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Type LoopNest::getLaneType(Type element) const {
  return lanes == 1 ? element : VectorType::get({lanes}, element);
}

Value LoopNest::toLanes(OpBuilder &b, Value scalar) {
  if (lanes == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, op.getLoc(),
                                     getLaneType(scalar.getType()), scalar);
}

Value LoopNest::getMask(OpBuilder &b, Value count, int64_t maskLanes) {
  return vector::CreateMaskOp::create(
      b, op.getLoc(), VectorType::get({maskLanes}, b.getI1Type()), count);
}

Value LoopNest::getIndex(OpBuilder &b, AffineExpr expr,
                         const Instance &instance) {
  SmallVector<AffineExpr> shifted;
  SmallVector<OpFoldResult> operands;
  for (auto [dim, offset] : llvm::enumerate(instance)) {
    shifted.push_back(b.getAffineDimExpr(dim) + offset);
    operands.push_back(ivs[dim] ? OpFoldResult(ivs[dim])
                                : OpFoldResult(b.getIndexAttr(0)));
  }
  AffineMap map = AffineMap::get(instance.size(), 0, expr.replaceDims(shifted));
  return toValue(
      b, op.getLoc(),
      affine::makeComposedFoldedAffineApply(b, op.getLoc(), map, operands));
}

/// 1 for memory of a checkpoint, whose tensors may begin at any byte; else
/// null: that of the element type.
static IntegerAttr getLoadAlignment(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  if (!memory.getDefiningOp<rt::WeightOp>())
    return IntegerAttr();
  return IntegerAttr::get(IntegerType::get(memory.getContext(), 64), 1);
}

Value LoopNest::read(OpBuilder &b, OpOperand &operand,
                     const Instance &instance) {
  Location loc = op.getLoc();
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return toLanes(b, operand.get());
  const LanePattern &pattern = patterns[operand.getOperandNumber()];
  SmallVector<Value> at;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    at.push_back(getIndex(b, expr, instance));
  IntegerAttr alignment = getLoadAlignment(operand.get());
  if (pattern.isUniform()) {
    auto load = memref::LoadOp::create(b, loc, operand.get(), at);
    load.setAlignmentAttr(alignment);
    return toLanes(b, load);
  }

  if (pattern.lowest != 0)
    at.back() =
        arith::AddIOp::create(b, loc, at.back(), constant(b, pattern.lowest));
  auto windowType = VectorType::get({pattern.window()}, type.getElementType());
  Value window;
  if (!remaining) {
    auto load = vector::LoadOp::create(b, loc, windowType, operand.get(), at);
    load.setAlignmentAttr(alignment);
    window = load;
  } else {
    // Elements behind the end of the row are not touched.
    Value size =
        memref::DimOp::create(b, loc, operand.get(), type.getRank() - 1);
    Value left = pattern.isContiguous()
                     ? remaining
                     : b.createOrFold<arith::SubIOp>(loc, size, at.back());
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(windowType));
    auto load =
        vector::MaskedLoadOp::create(b, loc, windowType, operand.get(), at,
                                     getMask(b, left, pattern.window()), zero);
    load.setAlignmentAttr(alignment);
    window = load;
  }
  if (pattern.isContiguous())
    return window;
  return vector::ShuffleOp::create(b, loc, window, window, pattern.offsets);
}

void LoopNest::write(OpBuilder &b, OpOperand &operand, const Instance &instance,
                     Value value) {
  Location loc = op.getLoc();
  SmallVector<Value> at;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    at.push_back(getIndex(b, expr, instance));
  if (lanes == 1)
    memref::StoreOp::create(b, loc, value, operand.get(), at);
  else if (!remaining)
    vector::StoreOp::create(b, loc, value, operand.get(), at);
  else
    vector::MaskedStoreOp::create(b, loc, operand.get(), at,
                                  getMask(b, remaining, lanes), value);
}

SmallVector<Value> LoopNest::inlineBody(OpBuilder &b,
                                        const Instance &instance) {
  Location loc = op.getLoc();
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    bool isPartial = combiner && op.isDpsInit(&operand);
    if (!argument.use_empty() && !isPartial)
      mapping.map(argument, read(b, operand, instance));
  }
  auto lookup = [&](Value value) {
    return toLanes(b, mapping.lookupOrDefault(value));
  };
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (&inner == combiner || &inner == product)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      unsigned dim = index.getDim();
      Value value = toLanes(b, getIndex(b, b.getAffineDimExpr(dim), instance));
      if (laneDim == dim)
        value = arith::AddIOp::create(
            b, loc, value,
            vector::StepOp::create(
                b, loc, cast<VectorType>(getLaneType(b.getIndexType()))));
      mapping.map(index.getResult(), value);
      continue;
    }
    if (isa<arith::ConstantOp>(inner)) {
      Operation *copy = b.clone(inner);
      mapping.map(inner.getResult(0), toLanes(b, copy->getResult(0)));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(lookup(operand));
    SmallVector<Type> types;
    for (Type type : inner.getResultTypes())
      types.push_back(getLaneType(type));
    Operation *copy = b.create(inner.getLoc(), inner.getName().getIdentifier(),
                               operands, types, inner.getAttrs());
    mapping.map(inner.getResults(), copy->getResults());
  }
  SmallVector<Value> results;
  if (product)
    return {lookup(product->getOperand(0)), lookup(product->getOperand(1))};
  if (combiner)
    return {lookup(combiner->getOperand(1 - partialOperand))};
  for (Value yielded : op.getBody()->getTerminator()->getOperands())
    results.push_back(lookup(yielded));
  return results;
}

Value LoopNest::combine(OpBuilder &b, Value left, Value right) {
  return b
      .create(op.getLoc(), combiner->getName().getIdentifier(), {left, right},
              {left.getType()}, combiner->getAttrs())
      ->getResult(0);
}

/// Adds up (or combines otherwise) the lanes as a tree of halves: a fixed
/// order, and log2(lanes) steps instead of the chain that an ordered
/// `vector.reduction` stands for.
Value LoopNest::addUpLanes(OpBuilder &b, Value vector) {
  Location loc = op.getLoc();
  for (int64_t width = lanes / 2; width >= 1; width /= 2) {
    Value low = vector::ExtractStridedSliceOp::create(
        b, loc, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{width},
        ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(
        b, loc, vector, ArrayRef<int64_t>{width}, ArrayRef<int64_t>{width},
        ArrayRef<int64_t>{1});
    vector = combine(b, low, high);
  }
  return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{0});
}
