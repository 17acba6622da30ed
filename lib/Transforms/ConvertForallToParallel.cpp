//===- ConvertForallToParallel.cpp - scf.forall to rt.parallel -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace moec {
#define GEN_PASS_DEF_CONVERTFORALLTOPARALLEL
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

struct ConvertForallToParallel
    : moec::impl::ConvertForallToParallelBase<ConvertForallToParallel> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](scf::ForallOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : loops)
      if (failed(convert(loop, rewriter)))
        return signalPassFailure();
    WalkResult result = getOperation().walk([&](rt::ParallelOp parallel) {
      return WalkResult(moveBuffersToStack(parallel, rewriter));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult convert(scf::ForallOp loop, IRRewriter &rewriter) {
    if (!loop.isNormalized())
      return loop.emitOpError("expects lower bounds of 0 and steps of 1");
    if (loop.getNumResults() != 0)
      return loop.emitOpError("expects no results: run bufferization first");
    Location loc = loop.getLoc();
    rewriter.setInsertionPoint(loop);
    SmallVector<Value> counts = getValueOrCreateConstantIndexOp(
        rewriter, loc, loop.getMixedUpperBound());
    Value count = arith::ConstantIndexOp::create(rewriter, loc, 1);
    for (Value extent : counts)
      count = rewriter.createOrFold<arith::MulIOp>(loc, count, extent);

    Value begin = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value end = count;
    if (!loop->getParentOfType<rt::ParallelOp>()) {
      auto function = loop->getParentOfType<func::FuncOp>();
      Value step;
      for (BlockArgument argument : function.getArguments())
        if (isa<LLVM::LLVMPointerType>(argument.getType()))
          step = argument;
      if (!step)
        return loop.emitOpError(
            "expects a function with the step (!llvm.ptr) as an argument");
      Value count64 = arith::IndexCastOp::create(rewriter, loc,
                                                 rewriter.getI64Type(), count);
      auto parallel = rt::ParallelOp::create(rewriter, loc, step, count64);
      Type i64 = rewriter.getI64Type();
      Block *body =
          rewriter.createBlock(&parallel.getBody(), {}, {i64, i64}, {loc, loc});
      Type index = rewriter.getIndexType();
      begin = arith::IndexCastOp::create(rewriter, loc, index,
                                         body->getArgument(0));
      end = arith::IndexCastOp::create(rewriter, loc, index,
                                       body->getArgument(1));
    }
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    auto flat = scf::ForOp::create(rewriter, loc, begin, end, one);
    if (auto parallel = dyn_cast<rt::ParallelOp>(flat->getParentOp()))
      rt::YieldOp::create(rewriter, loc);
    rewriter.setInsertionPointToStart(flat.getBody());
    SmallVector<Value> ivs{flat.getInductionVar()};
    if (counts.size() > 1)
      ivs = affine::AffineDelinearizeIndexOp::create(
                rewriter, loc, flat.getInductionVar(), counts)
                .getResults();
    rewriter.eraseOp(loop.getTerminator());
    rewriter.inlineBlockBefore(loop.getBody(), flat.getBody()->getTerminator(),
                               ivs);
    rewriter.eraseOp(loop);
    return success();
  }

  /// An alloca belongs in front of the loops: inside them the stack would grow
  /// with each iteration.
  LogicalResult moveBuffersToStack(rt::ParallelOp parallel,
                                   IRRewriter &rewriter) {
    int64_t bytes = 0;
    SmallVector<memref::AllocOp> buffers;
    parallel.walk([&](memref::AllocOp alloc) { buffers.push_back(alloc); });
    for (memref::AllocOp alloc : buffers) {
      MemRefType type = alloc.getType();
      if (!type.hasStaticShape())
        return alloc.emitOpError("expects a static size inside a parallel "
                                 "region, found ")
               << type;
      bytes += type.getNumElements() *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      rewriter.setInsertionPointToStart(&parallel.getBody().front());
      rewriter.replaceOp(
          alloc, memref::AllocaOp::create(rewriter, alloc.getLoc(), type,
                                          rewriter.getI64IntegerAttr(64)));
    }
    if (bytes > maxStackBytes)
      return parallel.emitOpError("needs ")
             << bytes << " bytes of stack, expected at most "
             << maxStackBytes.getValue();
    return success();
  }
};

} // namespace
