//===- DispatchDecomposition.cpp - Dispatch, experts, combine in linalg -*- C++
//-*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "dialects/Fused/RowBuilder.h"

using namespace mlir;
using namespace moec;

namespace {

/// Where the chosen (token, k) pairs stand after they are sorted by expert: the
/// first three results of fused.dispatch.
struct Dispatch {
  Value offsets, tokens, rows;
};

/// Counting sort of the pairs by expert, in the order of the tokens within one.
Dispatch dispatchByExpert(RowBuilder &b, Value indices, Value tokens,
                          Value pairs, int64_t topK, int64_t experts) {
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  Value zero = b.create<arith::ConstantOp>(b.getI64IntegerAttr(0));
  Value one = b.create<arith::ConstantOp>(b.getI64IntegerAttr(1));
  Value counts = b.filled({b.getIndexAttr(experts + 1)}, zero);
  auto getExpert = [&](RowBuilder &inner, Value token, Value choice) {
    return inner.toIndex(
        inner.create<tensor::ExtractOp>(indices, ValueRange{token, choice})
            .getResult());
  };
  auto forEachPair = [&](ValueRange inits, auto body) {
    return b.loop(b.index(0), tokens, inits,
                  [&](RowBuilder &outer, Value token, ValueRange carried) {
                    return outer.loop(
                        outer.index(0), outer.index(topK), carried,
                        [&](RowBuilder &inner, Value choice,
                            ValueRange values) -> SmallVector<Value> {
                          Value expert = getExpert(inner, token, choice);
                          return body(inner, token, choice, expert, values);
                        });
                  });
  };

  // counts[e + 1] = pairs of expert e; their running sum is where they begin.
  counts = forEachPair(
      {counts},
      [&](RowBuilder &inner, Value, Value, Value expert,
          ValueRange values) -> SmallVector<Value> {
        Value next = inner.create<arith::AddIOp>(expert, inner.index(1));
        Value count =
            inner.create<tensor::ExtractOp>(values[0], ValueRange{next});
        count = inner.create<arith::AddIOp>(count, one);
        return {
            inner.create<tensor::InsertOp>(count, values[0], ValueRange{next})};
      })[0];
  Value offsets = b.loop(
      b.index(0), b.index(experts), {counts},
      [&](RowBuilder &inner, Value expert,
          ValueRange values) -> SmallVector<Value> {
        Value next = inner.create<arith::AddIOp>(expert, inner.index(1));
        Value before =
            inner.create<tensor::ExtractOp>(values[0], ValueRange{expert});
        Value count =
            inner.create<tensor::ExtractOp>(values[0], ValueRange{next});
        Value sum = inner.create<arith::AddIOp>(before, count);
        return {
            inner.create<tensor::InsertOp>(sum, values[0], ValueRange{next})};
      })[0];

  Value cursors =
      b.map({b.plain(offsets)}, {b.getIndexAttr(experts + 1)}, i64,
            [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; });
  Value tokenOfRow = b.empty({OpFoldResult(pairs)}, i32);
  Value rowOfPair = b.empty({OpFoldResult(tokens), b.getIndexAttr(topK)}, i32);
  SmallVector<Value> placed = forEachPair(
      {cursors, tokenOfRow, rowOfPair},
      [&](RowBuilder &inner, Value token, Value choice, Value expert,
          ValueRange values) -> SmallVector<Value> {
        Value row =
            inner.create<tensor::ExtractOp>(values[0], ValueRange{expert});
        Value next = inner.create<arith::AddIOp>(row, one);
        Value token32 = inner.create<arith::IndexCastOp>(i32, token);
        Value row32 = inner.create<arith::TruncIOp>(i32, row);
        return {
            inner.create<tensor::InsertOp>(next, values[0], ValueRange{expert}),
            inner.create<tensor::InsertOp>(token32, values[1],
                                           ValueRange{inner.toIndex(row)}),
            inner.create<tensor::InsertOp>(row32, values[2],
                                           ValueRange{token, choice})};
      });
  return {offsets, placed[1], placed[2]};
}

/// Runs `body` on the rows [begin, begin + count) of each expert that has some;
/// what it returns for them goes to the same rows of `out`.
Value forEachExpert(RowBuilder &b, Value offsets, int64_t experts, Value tokens,
                    Value out,
                    llvm::function_ref<Value(RowBuilder &, Value expert,
                                             Value begin, Value count)>
                        body) {
  Location loc = b.getLoc();
  auto loop =
      b.create<scf::ForOp>(b.index(0), b.index(experts), b.index(1), out);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value expert = loop.getInductionVar(), carried = loop.getRegionIterArg(0);
  Value next = b.create<arith::AddIOp>(expert, b.index(1));
  auto offset = [&](Value at) {
    return b.toIndex(
        b.create<tensor::ExtractOp>(offsets, ValueRange{at}).getResult());
  };
  Value begin = offset(expert), end = offset(next);
  // A token chooses an expert once at most; the minimum says so to the
  // workspace plan.
  Value count = b.create<arith::MinUIOp>(
      b.create<arith::SubIOp>(end, begin).getResult(), tokens);
  Value some =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, count, b.index(0));
  auto choice = b.create<scf::IfOp>(TypeRange{out.getType()}, some,
                                    /*withElseRegion=*/true);
  b.create<scf::YieldOp>(choice.getResults());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, carried);
  b.setInsertionPointToStart(choice.thenBlock());
  Value result = body(b, expert, begin, count);
  int64_t width = cast<RankedTensorType>(out.getType()).getDimSize(1);
  SmallVector<OpFoldResult> at{begin, b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{count, b.getIndexAttr(width)};
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  Value inserted =
      b.create<tensor::InsertSliceOp>(result, carried, at, sizes, strides);
  scf::YieldOp::create(b, loc, inserted);
  return loop.getResult(0);
}

