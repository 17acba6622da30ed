//===- ExpertsPatterns.cpp - Dispatch, experts, combine -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace moec;

namespace {

/// y[n] = sum over k of weights[n, k] * expert(indices[n, k])(x[n]): the pairs
/// are sorted by expert, each expert runs on its rows, and each token adds up
/// its rows in the order of its choices, which does not depend on the batch.
struct LowerExperts : OpConversionPattern<transformer::ExpertsOp> {
  LowerExperts(const TypeConverter &types, MLIRContext *context,
               const LoweringOptions &options)
      : OpConversionPattern(types, context), options(options) {}

  LogicalResult
  matchAndRewrite(transformer::ExpertsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    auto type = collapseRows(cast<RankedTensorType>(op.getType()));
    int64_t hidden = type.getDimSize(1);
    Value tokens = b.getExtent(rt::Extent::num_tokens);
    int64_t topK =
        cast<RankedTensorType>(op.getIndices().getType()).getShape().back();
    Value pairs = b.create<arith::MulIOp>(tokens, b.index(topK));
    ValueRange dispatch =
        createDispatch(b, op, adaptor.getIndices(), tokens, pairs, topK);
    auto rows = [&](Value count) {
      return b.empty({OpFoldResult(count), b.getIndexAttr(hidden)},
                     type.getElementType());
    };
    Value out = rows(pairs);
    auto experts = b.create<fused::ExpertsOp>(
        TypeRange(out.getType()), adaptor.getX(), dispatch[0], dispatch[1],
        ValueRange{out}, op.getExpertsAttr());
    Operation *yield = op.getBody().front().getTerminator();
    rewriter.inlineRegionBefore(op.getBody(), experts.getBody(),
                                experts.getBody().end());
    rewriter.setInsertionPoint(yield);
    rewriter.replaceOpWithNewOp<fused::YieldOp>(yield, yield->getOperands());
    rewriter.setInsertionPoint(op);
    Value sums = rows(tokens);
    rewriter.replaceOpWithNewOp<fused::CombineOp>(
        op, TypeRange(sums.getType()), experts.getResult(0), dispatch[2],
        adaptor.getWeights(), /*shared=*/Value(), /*residual=*/Value(),
        ValueRange{sums});
    return success();
  }

private:
  ValueRange createDispatch(RowBuilder &b, transformer::ExpertsOp op,
                            Value indices, Value tokens, Value pairs,
                            int64_t topK) const {
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    int64_t experts = op.getExperts();
    SmallVector<Value> outs{
        b.empty({b.getIndexAttr(experts + 1)}, i64),
        b.empty({OpFoldResult(pairs)}, i32),
        b.empty({OpFoldResult(tokens), b.getIndexAttr(topK)}, i32),
        b.empty({OpFoldResult(pairs), b.getIndexAttr(3)}, i32),
        b.empty({b.getIndexAttr(1)}, i64)};
    return b
        .create<fused::DispatchOp>(ValueRange(outs).getTypes(), indices, outs,
                                   op.getExpertsAttr(),
                                   b.getI64IntegerAttr(options.rowsPerPiece))
        .getResults();
  }

  LoweringOptions options;
};

} // namespace

void moec::populateExpertsPatterns(RewritePatternSet &patterns,
                                   const TypeConverter &types,
                                   const LoweringOptions &options) {
  patterns.add<LowerExperts>(types, patterns.getContext(), options);
}
