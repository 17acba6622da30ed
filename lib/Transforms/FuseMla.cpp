//===- FuseMla.cpp - One kernel before attention -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "moec/Transforms/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace moec {
#define GEN_PASS_DEF_FUSEMLA
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

template <typename Op> Op getSoleProducer(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && value.hasOneUse() ? op : Op();
}

/// The write into the cache that attention reads, before it in its block.
fused::CacheWriteOp findWrite(fused::MlaAttentionOp attention) {
  for (Operation *user : attention.getLayer().getUsers()) {
    auto write = dyn_cast<fused::CacheWriteOp>(user);
    if (write && write->getBlock() == attention->getBlock() &&
        write->isBeforeInBlock(attention) &&
        write.getPositions() == attention.getPositions())
      return write;
  }
  return {};
}

/// cache_write(rms_norm(latent), rope(k)) and rope(q) of an attention become
/// one mla_prepare in front of it.
struct FusePrepare : OpRewritePattern<fused::MlaAttentionOp> {
  FusePrepare(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(fused::MlaAttentionOp op,
                                PatternRewriter &rewriter) const override {
    auto query = getSoleProducer<fused::RopeOp>(op.getQRope());
    fused::CacheWriteOp write = findWrite(op);
    if (!query || !write)
      return rewriter.notifyMatchFailure(
          op, "no rope of this use alone, or no write into the cache");
    auto norm = getSoleProducer<fused::RmsNormOp>(write.getLatent());
    auto key = getSoleProducer<fused::RopeOp>(write.getKRope());
    if (!norm || norm.getResidual() || norm.getQuantizeGroup() || !key)
      return rewriter.notifyMatchFailure(
          write, "latents and keys are not those of a norm and a rope of this "
                 "use alone");
    if (key.getCos() != query.getCos() || key.getSin() != query.getSin() ||
        key.getInterleaved() != query.getInterleaved())
      return rewriter.notifyMatchFailure(
          op, "queries and keys are rotated differently");
    rewriter.setInsertionPoint(op);
    auto prepare = fused::MlaPrepareOp::create(
        rewriter,
        rewriter.getFusedLoc(
            {norm.getLoc(), key.getLoc(), write.getLoc(), query.getLoc()}),
        query->getResultTypes(), norm.getX(), norm.getGain(), key.getX(),
        query.getX(), key.getCos(), key.getSin(), write.getCache(),
        write.getPageTable(), write.getSequences(), write.getPositions(),
        write.getLayer(), query.getOuts(), norm.getEpsAttr(),
        key.getInterleavedAttr());
    rewriter.replaceOp(query, prepare.getResults());
    rewriter.eraseOp(write);
    rewriter.eraseOp(norm);
    rewriter.eraseOp(key);
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

struct FuseMla : moec::impl::FuseMlaBase<FuseMla> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FusePrepare>(&getContext(), numPrepared);
    GreedyRewriteConfig config;
    // CSE would let kernels share destinations, and each would copy them.
    config.enableConstantCSE(false);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
