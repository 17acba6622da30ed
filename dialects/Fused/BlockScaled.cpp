//===- BlockScaled.cpp - Block-scaled operands in linalg -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/RowBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace moec;

//===----------------------------------------------------------------------===//
// Block-scaled operands
//===----------------------------------------------------------------------===//

Operand Operand::get(Value payload, Value scales,
                     std::optional<ArrayRef<int64_t>> block) {
  Operand operand{payload, scales};
  if (scales) {
    operand.rowBlock = (*block)[0];
    operand.columnBlock = (*block)[1];
  }
  return operand;
}

void Operand::appendAccesses(
    RowBuilder &b, AffineExpr row, AffineExpr column,
    SmallVectorImpl<RowBuilder::Access> &accesses) const {
  accesses.push_back({payload, {row, column}});
  if (scales)
    accesses.push_back(
        {scales, {row.floorDiv(rowBlock), column.floorDiv(columnBlock)}});
}

Value Operand::getValue(ImplicitLocOpBuilder &b, ValueRange &arguments) const {
  Value value = arguments[0];
  if (scales)
    value = b.create<arith::MulFOp>(value, arguments[1]);
  arguments = arguments.drop_front(scales ? 2 : 1);
  return value;
}

/// Quantises the features [group * number, + size) of a row; `parts` are the
/// row's codes and scales, and so are the results.
static SmallVector<Value> quantizeGroup(RowBuilder &b, Value xRow, Value number,
                                        int64_t group, int64_t size,
                                        ValueRange parts) {
  constexpr double maxMagnitude = 448.0; // of e4m3
  SmallVector<OpFoldResult> offset{affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), b.dim(0) * group, {number})};
  SmallVector<OpFoldResult> extent{b.getIndexAttr(size)};
  SmallVector<OpFoldResult> one{b.getIndexAttr(1)};
  Value part = b.create<tensor::ExtractSliceOp>(xRow, offset, extent, one);
  Value amax =
      b.compute(1, {b.plain(part)}, {b.filled({}, b.f32(0.0)), {}},
                [](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                  Value magnitude = s.create<math::AbsFOp>(values[0]);
                  return s.create<arith::MaximumFOp>(values[1], magnitude);
                });
  Value largest = b.create<tensor::ExtractOp>(amax, ValueRange());
  Value scale = b.create<arith::DivFOp>(largest, b.f32(maxMagnitude));
  Value isZero =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, scale, b.f32(0.0));
  scale = b.create<arith::SelectOp>(isZero, b.f32(1.0), scale);

  Value codes = b.create<tensor::ExtractSliceOp>(parts[0], offset, extent, one);
  codes = b.compute(1, {b.plain(part)}, b.plain(codes),
                    [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                      return s.create<arith::DivFOp>(values[0], scale);
                    });
  return {b.create<tensor::InsertSliceOp>(codes, parts[0], offset, extent, one),
          b.create<tensor::InsertOp>(scale, parts[1], number)};
}

std::pair<Value, Value> moec::quantizeRows(RowBuilder &b, Value x, Value rows,
                                           int64_t group) {
  int64_t features = cast<RankedTensorType>(x.getType()).getDimSize(1);
  int64_t groups = llvm::divideCeil(features, group);
  Type f8 = Float8E4M3FNType::get(b.getContext());
  Value codes = b.empty({OpFoldResult(rows), b.getIndexAttr(features)}, f8);
  Value scales =
      b.empty({OpFoldResult(rows), b.getIndexAttr(groups)}, b.getF32Type());

  SmallVector<Value> results = b.forEachRow(
      rows, {codes, scales},
      [&](RowBuilder &row, Value number,
          ValueRange outs) -> SmallVector<Value> {
        Value xRow = row.row(x, number);
        int64_t whole = features / group;
        SmallVector<Value> carried = row.loop(
            row.index(0), row.index(whole), outs,
            [&](RowBuilder &inner, Value groupNumber, ValueRange parts) {
              return quantizeGroup(inner, xRow, groupNumber, group, group,
                                   parts);
            });
        if (int64_t rest = features % group)
          carried =
              quantizeGroup(row, xRow, row.index(whole), group, rest, carried);
        return carried;
      });
  return {results[0], results[1]};
}
