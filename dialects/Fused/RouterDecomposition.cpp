//===- RouterDecomposition.cpp - The router in linalg -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "dialects/Fused/RowBuilder.h"

#include <limits>

using namespace mlir;
using namespace moec;
using transformer::ScoringFunc;
using transformer::TopkMethod;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Reduces a tensor of rank 1 to a scalar.
Value reduceRow(RowBuilder &b, Value row, Value init, ScalarBody body) {
  Value result = b.compute(1, {b.plain(row)}, {b.filled({}, init), {}}, body);
  return b.create<tensor::ExtractOp>(result, ValueRange());
}

Value largest(RowBuilder &b, Value row) {
  // maxnumf passes over NaN, which marks what is taken already.
  return reduceRow(b, row, b.f32(-infinity),
                   [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                     return s.create<arith::MaxNumFOp>(v[1], v[0]);
                   });
}

/// The lowest index whose value equals `value`.
Value firstIndexOf(RowBuilder &b, Value row, Value value, int64_t size) {
  Value none = b.create<arith::ConstantOp>(b.getI32IntegerAttr(size));
  Value index = reduceRow(
      b, row, none, [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
        Value equal =
            s.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[0], value);
        Value at = s.create<arith::IndexCastOp>(
            s.getI32Type(), s.create<linalg::IndexOp>(0).getResult());
        Value candidate = s.create<arith::SelectOp>(equal, at, none);
        return s.create<arith::MinSIOp>(v[1], candidate);
      });
  return index;
}

/// Picks the `count` largest values of a row, ties to the lower index; `pick`
/// is told each index in turn and returns the carried tensors.
SmallVector<Value> pickLargest(
    RowBuilder &b, Value row, int64_t count, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(RowBuilder &, Value number,
                                          Value index, ValueRange carried)>
        pick) {
  int64_t size = cast<RankedTensorType>(row.getType()).getDimSize(0);
  SmallVector<Value> carried{row};
  llvm::append_range(carried, inits);
  SmallVector<Value> results =
      b.loop(b.index(0), b.index(count), carried,
             [&](RowBuilder &inner, Value number, ValueRange values) {
               Value best = largest(inner, values[0]);
               Value index = firstIndexOf(inner, values[0], best, size);
               SmallVector<Value> next{inner.create<tensor::InsertOp>(
                   inner.f32(std::numeric_limits<double>::quiet_NaN()),
                   values[0], ValueRange{inner.toIndex(index)})};
               llvm::append_range(
                   next, pick(inner, number, index, values.drop_front()));
               return next;
             });
  results.erase(results.begin());
  return results;
}

Value getScores(RowBuilder &b, fused::RouterOp op, Value logits,
                int64_t experts) {
  OpFoldResult size = b.getIndexAttr(experts);
  Type f32 = b.getF32Type();
  Value one = b.f32(1.0);
  if (op.getScoring() == ScoringFunc::sigmoid)
    return b.map({b.plain(logits)}, {size}, f32,
                 [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                   Value negated = s.create<arith::NegFOp>(v[0]);
                   Value power = s.create<math::ExpOp>(negated);
                   Value sum = s.create<arith::AddFOp>(power, one);
                   return s.create<arith::DivFOp>(one, sum);
                 });
  Value best = largest(b, logits);
  Value powers = b.map({b.plain(logits)}, {size}, f32,
                       [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                         Value less = s.create<arith::SubFOp>(v[0], best);
                         return s.create<math::ExpOp>(less);
                       });
  Value sum = reduceRow(b, powers, b.f32(0.0),
                        [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                          return s.create<arith::AddFOp>(v[1], v[0]);
                        });
  return b.map({b.plain(powers)}, {size}, f32,
               [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                 return s.create<arith::DivFOp>(v[0], sum);
               });
}

/// The values that experts are chosen by. NaN, which equals nothing, becomes
/// -inf, so that every row chooses top_k different experts whatever it holds.
Value getChoice(RowBuilder &b, fused::RouterOp op, Value scores, Value bias,
                int64_t experts) {
  SmallVector<RowBuilder::Access> inputs{b.plain(scores)};
  if (bias)
    inputs.push_back(b.plain(bias));
  Value lowest = b.f32(-infinity);
  return b.map(inputs, {b.getIndexAttr(experts)}, b.getF32Type(),
               [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                 Value choice = v[0];
                 if (bias)
                   choice = s.create<arith::AddFOp>(v[0], v[1]);
                 Value isNaN = s.create<arith::CmpFOp>(
                     arith::CmpFPredicate::UNO, choice, choice);
                 return s.create<arith::SelectOp>(isNaN, lowest, choice);
               });
}

