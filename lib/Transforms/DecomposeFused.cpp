//===- DecomposeFused.cpp - Kernels to linalg -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "moec/Transforms/Passes.h"

namespace moec {
#define GEN_PASS_DEF_DECOMPOSEFUSED
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

struct DecomposeFused : moec::impl::DecomposeFusedBase<DecomposeFused> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // A decomposition may hold kernels of its own (the experts' bodies).
    for (bool changed = true; changed;) {
      SmallVector<fused::KernelOpInterface> kernels;
      getOperation().walk([&](fused::KernelOpInterface op) {
        if (all || !isTiled(op))
          kernels.push_back(op);
      });
      changed = !kernels.empty();
      for (fused::KernelOpInterface op : kernels) {
        if (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>)) {
          op->emitOpError("expects tensors: it is decomposed before "
                          "bufferization");
          return signalPassFailure();
        }
        // An op inside another kernel's body goes with the body's copy.
        if (op->getParentOfType<fused::ExpertsOp>())
          continue;
        rewriter.setInsertionPoint(op);
        rewriter.replaceOp(op, op.decompose(rewriter));
        ++numDecomposed;
      }
    }
  }

private:
  /// Has choose-fp8-tiles found a kernel for it?
  static bool isTiled(Operation *op) { return op->hasAttr("tiles"); }
};

} // namespace
