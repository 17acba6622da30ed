//===- FuseRmsNorm.cpp - Residual add, norm and quantisation -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "moec/Transforms/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace moec {
#define GEN_PASS_DEF_FUSERMSNORM
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

/// Do all users but `op` stand behind it in its block?
bool isFirstUser(Operation *op, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    return user == op || (ancestor && op->isBeforeInBlock(ancestor));
  });
}

/// rms_norm(add(a, b)) -> rms_norm a residual b, which also gives the sum.
struct FuseResidual : OpRewritePattern<fused::RmsNormOp> {
  FuseResidual(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(fused::RmsNormOp op,
                                PatternRewriter &rewriter) const override {
    auto add = op.getX().getDefiningOp<fused::AddOp>();
    if (!add || op.getResidual() || add->getBlock() != op->getBlock())
      return rewriter.notifyMatchFailure(op, "x is no sum of this block");
    if (!isFirstUser(op, add->getResult(0)))
      return rewriter.notifyMatchFailure(op, "the sum is used before the norm");
    SmallVector<Value> outs(op.getOuts());
    llvm::append_range(outs, add.getOuts());
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(types, add->getResultTypes());
    auto fusedOp = fused::RmsNormOp::create(
        rewriter, rewriter.getFusedLoc({add.getLoc(), op.getLoc()}), types,
        add.getA(), op.getGain(), add.getB(), outs, op.getEpsAttr(),
        op.getQuantizeGroupAttr());
    rewriter.replaceOp(op, fusedOp.getResults().drop_back());
    rewriter.replaceOp(add, fusedOp.getResults().take_back());
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

/// quantize(rms_norm(x)) -> rms_norm x with quantize_group, if nothing else
/// needs the norm's own result.
struct FuseQuantize : OpRewritePattern<fused::QuantizeOp> {
  FuseQuantize(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(fused::QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    auto norm = op.getX().getDefiningOp<fused::RmsNormOp>();
    if (!norm || norm.getQuantizeGroup() || op.getX() != norm->getResult(0) ||
        !op.getX().hasOneUse())
      return rewriter.notifyMatchFailure(op, "x is no norm of this use alone");
    // The codes' destinations may stand behind the norm.
    SmallVector<Value> outs(op.getOuts());
    llvm::append_range(outs, norm.getOuts().drop_front());
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(types, llvm::drop_begin(norm->getResultTypes()));
    if (norm.getResidual() && !isFirstUser(op, norm->getResult(1)))
      return rewriter.notifyMatchFailure(op, "the sum is used before x");
    auto fusedOp = fused::RmsNormOp::create(
        rewriter, rewriter.getFusedLoc({norm.getLoc(), op.getLoc()}), types,
        norm.getX(), norm.getGain(), norm.getResidual(), outs,
        norm.getEpsAttr(), op.getGroupAttr());
    if (norm.getResidual())
      rewriter.replaceAllUsesWith(norm->getResult(1),
                                  fusedOp->getResults().back());
    rewriter.replaceOp(op, fusedOp.getResults().take_front(2));
    rewriter.eraseOp(norm);
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

struct FuseRmsNorm : moec::impl::FuseRmsNormBase<FuseRmsNorm> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseResidual>(&getContext(), numResidual);
    patterns.add<FuseQuantize>(&getContext(), numQuantize);
    GreedyRewriteConfig config;
    // CSE would let kernels share destinations, and each would copy them.
    config.enableConstantCSE(false);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
