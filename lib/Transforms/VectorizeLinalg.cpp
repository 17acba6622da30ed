//===- VectorizeLinalg.cpp - linalg on memrefs to loops of vectors -*- C++
//-*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "moec/Transforms/Passes.h"

namespace moec {
#define GEN_PASS_DEF_VECTORIZELINALG
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

struct VectorizeLinalg : moec::impl::VectorizeLinalgBase<VectorizeLinalg> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (lanes < 1 || !llvm::isPowerOf2_64(lanes) || blockRows < 1) {
      function.emitError("vectorize-linalg expects lanes to be a power of two "
                         "and block to be positive, found lanes ")
          << lanes.getValue() << " and block " << blockRows.getValue();
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    generalize(function, rewriter);

    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      if (failed(vectorize(op, rewriter)))
        return signalPassFailure();
  }

private:
  /// Copies and named ops become linalg.generic.
  void generalize(func::FuncOp function, IRRewriter &rewriter) {
    function.walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(
          copy, ValueRange{copy.getSource()}, ValueRange{copy.getTarget()});
    });
    SmallVector<linalg::LinalgOp> named;
    function.walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op.getOperation()))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
  }

  LogicalResult vectorize(linalg::GenericOp op, IRRewriter &rewriter) {
    if (!op.hasPureBufferSemantics())
      return op.emitOpError("expects memrefs: run bufferization first");
    LoopNest nest(op, lanes, blockRows);
    if (failed(nest.analyze()))
      return failure();
    Value step;
    if (!op->getParentOfType<rt::ParallelOp>())
      step = getStep(op);
    rewriter.setInsertionPoint(op);
    nest.emit(rewriter, step);
    nest.isVectorized() ? ++numVectorized : ++numScalar;
    rewriter.eraseOp(op);
    return success();
  }

  /// The function's argument that points to moec_step_args, or null: then the
  /// loops are sequential.
  Value getStep(Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    for (BlockArgument argument : function.getArguments())
      if (isa<LLVM::LLVMPointerType>(argument.getType()))
        return argument;
    return Value();
  }
};

} // namespace