/// Rows tokens[begin + i] of x (or begin + i without tokens) for i < count.
Value gatherRows(RowBuilder &b, Value x, Value tokens, Value begin,
                 Value count) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<OpFoldResult> sizes{count, b.getIndexAttr(type.getDimSize(1))};
  if (!tokens) {
    SmallVector<OpFoldResult> at{begin, b.getIndexAttr(0)};
    SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
    return b.create<tensor::ExtractSliceOp>(x, at, sizes, strides);
  }
  return b.forEachRow(
      count, {b.empty(sizes, type.getElementType())},
      [&](RowBuilder &row, Value number,
          ValueRange outs) -> SmallVector<Value> {
        Value at = row.create<arith::AddIOp>(begin, number);
        Value token = row.toIndex(
            row.create<tensor::ExtractOp>(tokens, ValueRange{at}).getResult());
        Value source = row.row(x, token);
        return {row.create<linalg::CopyOp>(source, outs[0]).getResult(0)};
      })[0];
}

/// The pieces of work: for each expert its rows in pieces of at most
/// `rowsPerPiece`.
std::pair<Value, Value> listWork(RowBuilder &b, Value offsets, Value work,
                                 int64_t experts, int64_t rowsPerPiece) {
  Type i32 = b.getI32Type();
  Value piece = b.index(rowsPerPiece);
  auto toInt32 = [&](RowBuilder &inner, Value index) -> Value {
    return inner.create<arith::IndexCastOp>(i32, index);
  };
  Value none = b.filled({b.getIndexAttr(1)},
                        b.create<arith::ConstantOp>(b.getI64IntegerAttr(0)));
  SmallVector<Value> listed = b.loop(
      b.index(0), b.index(experts), {work, none},
      [&](RowBuilder &outer, Value expert,
          ValueRange carried) -> SmallVector<Value> {
        auto offset = [&](Value at) {
          return outer.toIndex(
              outer.create<tensor::ExtractOp>(offsets, ValueRange{at})
                  .getResult());
        };
        Value begin = offset(expert);
        Value end = offset(outer.create<arith::AddIOp>(expert, outer.index(1)));
        Value count = outer.create<arith::CeilDivUIOp>(
            outer.create<arith::SubIOp>(end, begin).getResult(), piece);
        return outer.loop(
            outer.index(0), count, carried,
            [&](RowBuilder &inner, Value number,
                ValueRange values) -> SmallVector<Value> {
              Value at =
                  inner.toIndex(inner
                                    .create<tensor::ExtractOp>(
                                        values[1], ValueRange{inner.index(0)})
                                    .getResult());
              Value first = inner.create<arith::AddIOp>(
                  begin,
                  inner.create<arith::MulIOp>(number, piece).getResult());
              Value left = inner.create<arith::SubIOp>(end, first);
              Value rows = inner.create<arith::MinUIOp>(left, piece);
              Value table = values[0];
              SmallVector<Value> entry{expert, first, rows};
              for (auto [column, value] : llvm::enumerate(entry))
                table = inner.create<tensor::InsertOp>(
                    toInt32(inner, value), table,
                    ValueRange{at, inner.index(column)});
              Value next = inner.create<arith::AddIOp>(at, inner.index(1));
              Value next64 =
                  inner.create<arith::IndexCastOp>(inner.getI64Type(), next);
              return {table,
                      inner.create<tensor::InsertOp>(
                          next64, values[1], ValueRange{inner.index(0)})};
            });
      });
  return {listed[0], listed[1]};
}

