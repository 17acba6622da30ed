//===- ChooseFP8Tiles.cpp - Tile sizes of linear kernels -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Transforms/Passes.h"

namespace moec {
#define GEN_PASS_DEF_CHOOSEFP8TILES
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

/// Has the CPU a kernel for such weights? Blocks must not cut a group of 16
/// features (a vector's share) nor a piece of 16 bytes.
bool hasKernel(ShapedType weight, std::optional<ArrayRef<int64_t>> block) {
  Type element = weight.getElementType();
  if (!isa<Float8E4M3FNType, BFloat16Type, Float32Type>(element))
    return false;
  if (block && ((*block)[0] % 64 != 0 || (*block)[1] % 16 != 0))
    return false;
  return weight.getDimSize(0) >= 16;
}

/// Has the CPU a kernel for this attention? Vectors must fit into pages, blocks
/// of scales and the rank of the latent.
bool hasKernel(fused::MlaAttentionOp op) {
  auto kvB = cast<ShapedType>(op.getKvB().getType());
  auto value = cast<ShapedType>(op.getOuts()[0].getType()).getDimSize(2);
  auto nope = cast<ShapedType>(op.getQNope().getType()).getDimSize(2);
  int64_t pageSize = cast<ShapedType>(op.getCache().getType()).getDimSize(2);
  return op.getForm() == fused::AttentionForm::absorbed &&
         hasKernel(kvB, op.getBlock()) && kvB.getDimSize(1) % 16 == 0 &&
         nope % 16 == 0 && value % 16 == 0 &&
         fused::getTokenBlock(pageSize) % 8 == 0;
}

struct ChooseFP8Tiles : moec::impl::ChooseFP8TilesBase<ChooseFP8Tiles> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> kernels;
    getOperation().walk([&](Operation *op) { kernels.push_back(op); });
    for (Operation *op : kernels)
      if (choose(op).wasInterrupted())
        return signalPassFailure();
  }

private:
  WalkResult choose(Operation *op) {
    if (auto linear = dyn_cast<fused::LinearOp>(op))
      return choose(linear, cast<ShapedType>(linear.getWeights()[0].getType()));
    if (auto grouped = dyn_cast<fused::GroupedLinearOp>(op))
      return choose(grouped, cast<ShapedType>(grouped.getWeightType()));
    if (auto attention = dyn_cast<fused::MlaAttentionOp>(op))
      return choose(attention);
    return WalkResult::advance();
  }

  template <typename Op> WalkResult choose(Op op, ShapedType weight) {
    if (op.getTiles())
      return WalkResult::advance();
    if (!hasKernel(weight, op.getBlock())) {
      ++numLeft;
      return WalkResult::advance();
    }
    // A tile lies in one row of blocks, so that it has one scale per block of
    // K.
    int64_t tileColumns = columns > 0 ? columns.getValue() : 64;
    if (weight.getDimSize(0) < tileColumns)
      tileColumns = 16;
    auto tiles = fused::TilesAttr::getChecked(
        [&] { return op.emitOpError("choose-fp8-tiles: "); }, op.getContext(),
        tileColumns, rows > 0 ? rows.getValue() : 256,
        registerRows > 0 ? registerRows.getValue() : 6,
        streamRows >= 0 ? streamRows.getValue() : 4);
    if (!tiles)
      return WalkResult::interrupt();
    op.setTilesAttr(tiles);
    addScratch(op, weight);
    ++numTiled;
    return WalkResult::advance();
  }

  WalkResult choose(fused::MlaAttentionOp op) {
    if (op.getTiles())
      return WalkResult::advance();
    if (!hasKernel(op)) {
      ++numLeft;
      return WalkResult::advance();
    }
    auto tiles = fused::AttentionTilesAttr::getChecked(
        [&] { return op.emitOpError("choose-fp8-tiles: "); }, op.getContext(),
        split > 0 ? split.getValue() : 512, slots > 0 ? slots.getValue() : 64);
    if (!tiles)
      return WalkResult::interrupt();
    op.setTilesAttr(tiles);
    fused::AttentionScratch scratch = fused::getAttentionScratch(op, tiles);
    OpBuilder b(op);
    Value rows = b.createOrFold<tensor::DimOp>(op.getLoc(), op.getQNope(), 0);
    auto empty = [&](ArrayRef<OpFoldResult> sizes) -> Value {
      return tensor::EmptyOp::create(b, op.getLoc(), sizes, b.getI8Type());
    };
    addDestinations(op, {empty({rows, b.getIndexAttr(scratch.bytesPerRow)}),
                         empty({b.getIndexAttr(scratch.bytesFixed)})});
    ++numTiled;
    return WalkResult::advance();
  }

  /// A second destination, in which the kernel may lay out x anew: up to 4
  /// bytes for each feature, padded to pieces of 16.
  template <typename Op> void addScratch(Op op, ShapedType weight) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value rows = b.createOrFold<tensor::DimOp>(loc, op.getX(), 0);
    int64_t bytes = 4 * llvm::alignTo(weight.getDimSize(1), 16);
    Value scratch = tensor::EmptyOp::create(
        b, loc, SmallVector<OpFoldResult>{rows, b.getIndexAttr(bytes)},
        b.getI8Type());
    addDestinations(op, scratch);
  }

  template <typename Op> void addDestinations(Op op, ValueRange scratch) {
    OpBuilder b(op);
    op.getOutsMutable().append(scratch);
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(types, scratch.getTypes());
    OperationState state(op.getLoc(), op->getName(), op->getOperands(), types,
                         op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *tiled = b.create(state);
    op->replaceAllUsesWith(tiled->getResults().drop_back(scratch.size()));
    op->erase();
  }
};

} // namespace
