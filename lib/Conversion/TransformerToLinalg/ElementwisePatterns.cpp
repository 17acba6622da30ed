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

/// y = x / sqrt(mean(x^2) + eps) * gain, in f32, then rounded once.
struct LowerRmsNorm : OpConversionPattern<transformer::RmsNormOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::RmsNormOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    RankedTensorType type = getCollapsedType(op.getX());
    Value x = adaptor.getX();
    OpFoldResult rows = b.getRows(op.getX().getType(), x);
    AffineExpr n = b.dim(0), h = b.dim(1);
    Value squares =
        b.compute(2, {{x, {n, h}}}, {b.zeros({rows}), {n}},
                  [](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                    Value square =
                        s.create<arith::MulFOp>(values[0], values[0]);
                    return s.create<arith::AddFOp>(values[1], square);
                  });
    Value features = b.f32(type.getDimSize(1));
    Value eps = b.f32(op.getEps().convertToDouble());
    Value inverse =
        b.map({{squares, {n}}}, {rows}, b.getF32Type(),
              [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                Value mean = s.create<arith::DivFOp>(values[0], features);
                Value root = s.create<math::SqrtOp>(
                    s.create<arith::AddFOp>(mean, eps).getResult());
                TypedAttr one = s.getF32FloatAttr(1.0);
                return s.create<arith::DivFOp>(s.create<arith::ConstantOp>(one),
                                               root);
              });
    rewriter.replaceOp(
        op, b.map({{x, {n, h}}, {inverse, {n}}, {adaptor.getGain(), {h}}},
                  b.sizesOf(type, cast<Value>(rows)), type.getElementType(),
                  [](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                    Value scaled =
                        s.create<arith::MulFOp>(values[0], values[1]);
                    return s.create<arith::MulFOp>(scaled, values[2]);
                  }));
    return success();
  }
};

struct LowerSwiglu : OpConversionPattern<transformer::SwigluOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::SwigluOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    RankedTensorType type = getCollapsedType(op.getGate());
    Value rows = b.getRows(op.getGate().getType(), adaptor.getGate());
    Value one = b.f32(1.0);
    rewriter.replaceOp(
        op, b.map({b.plain(adaptor.getGate()), b.plain(adaptor.getUp())},
                  b.sizesOf(type, rows), type.getElementType(),
                  [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                    Value negated = s.create<arith::NegFOp>(values[0]);
                    Value exponential = s.create<math::ExpOp>(negated);
                    Value divisor = s.create<arith::AddFOp>(exponential, one);
                    Value silu = s.create<arith::DivFOp>(values[0], divisor);
                    return s.create<arith::MulFOp>(silu, values[1]);
                  }));
    return success();
  }
};

struct LowerAdd : OpConversionPattern<transformer::AddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::AddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    RankedTensorType type = getCollapsedType(op.getA());
    Value rows = b.getRows(op.getA().getType(), adaptor.getA());
    rewriter.replaceOp(
        op, b.map({b.plain(adaptor.getA()), b.plain(adaptor.getB())},
                  b.sizesOf(type, rows), type.getElementType(),
                  [](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                    return s.create<arith::AddFOp>(values[0], values[1]);
                  }));
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

/// Rotates pairs: of neighbours if interleaved, else of the two halves.
///   first of a pair:  y = x cos - partner sin
///   second of a pair: y = x cos + partner sin
struct LowerRope : OpConversionPattern<transformer::RopeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::RopeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    RankedTensorType type = getCollapsedType(op.getX());
    Value rows = b.getRows(op.getX().getType(), adaptor.getX());
    unsigned last = type.getRank() - 1;
    int64_t size = type.getShape().back(), half = size / 2;
    AffineExpr n = b.dim(0), p = b.dim(last);
    AffineExpr partner =
        op.getInterleaved() ? p + 1 - (p % 2) * 2 : (p + half) % size;
    AffineExpr pair = op.getInterleaved() ? p.floorDiv(2) : p % half;
    RowBuilder::Access x = b.plain(adaptor.getX()), other = x;
    other.indices.back() = partner;
    bool interleaved = op.getInterleaved();
    rewriter.replaceOp(
        op, b.map({x,
                   other,
                   {adaptor.getCos(), {n, pair}},
                   {adaptor.getSin(), {n, pair}}},
                  b.sizesOf(type, rows), type.getElementType(),
                  [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                    Value along = s.create<arith::MulFOp>(values[0], values[2]);
                    Value across =
                        s.create<arith::MulFOp>(values[1], values[3]);
                    Value isSecond = isSecondOfPair(s, last, half, interleaved);
                    Value negated = s.create<arith::NegFOp>(across);
                    Value term =
                        s.create<arith::SelectOp>(isSecond, across, negated);
                    return s.create<arith::AddFOp>(along, term);
                  }));
    return success();
  }

private:
  static Value isSecondOfPair(ImplicitLocOpBuilder &s, unsigned dim,
                              int64_t half, bool interleaved) {
    Value at = s.create<linalg::IndexOp>(dim);
    if (!interleaved)
      return s.create<arith::CmpIOp>(
          arith::CmpIPredicate::uge, at,
          s.create<arith::ConstantIndexOp>(half).getResult());
    Value odd = s.create<arith::AndIOp>(
        at, s.create<arith::ConstantIndexOp>(1).getResult());
    return s.create<arith::CmpIOp>(
        arith::CmpIPredicate::ne, odd,
        s.create<arith::ConstantIndexOp>(0).getResult());
  }
};

} // namespace

void moec::populateElementwisePatterns(RewritePatternSet &patterns,
                                       const TypeConverter &types) {
  patterns.add<LowerAdd, LowerMergeHeads, LowerRmsNorm, LowerRope,
               LowerRopeTable, LowerSplit, LowerSplitHeads, LowerSwiglu>(
      types, patterns.getContext());
}
