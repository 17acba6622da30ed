//===- FuseEpilogues.cpp - Gating and residual adds into kernels -*- C++
//-*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Transforms/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace moec {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

/// A kernel whose only result `value` is, if nothing else uses it.
template <typename Op> Op getSoleProducer(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && value.hasOneUse() ? op : Op();
}

bool isPlain(fused::LinearOp op) {
  return op.getEpilogue() == fused::Epilogue::none && !op.getResidual();
}

/// swiglu(linear(x, w0), linear(x, w1)) -> linear(x, (w0, w1)) with swiglu.
struct FuseSwiglu : OpRewritePattern<fused::SwigluOp> {
  FuseSwiglu(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(fused::SwigluOp op,
                                PatternRewriter &rewriter) const override {
    auto gate = getSoleProducer<fused::LinearOp>(op.getGate());
    auto up = getSoleProducer<fused::LinearOp>(op.getUp());
    if (!gate || !up || !isPlain(gate) || !isPlain(up))
      return rewriter.notifyMatchFailure(
          op, "gate and up are not plain linear layers of this use alone");
    if (gate.getX() != up.getX() || gate.getXScales() != up.getXScales() ||
        gate.getBlockAttr() != up.getBlockAttr() ||
        gate.getWeights()[0].getType() != up.getWeights()[0].getType())
      return rewriter.notifyMatchFailure(
          op, "gate and up differ in their input or in their weights' type");
    SmallVector<Value> weights{gate.getWeights()[0], up.getWeights()[0]};
    SmallVector<Value> scales(gate.getWeightScales());
    llvm::append_range(scales, up.getWeightScales());
    auto fusedOp = fused::LinearOp::create(
        rewriter,
        rewriter.getFusedLoc({gate.getLoc(), up.getLoc(), op.getLoc()}),
        op.getResultTypes(), gate.getX(), gate.getXScales(), weights, scales,
        /*residual=*/Value(), op.getOuts(), gate.getBlockAttr(),
        fused::EpilogueAttr::get(getContext(), fused::Epilogue::swiglu),
        fused::TilesAttr());
    rewriter.replaceOp(op, fusedOp);
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

/// add(linear(x, w), r) -> linear(x, w) with the residual r, and the same for
/// combine, which takes the shared experts' output first.
struct FuseAdd : OpRewritePattern<fused::AddOp> {
  FuseAdd(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(fused::AddOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [sum, other] :
         {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())})
      if (succeeded(fuse(op, sum, other, rewriter))) {
        ++count;
        return success();
      }
    return rewriter.notifyMatchFailure(
        op, "no operand is a linear layer or a combine of this use alone");
  }

private:
  /// The kernel reads `other` where the add stands.
  static LogicalResult fuse(fused::AddOp op, Value sum, Value other,
                            PatternRewriter &rewriter) {
    auto linear = getSoleProducer<fused::LinearOp>(sum);
    if (linear && isPlain(linear)) {
      replace(op, linear, linear.getResidualMutable(), other, rewriter);
      return success();
    }
    auto combine = getSoleProducer<fused::CombineOp>(sum);
    if (!combine || combine.getResidual())
      return failure();
    replace(op, combine,
            combine.getShared() ? combine.getResidualMutable()
                                : combine.getSharedMutable(),
            other, rewriter);
    return success();
  }

  template <typename Op>
  static void replace(fused::AddOp op, Op kernel, MutableOperandRange place,
                      Value other, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(kernel, [&] {
      place.assign(other);
      kernel->setLoc(rewriter.getFusedLoc({kernel.getLoc(), op.getLoc()}));
    });
    // `other` may stand behind the kernel.
    rewriter.moveOpBefore(kernel, op);
    rewriter.replaceOp(op, kernel->getResults());
  }

  Pass::Statistic &count;
};

struct FuseEpilogues : moec::impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseSwiglu>(&getContext(), numSwiglu);
    patterns.add<FuseAdd>(&getContext(), numResidual);
    GreedyRewriteConfig config;
    // CSE would let kernels share destinations, and each would copy them.
    config.enableConstantCSE(false);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