Value combine(RowBuilder &b, Value rows, Value outputs, Value weights,
              Value tokens, int64_t topK, int64_t hidden) {
  Value sums =
      b.empty({OpFoldResult(tokens), b.getIndexAttr(hidden)}, b.getF32Type());
  return b.forEachRow(
      tokens, {sums}, [&](RowBuilder &row, Value token, ValueRange outs) {
        Value zero =
            row.create<linalg::FillOp>(row.f32(0.0), outs[0]).getResult(0);
        return row.loop(
            row.index(0), row.index(topK), {zero},
            [&](RowBuilder &inner, Value choice,
                ValueRange carried) -> SmallVector<Value> {
              Value at = inner.toIndex(inner
                                           .create<tensor::ExtractOp>(
                                               rows, ValueRange{token, choice})
                                           .getResult());
              Value weight = inner.create<tensor::ExtractOp>(
                  weights, ValueRange{token, choice});
              Value output = inner.row(outputs, at);
              RowBuilder::Access sum = inner.plain(carried[0]);
              return {inner.compute(
                  1, {inner.plain(output), sum}, sum,
                  [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                    Value term = s.create<arith::MulFOp>(v[0], weight);
                    return s.create<arith::AddFOp>(v[1], term);
                  })};
            });
      })[0];
}

} // namespace

SmallVector<Value> fused::DispatchOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  auto indices = cast<RankedTensorType>(getIndices().getType());
  int64_t topK = indices.getDimSize(1);
  Value tokens = b.getRows(getIndices());
  Value pairs = b.create<arith::MulIOp>(tokens, b.index(topK));
  Dispatch dispatch =
      dispatchByExpert(b, getIndices(), tokens, pairs, topK, getExperts());
  auto [work, pieces] = listWork(b, dispatch.offsets, getOuts()[3],
                                 getExperts(), getRowsPerPiece());
  return {dispatch.offsets, dispatch.tokens, dispatch.rows, work, pieces};
}

SmallVector<Value> fused::ExpertsOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  Value tokens = b.getExtent(rt::Extent::num_tokens);
  return {forEachExpert(
      b, getOffsets(), getExperts(), tokens, getOuts()[0],
      [&](RowBuilder &inner, Value expert, Value begin, Value count) {
        Value rows = gatherRows(inner, getX(), getTokens(), begin, count);
        IRMapping mapping;
        mapping.map(getBody().getArgument(0), rows);
        mapping.map(getBody().getArgument(1), expert);
        for (Operation &op : getBody().front().without_terminator())
          inner.clone(op, mapping);
        return mapping.lookup(getBody().front().getTerminator()->getOperand(0));
      })};
}

SmallVector<Value> fused::GroupedLinearOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  Value tokens = b.getExtent(rt::Extent::num_tokens);
  auto out = cast<RankedTensorType>(getOuts()[0].getType());
  SmallVector<Value> results(getOuts());
  results[0] = forEachExpert(
      b, getOffsets(), getExperts(), tokens, getOuts()[0],
      [&](RowBuilder &inner, Value expert, Value begin, Value count) -> Value {
        Value x = gatherRows(inner, getX(), getTokens(), begin, count);
        Value xScales = getXScales() ? gatherRows(inner, getXScales(),
                                                  getTokens(), begin, count)
                                     : Value();
        SmallVector<Value> weights, scales;
        auto read = [&](Type type, rt::WeightPart part, Value slot) -> Value {
          auto memory = cast<MemRefType>(type);
          Value pointer =
              inner.create<rt::WeightOp>(memory, getStep(), part, slot);
          return inner.create<bufferization::ToTensorOp>(
              RankedTensorType::get(memory.getShape(), memory.getElementType()),
              pointer, /*restrict=*/true, /*writable=*/false);
        };
        for (Value slot : getSlots()) {
          Value at = inner.create<arith::AddIOp>(slot, expert);
          weights.push_back(read(getWeightType(), rt::WeightPart::payload, at));
          if (getScaleType())
            scales.push_back(read(*getScaleType(), rt::WeightPart::scales, at));
        }
        Value init =
            inner.empty(inner.sizesOf(out, count), out.getElementType());
        return inner
            .create<LinearOp>(TypeRange{out}, x, xScales, weights, scales,
                              /*residual=*/Value(), ValueRange{init},
                              getBlockAttr(), getEpilogueAttr(), TilesAttr())
            .getResult(0);
      });
  return results;
}

SmallVector<Value> fused::CombineOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  auto rows = cast<RankedTensorType>(getRows().getType());
  auto type = cast<RankedTensorType>(getOuts()[0].getType());
  Value tokens = b.getRows(getRows());
  Value sums = combine(b, getRows(), getY(), getWeights(), tokens,
                       rows.getDimSize(1), type.getDimSize(1));
  if (!getShared() && !getResidual())
    return {b.convert(sums, type.getElementType())};
  SmallVector<RowBuilder::Access> terms{b.plain(sums)};
  for (Value term : {getShared(), getResidual()})
    if (term)
      terms.push_back(b.plain(term));
  return {b.map(terms, b.sizesOf(type, tokens), type.getElementType(),
                [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                  Value sum = v[0];
                  for (Value term : v.drop_front())
                    sum = s.create<arith::AddFOp>(sum, term);
                  return sum;
                })};
}
