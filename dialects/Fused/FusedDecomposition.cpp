//===- FusedDecomposition.cpp - Kernels over rows in linalg -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "dialects/Fused/RowBuilder.h"

using namespace mlir;
using namespace moec;

static RankedTensorType getRowType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

/// p[n, o] = sum over k of x[n, k] * w[o, k], in f32.
static Value multiply(RowBuilder &b, const Operand &x, const Operand &w,
                      Value rows) {
  AffineExpr n = b.dim(0), o = b.dim(1), k = b.dim(2);
  SmallVector<RowBuilder::Access> inputs;
  x.appendAccesses(b, n, k, inputs);
  w.appendAccesses(b, o, k, inputs);
  SmallVector<OpFoldResult> sizes{
      rows, b.getIndexAttr(getRowType(w.payload).getDimSize(0))};
  return b.compute(3, inputs, {b.zeros(sizes), {n, o}},
                   [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                     Value xValue = x.getValue(s, values);
                     Value wValue = w.getValue(s, values);
                     Value product = s.create<arith::MulFOp>(xValue, wValue);
                     return s.create<arith::AddFOp>(values[0], product);
                   });
}

/// silu(gate) * up.
static Value swiglu(ImplicitLocOpBuilder &s, Value gate, Value up) {
  Value one = s.create<arith::ConstantOp>(s.getF32FloatAttr(1.0));
  Value negated = s.create<arith::NegFOp>(gate);
  Value exponential = s.create<math::ExpOp>(negated);
  Value divisor = s.create<arith::AddFOp>(exponential, one);
  Value silu = s.create<arith::DivFOp>(gate, divisor);
  return s.create<arith::MulFOp>(silu, up);
}

SmallVector<Value> fused::LinearOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  Value rows = b.getRows(getX());
  Operand x{getX(), getXScales()};
  if (getXScales())
    x.columnBlock = (*getBlock())[1];
  SmallVector<RowBuilder::Access> terms;
  for (auto [number, weight] : llvm::enumerate(getWeights())) {
    Value scales = getBlock() ? getWeightScales()[number] : Value();
    Operand w = Operand::get(weight, scales, getBlock());
    terms.push_back(b.plain(multiply(b, x, w, rows)));
  }
  RankedTensorType type = getRowType(getOuts()[0]);
  // Scratch is returned as it is.
  SmallVector<Value> results(getOuts());
  if (getEpilogue() == Epilogue::none && !getResidual()) {
    results[0] = b.convert(terms[0].tensor, type.getElementType());
    return results;
  }
  if (getResidual())
    terms.push_back(b.plain(getResidual()));
  bool gated = getEpilogue() == Epilogue::swiglu;
  results[0] = b.map(terms, b.sizesOf(type, rows), type.getElementType(),
                     [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                       Value y = gated ? swiglu(s, v[0], v[1]) : v[0];
                       if (getResidual())
                         y = s.create<arith::AddFOp>(y, v.back());
                       return y;
                     });
  return results;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

SmallVector<Value> fused::SwigluOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  RankedTensorType type = getRowType(getOuts()[0]);
  return {b.map({b.plain(getGate()), b.plain(getUp())},
                b.sizesOf(type, b.getRows(getGate())), type.getElementType(),
                [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                  return swiglu(s, v[0], v[1]);
                })};
}

SmallVector<Value> fused::AddOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  RankedTensorType type = getRowType(getOuts()[0]);
  return {b.map({b.plain(getA()), b.plain(getB())},
                b.sizesOf(type, b.getRows(getA())), type.getElementType(),
                [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                  return s.create<arith::AddFOp>(v[0], v[1]);
                })};
}

SmallVector<Value> fused::QuantizeOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  auto [codes, scales] = quantizeRows(b, getX(), b.getRows(getX()), getGroup());
  return {codes, scales};
}

/// y = x / sqrt(mean(x^2) + eps) * gain, in f32.
static Value normalize(RowBuilder &b, Value x, Value gain, double epsilon,
                       Value rows, Type element) {
  RankedTensorType type = getRowType(x);
  AffineExpr n = b.dim(0), h = b.dim(1);
  Value squares =
      b.compute(2, {{x, {n, h}}}, {b.zeros({rows}), {n}},
                [](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                  Value square = s.create<arith::MulFOp>(values[0], values[0]);
                  return s.create<arith::AddFOp>(values[1], square);
                });
  Value features = b.f32(type.getDimSize(1));
  Value eps = b.f32(epsilon);
  Value inverse = b.map(
      {{squares, {n}}}, {rows}, b.getF32Type(),
      [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
        Value mean = s.create<arith::DivFOp>(values[0], features);
        Value root = s.create<math::SqrtOp>(
            s.create<arith::AddFOp>(mean, eps).getResult());
        TypedAttr one = s.getF32FloatAttr(1.0);
        return s.create<arith::DivFOp>(s.create<arith::ConstantOp>(one), root);
      });
  return b.map({{x, {n, h}}, {inverse, {n}}, {gain, {h}}},
               b.sizesOf(type, rows), element,
               [](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                 Value scaled = s.create<arith::MulFOp>(values[0], values[1]);
                 return s.create<arith::MulFOp>(scaled, values[2]);
               });
}

SmallVector<Value> fused::RmsNormOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  Value rows = b.getRows(getX());
  Value x = getX();
  RankedTensorType type = getRowType(x);
  if (getResidual())
    x = b.map({b.plain(x), b.plain(getResidual())}, b.sizesOf(type, rows),
              type.getElementType(),
              [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                return s.create<arith::AddFOp>(v[0], v[1]);
              });
  SmallVector<Value> results;
  Value y = normalize(b, x, getGain(), getEps().convertToDouble(), rows,
                      type.getElementType());
  if (getQuantizeGroup()) {
    auto [codes, scales] = quantizeRows(b, y, rows, *getQuantizeGroup());
    results = {codes, scales};
  } else {
    results = {y};
  }
  if (getResidual())
    results.push_back(x);
  return results;
}

SmallVector<Value> fused::GatherRowsOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  return b.forEachRow(
      b.getRows(getOuts()[0]), getOuts(),
      [&](RowBuilder &row, Value number,
          ValueRange outs) -> SmallVector<Value> {
        Value at = row.toIndex(
            row.create<tensor::ExtractOp>(getNumbers(), ValueRange{number})
                .getResult());
        Value from = row.row(getTable(), at);
        return {row.compute(1, {row.plain(from)}, row.plain(outs[0]),
                            [](ImplicitLocOpBuilder &, ValueRange values) {
                              return values[0];
                            })};
      });
}
