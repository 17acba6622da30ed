//===- ElementwisePatterns.cpp - Norms, rope, heads, sums -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace moec;

namespace {

RankedTensorType getCollapsedType(Value value) {
  return collapseRows(cast<RankedTensorType>(value.getType()));
}

/// The destination of a kernel whose result is like `op`'s.
Value getDestination(RowBuilder &b, Operation *op, Value rows) {
  RankedTensorType type = getCollapsedType(op->getResult(0));
  return b.empty(b.sizesOf(type, rows), type.getElementType());
}

struct LowerRmsNorm : OpConversionPattern<transformer::RmsNormOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::RmsNormOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    Value rows = b.getRows(op.getX().getType(), adaptor.getX());
    Value out = getDestination(b, op, rows);
    rewriter.replaceOpWithNewOp<fused::RmsNormOp>(
        op, TypeRange(out.getType()), adaptor.getX(), adaptor.getGain(),
        /*residual=*/Value(), ValueRange{out}, op.getEpsAttr(), IntegerAttr());
    return success();
  }
};

/// swiglu and add: two operands like the result.
template <typename From, typename To>
struct LowerBinary : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(From op, typename From::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    ValueRange operands = adaptor.getOperands();
    Value rows = b.getRows(op->getOperand(0).getType(), operands[0]);
    Value out = getDestination(b, op, rows);
    rewriter.replaceOpWithNewOp<To>(op, TypeRange(out.getType()), operands[0],
                                    operands[1], ValueRange{out});
    return success();
  }
};

/// Last dimension of x cut into pieces.
struct LowerSplit : OpConversionPattern<transformer::SplitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::SplitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    RankedTensorType type = getCollapsedType(op.getX());
    Value rows = b.getRows(op.getX().getType(), adaptor.getX());
    SmallVector<OpFoldResult> sizes = b.sizesOf(type, rows);
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
    SmallVector<Value> pieces;
    int64_t begin = 0;
    for (int64_t size : op.getSizes()) {
      offsets.back() = b.getIndexAttr(begin);
      sizes.back() = b.getIndexAttr(size);
      pieces.push_back(b.create<tensor::ExtractSliceOp>(adaptor.getX(), offsets,
                                                        sizes, strides));
      begin += size;
    }
    rewriter.replaceOp(op, pieces);
    return success();
  }
};

struct LowerSplitHeads : OpConversionPattern<transformer::SplitHeadsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::SplitHeadsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    auto type = collapseRows(cast<RankedTensorType>(op.getType()));
    Value rows = b.getRows(op.getX().getType(), adaptor.getX());
    SmallVector<ReassociationIndices> groups{{0}, {1, 2}};
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
        op, type, adaptor.getX(), groups, b.sizesOf(type, rows));
    return success();
  }
};

struct LowerMergeHeads : OpConversionPattern<transformer::MergeHeadsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::MergeHeadsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = collapseRows(cast<RankedTensorType>(op.getType()));
    SmallVector<ReassociationIndices> groups{{0}, {1, 2}};
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
        op, type, adaptor.getX(), groups);
    return success();
  }
};

/// cos and sin [N, P/2] of position * inverse frequency. As in the family's
/// modelling code the angle is a product in f32.
struct LowerRopeTable : OpConversionPattern<transformer::RopeTableOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::RopeTableOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    transformer::RopeAttr rope = op.getRope();
    SmallVector<float> frequencies = rope.getInverseFrequencies();
    auto tableType = RankedTensorType::get(
        {static_cast<int64_t>(frequencies.size())}, b.getF32Type());
    Value inverse = b.create<arith::ConstantOp>(
        DenseElementsAttr::get(tableType, ArrayRef<float>(frequencies)));
    Value scale = b.f32(rope.getCosSinScale());
    SmallVector<OpFoldResult> sizes{
        OpFoldResult(b.getExtent(rt::Extent::num_tokens)),
        b.getIndexAttr(tableType.getDimSize(0))};
    AffineExpr n = b.dim(0), p = b.dim(1);
    auto table = [&](bool isCosine) {
      return b.map({{adaptor.getPositions(), {n}}, {inverse, {p}}}, sizes,
                   b.getF32Type(),
                   [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                     Value position =
                         s.create<arith::SIToFPOp>(s.getF32Type(), values[0]);
                     Value angle = s.create<arith::MulFOp>(position, values[1]);
                     Value value =
                         isCosine ? s.create<math::CosOp>(angle).getResult()
                                  : s.create<math::SinOp>(angle).getResult();
                     return s.create<arith::MulFOp>(value, scale);
                   });
    };
    rewriter.replaceOp(op, {table(true), table(false)});
    return success();
  }
};

struct LowerRope : OpConversionPattern<transformer::RopeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::RopeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    Value rows = b.getRows(op.getX().getType(), adaptor.getX());
    Value out = getDestination(b, op, rows);
    rewriter.replaceOpWithNewOp<fused::RopeOp>(
        op, TypeRange(out.getType()), adaptor.getX(), adaptor.getCos(),
        adaptor.getSin(), ValueRange{out}, op.getInterleaved());
    return success();
  }
};

} // namespace

void moec::populateElementwisePatterns(RewritePatternSet &patterns,
                                       const TypeConverter &types) {
  patterns.add<LowerBinary<transformer::AddOp, fused::AddOp>,
               LowerBinary<transformer::SwigluOp, fused::SwigluOp>,
               LowerMergeHeads, LowerRmsNorm, LowerRope, LowerRopeTable,
               LowerSplit, LowerSplitHeads>(types, patterns.getContext());
}