Value getGroup(RowBuilder &b, Value choice, Value group, int64_t groupSize) {
  Value begin = b.create<arith::MulIOp>(group, b.index(groupSize));
  SmallVector<OpFoldResult> offset{begin}, one{b.getIndexAttr(1)};
  SmallVector<OpFoldResult> size{b.getIndexAttr(groupSize)};
  return b.create<tensor::ExtractSliceOp>(choice, offset, size, one);
}

/// A group counts as its best value, or (noaux_tc) the sum of its two best.
/// Experts outside the topk_group best groups get -inf.
Value shutOutGroups(RowBuilder &b, fused::RouterOp op, Value choice,
                    int64_t experts) {
  int64_t groups = op.getNGroup(), groupSize = experts / groups;
  Value ranks = b.empty({b.getIndexAttr(groups)}, b.getF32Type());
  ranks = b.loop(
      b.index(0), b.index(groups), {ranks},
      [&](RowBuilder &inner, Value group,
          ValueRange carried) -> SmallVector<Value> {
        Value members = getGroup(inner, choice, group, groupSize);
        Value rank = largest(inner, members);
        if (op.getMethod() == TopkMethod::noaux_tc) {
          Value index = firstIndexOf(inner, members, rank, groupSize);
          Value lowest = inner.f32(-infinity);
          Value others = inner.map(
              {inner.plain(members)}, {inner.getIndexAttr(groupSize)},
              inner.getF32Type(),
              [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                Value at = s.create<arith::IndexCastOp>(
                    s.getI32Type(), s.create<linalg::IndexOp>(0).getResult());
                Value isBest = s.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                       at, index);
                return s.create<arith::SelectOp>(isBest, lowest, v[0]);
              });
          rank = inner.create<arith::AddFOp>(rank, largest(inner, others));
        }
        return {inner.create<tensor::InsertOp>(rank, carried[0],
                                               ValueRange{group})};
      })[0];
  Value shut = b.filled({b.getIndexAttr(experts)}, b.f32(-infinity));
  return pickLargest(
      b, ranks, op.getTopkGroup(), {shut},
      [&](RowBuilder &inner, Value, Value index,
          ValueRange carried) -> SmallVector<Value> {
        Value group = inner.toIndex(index);
        Value begin =
            inner.create<arith::MulIOp>(group, inner.index(groupSize));
        SmallVector<OpFoldResult> offset{begin}, one{inner.getIndexAttr(1)};
        SmallVector<OpFoldResult> size{inner.getIndexAttr(groupSize)};
        return {inner.create<tensor::InsertSliceOp>(
            getGroup(inner, choice, group, groupSize), carried[0], offset, size,
            one)};
      })[0];
}

/// Indices by falling choice value, and the unbiased scores as weights.
SmallVector<Value> chooseExperts(RowBuilder &b, fused::RouterOp op,
                                 Value scores, Value choice, ValueRange outs) {
  SmallVector<Value> chosen =
      pickLargest(b, choice, op.getTopK(), outs,
                  [&](RowBuilder &inner, Value number, Value index,
                      ValueRange carried) -> SmallVector<Value> {
                    Value score = inner.create<tensor::ExtractOp>(
                        scores, ValueRange{inner.toIndex(index)});
                    return {inner.create<tensor::InsertOp>(index, carried[0],
                                                           ValueRange{number}),
                            inner.create<tensor::InsertOp>(score, carried[1],
                                                           ValueRange{number})};
                  });
  bool normalize = op.getNormalize() && op.getTopK() > 1;
  // Softmax-scored routers scale only what they do not normalise.
  bool scale = op.getMethod() == TopkMethod::noaux_tc || !normalize;
  Value factor =
      b.f32(scale ? op.getRoutedScalingFactor().convertToDouble() : 1.0);
  Value divisor = b.f32(1.0);
  if (normalize) {
    Value sum = reduceRow(b, chosen[1], b.f32(0.0),
                          [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                            return s.create<arith::AddFOp>(v[1], v[0]);
                          });
    divisor = b.create<arith::AddFOp>(sum, b.f32(1e-20));
  }
  chosen[1] = b.compute(1, {b.plain(chosen[1])}, b.plain(outs[1]),
                        [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                          Value weight = s.create<arith::DivFOp>(v[0], divisor);
                          return s.create<arith::MulFOp>(weight, factor);
                        });
  return chosen;
}
} // namespace

SmallVector<Value> fused::RouterOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  auto type = cast<RankedTensorType>(getLogits().getType());
  int64_t experts = type.getDimSize(1);
  return b.forEachRow(
      b.getRows(getLogits()), getOuts(),
      [&](RowBuilder &row, Value number, ValueRange outs) {
        Value logits = row.row(getLogits(), number);
        Value scores = getScores(row, *this, logits, experts);
        Value choice = getChoice(row, *this, scores, getBias(), experts);
        if (getMethod() != TopkMethod::greedy && getNGroup() > 1)
          choice = shutOutGroups(row, *this, choice, experts);
        return chooseExperts(row, *this, scores, choice, outs);
      });
}
