//===- ExpandMath.cpp - exp, sin and cos as polynomials -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "moec/Transforms/Passes.h"
#include <cmath>

namespace moec {
#define GEN_PASS_DEF_EXPANDMATH
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

/// Builds f64 arithmetic on scalars or vectors.
struct DoubleBuilder {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(double value) const {
    TypedAttr attr = b.getF64FloatAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, attr);
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value multiply(Value left, Value right) const {
    return arith::MulFOp::create(b, loc, left, right);
  }
  Value fma(Value left, Value right, Value sum) const {
    return math::FmaOp::create(b, loc, left, right, sum);
  }
  /// The polynomial with the given coefficients, constant term first.
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }
};

/// sin and cos of an f32 as polynomials in f64. The angle is reduced to
/// [-pi/4, pi/4] with pi/2 in two parts, which is exact enough (error below
/// 1e-16 * k) for every f32 angle of a position; Taylor series up to x^13 and
/// x^14 have errors below 1e-11, so the result rounds right in f32.
template <typename OpTy, bool isSine>
struct ExpandSineOrCosine : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    Location loc = op.getLoc();
    auto withElement = [&](Type element) -> Type {
      if (auto vector = dyn_cast<VectorType>(op.getType()))
        return vector.clone(element);
      return element;
    };
    Type i32 = withElement(rewriter.getI32Type());
    DoubleBuilder d{rewriter, loc, withElement(rewriter.getF64Type())};
    Value angle = arith::ExtFOp::create(rewriter, loc, d.type, op.getOperand());
    Value turns = math::RoundEvenOp::create(
        rewriter, loc, d.multiply(angle, d.constant(M_2_PI)));
    Value reduced = d.fma(turns, d.constant(-M_PI_2), angle);
    // pi/2 less its double.
    reduced = d.fma(turns, d.constant(-6.123233995736766e-17), reduced);
    Value square = d.multiply(reduced, reduced);
    Value sine = d.multiply(
        reduced, d.polynomial(square, {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040,
                                       1.0 / 362880, -1.0 / 39916800,
                                       1.0 / 6227020800}));
    Value cosine = d.polynomial(square, {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720,
                                         1.0 / 40320, -1.0 / 3628800,
                                         1.0 / 479001600, -1.0 / 87178291200});

    auto integer = [&](int32_t value) -> Value {
      TypedAttr attr = rewriter.getI32IntegerAttr(value);
      if (auto vector = dyn_cast<VectorType>(i32))
        attr = DenseElementsAttr::get(vector, attr);
      return arith::ConstantOp::create(rewriter, loc, attr);
    };
    // Quadrant q: sin is s, c, -s, -c; cos is c, -s, -c, s.
    Value quadrant = arith::FPToSIOp::create(rewriter, loc, i32, turns);
    if (!isSine)
      quadrant = arith::AddIOp::create(rewriter, loc, quadrant, integer(1));
    auto hasBit = [&](int32_t bit) -> Value {
      Value masked =
          arith::AndIOp::create(rewriter, loc, quadrant, integer(bit));
      return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                   masked, integer(0));
    };
    Value value =
        arith::SelectOp::create(rewriter, loc, hasBit(1), cosine, sine);
    Value negated = arith::NegFOp::create(rewriter, loc, value);
    value = arith::SelectOp::create(rewriter, loc, hasBit(2), negated, value);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), value);
    return success();
  }
};

struct ExpandMath : moec::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandSineOrCosine<math::SinOp, true>,
                 ExpandSineOrCosine<math::CosOp, false>>(&getContext());
    populateMathPolynomialApproximationPatterns(
        patterns, [](StringRef name) { return name == "math.exp"; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
