//===- ExpertsPatterns.cpp - Dispatch, experts, combine -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace moec;

namespace {

/// Where the chosen (token, k) pairs stand after they are sorted by expert.
struct Dispatch {
  Value offsets; ///< [E + 1] i64: rows of expert e are offsets[e] .. [e + 1]
  Value tokens;  ///< [N K] i32: token of each dispatched row
  Value rows;    ///< [N, K] i32: dispatched row of each pair
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

/// y[n] = sum over k of weights[n, k] * expert(indices[n, k])(x[n]).
///
/// The rows of x are copied in the order of their experts; a loop over the
/// experts runs the body on the rows of each that has some; then each token
/// adds up its rows in the order of its choices, which does not depend on the
/// batch.
struct LowerExperts : OpConversionPattern<transformer::ExpertsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::ExpertsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    auto type = collapseRows(cast<RankedTensorType>(op.getType()));
    int64_t topK =
        cast<RankedTensorType>(op.getIndices().getType()).getShape().back();
    int64_t hidden = type.getDimSize(1);
    Value tokens = b.getExtent(rt::Extent::num_tokens);
    Value pairs = b.create<arith::MulIOp>(tokens, b.index(topK));
    Dispatch dispatch =
        dispatchByExpert(b, adaptor.getIndices(), tokens, pairs, topK,
                         static_cast<int64_t>(op.getExperts()));

    auto rowTensor = [&](Value rows, Type element) {
      return b.empty({OpFoldResult(rows), b.getIndexAttr(hidden)}, element);
    };
    Value dispatched = b.forEachRow(
        pairs, {rowTensor(pairs, type.getElementType())},
        [&](RowBuilder &row, Value number,
            ValueRange outs) -> SmallVector<Value> {
          Value token = row.toIndex(
              row.create<tensor::ExtractOp>(dispatch.tokens, ValueRange{number})
                  .getResult());
          Value source = row.row(adaptor.getX(), token);
          return {row.create<linalg::CopyOp>(source, outs[0]).getResult(0)};
        })[0];
    Value outputs = runExperts(op, b, rewriter, dispatch, dispatched,
                               rowTensor(pairs, type.getElementType()), tokens);
    Value sums = combine(b, dispatch, outputs, adaptor.getWeights(), tokens,
                         topK, hidden);
    rewriter.replaceOp(op, b.convert(sums, type.getElementType()));
    return success();
  }

private:
  static Value runExperts(transformer::ExpertsOp op, RowBuilder &b,
                          ConversionPatternRewriter &rewriter,
                          const Dispatch &dispatch, Value dispatched,
                          Value outputs, Value tokens) {
    Location loc = op.getLoc();
    auto loop = b.create<scf::ForOp>(b.index(0), b.index(op.getExperts()),
                                     b.index(1), outputs);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    RowBuilder inner(op, rewriter);
    Value expert = loop.getInductionVar(), carried = loop.getRegionIterArg(0);
    Value next = inner.create<arith::AddIOp>(expert, inner.index(1));
    Value begin = inner.toIndex(
        inner.create<tensor::ExtractOp>(dispatch.offsets, ValueRange{expert})
            .getResult());
    Value end = inner.toIndex(
        inner.create<tensor::ExtractOp>(dispatch.offsets, ValueRange{next})
            .getResult());
    // A token chooses an expert once at most; the minimum says so to the
    // workspace plan.
    Value count = inner.create<arith::MinUIOp>(
        inner.create<arith::SubIOp>(end, begin).getResult(), tokens);
    Value some = inner.create<arith::CmpIOp>(arith::CmpIPredicate::ne, count,
                                             inner.index(0));
    auto choice = inner.create<scf::IfOp>(TypeRange{outputs.getType()}, some,
                                          /*withElseRegion=*/true);
    inner.create<scf::YieldOp>(choice.getResults());

    rewriter.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(rewriter, loc, carried);
    rewriter.setInsertionPointToStart(choice.thenBlock());
    RowBuilder body(op, rewriter);
    int64_t hidden = cast<RankedTensorType>(dispatched.getType()).getDimSize(1);
    SmallVector<OpFoldResult> offsets{begin, body.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes{count, body.getIndexAttr(hidden)};
    SmallVector<OpFoldResult> strides(2, body.getIndexAttr(1));
    Value rows = body.create<tensor::ExtractSliceOp>(dispatched, offsets, sizes,
                                                     strides);
    Operation *yield = op.getBody().front().getTerminator();
    Value result = yield->getOperand(0);
    Value inserted = body.create<tensor::InsertSliceOp>(
        result, carried, offsets, sizes, strides);
    scf::YieldOp::create(rewriter, loc, inserted);
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&op.getBody().front(), inserted.getDefiningOp(),
                               {rows, expert});
    return loop.getResult(0);
  }

  static Value combine(RowBuilder &b, const Dispatch &dispatch, Value outputs,
                       Value weights, Value tokens, int64_t topK,
                       int64_t hidden) {
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
                Value at = inner.toIndex(
                    inner
                        .create<tensor::ExtractOp>(dispatch.rows,
                                                   ValueRange{token, choice})
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
};

} // namespace

void moec::populateExpertsPatterns(RewritePatternSet &patterns,
                                   const TypeConverter &types) {
  patterns.add<LowerExperts>(types, patterns.getContext());
}
