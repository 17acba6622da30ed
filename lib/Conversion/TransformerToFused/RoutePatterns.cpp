//===- RoutePatterns.cpp - The router -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace moec;

namespace {

struct LowerRoute : OpConversionPattern<transformer::RouteOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::RouteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    Value rows = b.getRows(op.getLogits().getType(), adaptor.getLogits());
    auto out = [&](Type element) {
      return b.empty({OpFoldResult(rows), b.getIndexAttr(op.getTopK())},
                     element);
    };
    SmallVector<Value> outs{out(b.getI32Type()), out(b.getF32Type())};
    rewriter.replaceOpWithNewOp<fused::RouterOp>(
        op, ValueRange(outs).getTypes(), adaptor.getLogits(), adaptor.getBias(),
        outs, op.getScoringAttr(), op.getMethodAttr(), op.getTopKAttr(),
        op.getNGroupAttr(), op.getTopkGroupAttr(), op.getNormalizeAttr(),
        op.getRoutedScalingFactorAttr());
    return success();
  }
};

} // namespace

void moec::populateRoutePatterns(RewritePatternSet &patterns,
                                 const TypeConverter &types) {
  patterns.add<LowerRoute>(types, patterns.getContext());
}
