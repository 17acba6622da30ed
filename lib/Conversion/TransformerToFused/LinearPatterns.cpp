//===- LinearPatterns.cpp - linear and quantize -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace moec;

DenseI64ArrayAttr moec::getBlock(Builder &b, Type weight) {
  auto type = dyn_cast<transformer::BlockScaledType>(weight);
  if (!type)
    return {};
  return b.getDenseI64ArrayAttr(type.getBlock().take_back(2));
}

namespace {

struct LowerLinear : OpConversionPattern<transformer::LinearOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::LinearOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    ValueRange x = adaptor.getX(), w = adaptor.getW();
    auto type = collapseRows(cast<RankedTensorType>(op.getType()));
    Value rows = b.getRows(op.getX().getType(), x[0]);
    Value out = b.empty(b.sizesOf(type, rows), type.getElementType());
    rewriter.replaceOpWithNewOp<fused::LinearOp>(
        op, TypeRange(type), x[0], x.size() > 1 ? x[1] : Value(),
        w.take_front(), w.drop_front(), /*residual=*/Value(), ValueRange{out},
        getBlock(b, op.getW().getType()),
        fused::EpilogueAttr::get(b.getContext(), fused::Epilogue::none),
        fused::TilesAttr());
    return success();
  }
};

struct LowerQuantize : OpConversionPattern<transformer::QuantizeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::QuantizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    auto type = cast<transformer::BlockScaledType>(op.getType());
    int64_t group = type.getBlock().back();
    Value rows = b.getRows(op.getX().getType(), adaptor.getX());
    int64_t features = type.getShape().back();
    Value codes = b.empty({OpFoldResult(rows), b.getIndexAttr(features)},
                          type.getPayload());
    Value scales = b.empty(
        {OpFoldResult(rows), b.getIndexAttr(llvm::divideCeil(features, group))},
        type.getScale());
    auto kernel = b.create<fused::QuantizeOp>(
        TypeRange{codes.getType(), scales.getType()}, adaptor.getX(),
        ValueRange{codes, scales}, b.getI64IntegerAttr(group));
    SmallVector<Value> parts(kernel.getResults());
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

} // namespace

void moec::populateLinearPatterns(RewritePatternSet &patterns,
                                  const TypeConverter &types) {
  patterns.add<LowerLinear, LowerQuantize>(types, patterns.getContext());
}
