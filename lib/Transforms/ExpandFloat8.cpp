//===- ExpandFloat8.cpp - f8E4M3FN in integer arithmetic -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "moec/Transforms/Passes.h"

namespace moec {
#define GEN_PASS_DEF_EXPANDFLOAT8
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

/// `type` with the element type `element`.
Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

Value splatInteger(OpBuilder &b, Location loc, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, loc, attr);
}

Value splatFloat(OpBuilder &b, Location loc, Type type, const APFloat &value) {
  TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, loc, attr);
}

/// Widening. A code s eeee mmm becomes the f16 s 0eeee mmm0000000: the same
/// digits under a bias of 15 instead of 7, so the value times 2^-8. Subnormals
/// stay subnormals of f16 and widen exactly.
struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Value code = op.getIn();
    if (!isa<Float8E4M3FNType>(getElementTypeOrSelf(code)) ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not from f8E4M3FN to f32");
    Location loc = op.getLoc();
    Type i8 = withElement(op.getType(), rewriter.getI8Type());
    Type i16 = withElement(op.getType(), rewriter.getI16Type());
    Type f16 = withElement(op.getType(), rewriter.getF16Type());
    Type f32 = op.getType();
    Value bits = arith::BitcastOp::create(rewriter, loc, i8, code);
    // Sign extension puts the sign into bit 15; shifted by 7, the code's digits
    // fill bits 7 to 13 and bit 14 is a copy of the sign, which is cleared.
    Value wide = arith::ExtSIOp::create(rewriter, loc, i16, bits);
    Value shifted = arith::ShLIOp::create(rewriter, loc, wide,
                                          splatInteger(rewriter, loc, i16, 7));
    Value half = arith::AndIOp::create(
        rewriter, loc, shifted,
        splatInteger(rewriter, loc, i16, static_cast<int16_t>(0xBF80)));
    Value digits = arith::BitcastOp::create(rewriter, loc, f16, half);
    Value small = arith::ExtFOp::create(rewriter, loc, f32, digits);
    Value value = arith::MulFOp::create(
        rewriter, loc, small, splatFloat(rewriter, loc, f32, APFloat(256.0f)));
    Value magnitude = arith::AndIOp::create(
        rewriter, loc, bits, splatInteger(rewriter, loc, i8, 0x7f));
    Value isNaN =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                              magnitude, splatInteger(rewriter, loc, i8, 0x7f));
    Value nan =
        splatFloat(rewriter, loc, f32, APFloat::getQNaN(APFloat::IEEEsingle()));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNaN, nan, value);
    return success();
  }
};

/// Narrowing, to nearest even. Normal results (>= 2^-6): add half a unit of the
/// fourth significant bit to the f32's bits and cut. Subnormal results: adding
/// 2^14, whose last digit counts 2^-9, leaves the rounded code in the low bits.
struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value value = op.getIn();
    if (!isa<Float8E4M3FNType>(getElementTypeOrSelf(op.getType())) ||
        !getElementTypeOrSelf(value).isF32())
      return rewriter.notifyMatchFailure(op, "not from f32 to f8E4M3FN");
    Location loc = op.getLoc();
    Type i8 = withElement(op.getType(), rewriter.getI8Type());
    Type i32 = withElement(op.getType(), rewriter.getI32Type());
    Type f32 = value.getType();
    auto number = [&](int64_t n) {
      return splatInteger(rewriter, loc, i32, n);
    };
    Value bits = arith::BitcastOp::create(rewriter, loc, i32, value);
    Value magnitude =
        arith::AndIOp::create(rewriter, loc, bits, number(0x7fffffff));

    Value odd = arith::AndIOp::create(
        rewriter, loc,
        arith::ShRUIOp::create(rewriter, loc, magnitude, number(20)),
        number(1));
    Value rounded = arith::AddIOp::create(
        rewriter, loc,
        arith::AddIOp::create(rewriter, loc, magnitude, number(0x7ffff)), odd);
    // Bias 127 becomes 7: 120 less, in units of the exponent's last bit.
    Value normal = arith::SubIOp::create(
        rewriter, loc,
        arith::ShRUIOp::create(rewriter, loc, rounded, number(20)),
        number(120 << 3));

    Value absolute = arith::BitcastOp::create(rewriter, loc, f32, magnitude);
    Value shifted = arith::AddFOp::create(
        rewriter, loc, absolute,
        splatFloat(rewriter, loc, f32, APFloat(16384.0f)));
    Value subnormal = arith::SubIOp::create(
        rewriter, loc, arith::BitcastOp::create(rewriter, loc, i32, shifted),
        number(0x46800000)); // the bits of 2^14

    Value isSmall = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult, magnitude,
        number(0x3c800000)); // the bits of 2^-6
    Value code =
        arith::SelectOp::create(rewriter, loc, isSmall, subnormal, normal);
    // Above 448 (rounded up to 0x7f or more), infinities and NaN.
    Value isOver = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ugt, magnitude,
        number(0x43e80000)); // the bits of 464, halfway to the next
    code = arith::SelectOp::create(rewriter, loc, isOver, number(0x7f), code);
    Value sign = arith::AndIOp::create(
        rewriter, loc, arith::ShRUIOp::create(rewriter, loc, bits, number(24)),
        number(0x80));
    Value result = arith::OrIOp::create(rewriter, loc, code, sign);
    Value narrow = arith::TruncIOp::create(rewriter, loc, i8, result);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), narrow);
    return success();
  }
};

struct ExpandFloat8 : moec::impl::ExpandFloat8Base<ExpandFloat8> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtF, ExpandTruncF>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // What arith still computes on f8 would only fail at translation.
    WalkResult left = getOperation()->walk([](Operation *op) {
      // Moving codes about is no arithmetic.
      if (!isa<arith::ArithDialect>(op->getDialect()) ||
          isa<arith::BitcastOp, arith::SelectOp, arith::ConstantOp>(op))
        return WalkResult::advance();
      auto isFloat8 = [](Type type) {
        return isa<Float8E4M3FNType>(getElementTypeOrSelf(type));
      };
      if (llvm::none_of(op->getOperandTypes(), isFloat8) &&
          llvm::none_of(op->getResultTypes(), isFloat8))
        return WalkResult::advance();
      op->emitOpError("on f8E4M3FN has no expansion, found ")
          << op->getOperandTypes() << " to " << op->getResultTypes()
          << ", expected extf to f32 or truncf from f32";
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
