//===- AttentionDecomposition.cpp - Attention in linalg -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "dialects/Fused/PagedCache.h"
#include "dialects/Fused/RowBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include <limits>

using namespace mlir;
using namespace moec;

namespace {

//===----------------------------------------------------------------------===//
// Online softmax over pages
//===----------------------------------------------------------------------===//

/// Sizes of one attention op. Letters: A heads, N nope, P rope, R rank, V
/// value.
struct AttentionSizes {
  int64_t heads, nope, rope, rank, value;
  int64_t perHead() const { return nope + value; }
};

/// Where one parallel task is: a row and a group of its heads.
struct AttentionTask {
  Value row, position, firstHead;
  int64_t heads;
};

/// Adds q_rope . k_rope to the scores [heads, page_size], scales them, and
/// shuts out the positions behind the row's own.
Value finishScores(RowBuilder &b, Value scores, Value qRope, Value kRope,
                   const AttentionTask &task, Value pageNumber,
                   int64_t pageSize, double scale) {
  AffineExpr h = b.dim(0), t = b.dim(1), p = b.dim(2);
  scores = b.compute(3, {{qRope, {h, p}}, {kRope, {t, p}}}, {scores, {h, t}},
                     [](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                       Value product =
                           s.create<arith::MulFOp>(values[0], values[1]);
                       return s.create<arith::AddFOp>(values[2], product);
                     });
  Value factor = b.f32(scale);
  Value shutOut = b.f32(-std::numeric_limits<double>::infinity());
  Value first = affine::makeComposedAffineApply(
      b, b.getLoc(), b.dim(0) * pageSize, {pageNumber});
  Value left = b.create<arith::SubIOp>(task.position, first);
  return b.map(
      {b.plain(scores)}, {b.getIndexAttr(task.heads), b.getIndexAttr(pageSize)},
      b.getF32Type(), [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
        Value slot = s.create<linalg::IndexOp>(1);
        Value isPast =
            s.create<arith::CmpIOp>(arith::CmpIPredicate::sle, slot, left);
        Value scaled = s.create<arith::MulFOp>(values[0], factor);
        return s.create<arith::SelectOp>(isPast, scaled, shutOut);
      });
}

/// One page of the online softmax (Milakov and Gimelshein 2018): carries the
/// maximum m [heads], the sum l [heads] and the weighted values o [heads, W].
SmallVector<Value> accumulatePage(RowBuilder &b, Value scores, Value values,
                                  Value used, ValueRange carried,
                                  const AttentionTask &task, int64_t pageSize) {
  Value m = carried[0], l = carried[1], o = carried[2];
  OpFoldResult heads = b.getIndexAttr(task.heads);
  Type f32 = b.getF32Type();
  AffineExpr h = b.dim(0), t = b.dim(1), w = b.dim(1), slot = b.dim(2);
  auto product = [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
    return s.create<arith::MulFOp>(v[0], v[1]);
  };
  auto expOfDifference = [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
    Value difference = s.create<arith::SubFOp>(v[0], v[1]);
    return s.create<math::ExpOp>(difference);
  };
  Value largest = b.compute(
      2, {{scores, {h, t}}},
      {b.map({{m, {h}}}, {heads}, f32,
             [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; }),
       {h}},
      [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
        return s.create<arith::MaximumFOp>(v[1], v[0]);
      });
  Value correction =
      b.map({{m, {h}}, {largest, {h}}}, {heads}, f32, expOfDifference);
  Value weights =
      b.map({{scores, {h, t}}, {largest, {h}}},
            {heads, b.getIndexAttr(pageSize)}, f32, expOfDifference);
  Value sum = b.map({{l, {h}}, {correction, {h}}}, {heads}, f32, product);
  sum = b.compute(2, {{weights, {h, t}}}, {sum, {h}},
                  [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                    return s.create<arith::AddFOp>(v[1], v[0]);
                  });
  // Slots behind the row's position may hold anything, NaN included: a weight
  // of zero would not silence them, so they are left out of the sum.
  auto slots = [&](Value tensor, unsigned usedDim) -> Value {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes{b.getIndexAttr(type.getDimSize(0)),
                                    b.getIndexAttr(type.getDimSize(1))};
    sizes[usedDim] = used;
    return b.create<tensor::ExtractSliceOp>(tensor, offsets, sizes, strides);
  };
  int64_t width = cast<RankedTensorType>(o.getType()).getDimSize(1);
  Value scaled = b.map({{o, {h, w}}, {correction, {h}}},
                       {heads, b.getIndexAttr(width)}, f32, product);
  o = b.compute(
      3, {{slots(weights, 1), {h, slot}}, {slots(values, 0), {slot, w}}},
      {scaled, {h, w}}, [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
        Value term = s.create<arith::MulFOp>(v[0], v[1]);
        return s.create<arith::AddFOp>(v[2], term);
      });
  auto into = [&](Value value, Value place) -> Value {
    return b.create<bufferization::MaterializeInDestinationOp>(value, place)
        .getResult();
  };
  return {into(largest, m), into(sum, l), into(o, carried[2])};
}

/// Loops over the pages of a row; `scorePage` gives the scores (without rope)
/// and the values [page_size, width] of a page.
Value attendToPages(
    RowBuilder &b, const PagedCache &cache, Value layer, Value qRope,
    const AttentionTask &task, const AttentionSizes &sizes, int64_t width,
    double scale,
    llvm::function_ref<std::pair<Value, Value>(RowBuilder &, Value latents)>
        scorePage) {
  OpFoldResult heads = b.getIndexAttr(task.heads);
  int64_t pageSize = cache.pageSize;
  Value m = b.filled({heads}, b.f32(-std::numeric_limits<double>::infinity()));
  Value l = b.zeros({heads});
  Value o = b.zeros({heads, b.getIndexAttr(width)});
  AffineExpr position = b.dim(0);
  Value pages = affine::makeComposedAffineApply(
      b, b.getLoc(), position.floorDiv(pageSize) + 1, {task.position});
  SmallVector<Value> ends = b.loop(
      b.index(0), pages, {m, l, o},
      [&](RowBuilder &inner, Value number, ValueRange carried) {
        Value page = cache.getPage(inner, task.row, number);
        Value latents = cache.read(inner, layer, page, 0, sizes.rank);
        Value kRope = cache.read(inner, layer, page, sizes.rank, sizes.rope);
        auto [scores, values] = scorePage(inner, latents);
        scores = finishScores(inner, scores, qRope, kRope, task, number,
                              pageSize, scale);
        AffineExpr p = inner.dim(0), n = inner.dim(1);
        OpFoldResult used = affine::makeComposedFoldedAffineMin(
            inner, inner.getLoc(),
            AffineMap::get(
                2, 0,
                {p - n * pageSize + 1, inner.getAffineConstantExpr(pageSize)},
                inner.getContext()),
            {OpFoldResult(task.position), OpFoldResult(number)});
        Value usedValue =
            getValueOrCreateConstantIndexOp(inner, inner.getLoc(), used);
        return accumulatePage(inner, scores, values, usedValue, carried, task,
                              pageSize);
      });
  AffineExpr h = b.dim(0), w = b.dim(1);
  return b.map({{ends[2], {h, w}}, {ends[1], {h}}},
               {heads, b.getIndexAttr(width)}, b.getF32Type(),
               [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                 return s.create<arith::DivFOp>(v[0], v[1]);
               });
}

//===----------------------------------------------------------------------===//
// The two forms
//===----------------------------------------------------------------------===//

/// Builds the decomposition of one attention op.
struct AttentionBuilder {
  explicit AttentionBuilder(fused::MlaAttentionOp op) : op(op) {
    auto shape = [](Value value) {
      return cast<ShapedType>(value.getType()).getShape();
    };
    sizes = {shape(op.getQNope())[1], shape(op.getQNope())[2],
             shape(op.getQRope())[2], shape(op.getKvB())[1],
             shape(op.getOuts()[0])[2]};
  }

  Value build(RowBuilder &b) {
    PagedCache cache(op.getCache(), op.getPageTable(), op.getSequences());
    Operand kvB = Operand::get(op.getKvB(), op.getKvBScales(), op.getBlock());
    Value output = op.getForm() == fused::AttentionForm::expanded
                       ? expanded(b, cache, kvB)
                       : absorbed(b, cache, kvB);
    return b.convert(output, getElementTypeOrSelf(op.getOuts()[0].getType()));
  }

private:
  static Value contract(RowBuilder &b, unsigned dims, RowBuilder::Access x,
                        const Operand &w, AffineExpr row, AffineExpr column,
                        RowBuilder::Access out) {
    SmallVector<RowBuilder::Access> inputs{x};
    w.appendAccesses(b, row, column, inputs);
    return b.compute(dims, inputs, out,
                     [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                       Value xValue = values[0];
                       values = values.drop_front();
                       Value wValue = w.getValue(s, values);
                       Value product = s.create<arith::MulFOp>(xValue, wValue);
                       return s.create<arith::AddFOp>(values[0], product);
                     });
  }

  /// Runs `body` for each row and group of heads, in parallel; the result is
  /// [N, A, width].
  static Value forEachHead(
      RowBuilder &b, Value positions, int64_t heads, int64_t group,
      int64_t width,
      llvm::function_ref<Value(RowBuilder &, const AttentionTask &)> body) {
    Value tokens = b.getExtent(rt::Extent::num_tokens);
    Value out = b.empty(
        {OpFoldResult(tokens), b.getIndexAttr(heads), b.getIndexAttr(width)},
        b.getF32Type());
    SmallVector<OpFoldResult> upper{tokens, b.getIndexAttr(heads / group)};
    Operation *op = b.op;
    auto forall = b.create<scf::ForallOp>(
        upper, ValueRange{out}, std::nullopt,
        [&](OpBuilder &nested, Location loc, ValueRange arguments) {
          RowBuilder task(op, nested);
          Value row = arguments[0], shared = arguments[2];
          Value firstHead = affine::makeComposedAffineApply(
              task, loc, task.dim(0) * group, {arguments[1]});
          Value result = body(
              task, {row, getPosition(task, positions, row), firstHead, group});
          auto terminator = task.create<scf::InParallelOp>();
          task.setInsertionPointToStart(terminator.getBody());
          task.create<tensor::ParallelInsertSliceOp>(
              result, shared, headOffsets(task, row, firstHead),
              headSizes(task, group, width), headStrides(task));
        });
    return forall.getResult(0);
  }

  static SmallVector<OpFoldResult> headOffsets(OpBuilder &b, Value row,
                                               Value firstHead) {
    return {row, firstHead, b.getIndexAttr(0)};
  }
  static SmallVector<OpFoldResult> headSizes(OpBuilder &b, int64_t heads,
                                             int64_t width) {
    return {b.getIndexAttr(1), b.getIndexAttr(heads), b.getIndexAttr(width)};
  }
  static SmallVector<OpFoldResult> headStrides(OpBuilder &b) {
    return SmallVector<OpFoldResult>(3, b.getIndexAttr(1));
  }
  /// Heads of one task, [heads, width].
  static Value getHeads(RowBuilder &b, Value tensor,
                        const AttentionTask &task) {
    auto type = cast<RankedTensorType>(tensor.getType());
    int64_t width = type.getDimSize(2);
    auto slice =
        RankedTensorType::get({task.heads, width}, type.getElementType());
    return b.create<tensor::ExtractSliceOp>(
        slice, tensor, headOffsets(b, task.row, task.firstHead),
        headSizes(b, task.heads, width), headStrides(b));
  }

  /// Query and output are pulled through kv_b_proj, so that attention works on
  /// the latents (DeepSeek-V2, section 2.1.2):
  ///   q_latent[h, r] = sum over d of q_nope[h, d] kv_b[h (N + V) + d, r]
  ///   out[h, v] = sum over r of o_latent[h, r] kv_b[h (N + V) + N + v, r]
  Value absorbed(RowBuilder &b, const PagedCache &cache, const Operand &kvB) {
    Value tokens = b.getExtent(rt::Extent::num_tokens);
    AffineExpr n = b.dim(0), h = b.dim(1), column = b.dim(2), k = b.dim(3);
    auto shape = [&](int64_t width) {
      return SmallVector<OpFoldResult>{tokens, b.getIndexAttr(sizes.heads),
                                       b.getIndexAttr(width)};
    };
    Value qLatent =
        contract(b, 4, {op.getQNope(), {n, h, k}}, kvB, h * sizes.perHead() + k,
                 column, {b.zeros(shape(sizes.rank)), {n, h, column}});
    int64_t group = sizes.heads % 4 == 0 ? 4 : sizes.heads % 2 == 0 ? 2 : 1;
    Value layer = op.getLayer();
    Value oLatent = forEachHead(
        b, op.getPositions(), sizes.heads, group, sizes.rank,
        [&](RowBuilder &task, const AttentionTask &at) {
          Value q = getHeads(task, qLatent, at);
          Value qRope = getHeads(task, op.getQRope(), at);
          return attendToPages(
              task, cache, layer, qRope, at, sizes, sizes.rank,
              op.getScale().convertToDouble(),
              [&](RowBuilder &inner, Value latents) -> std::pair<Value, Value> {
                Value scores =
                    dotWithKeys(inner, q, latents, at.heads, cache.pageSize);
                return {scores, latents};
              });
        });
    return contract(b, 4, {oLatent, {n, h, k}}, kvB,
                    h * sizes.perHead() + sizes.nope + column, k,
                    {b.zeros(shape(sizes.value)), {n, h, column}});
  }

  /// scores[h, t] = sum over k of q[h, k] keys[t, k]
  static Value dotWithKeys(RowBuilder &b, Value q, Value keys, int64_t heads,
                           int64_t pageSize) {
    AffineExpr h = b.dim(0), t = b.dim(1), k = b.dim(2);
    Value zeros = b.zeros({b.getIndexAttr(heads), b.getIndexAttr(pageSize)});
    return b.compute(3, {{q, {h, k}}, {keys, {t, k}}}, {zeros, {h, t}},
                     [](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                       Value product =
                           s.create<arith::MulFOp>(values[0], values[1]);
                       return s.create<arith::AddFOp>(values[2], product);
                     });
  }

  /// Keys and values of each page are computed from its latents.
  Value expanded(RowBuilder &b, const PagedCache &cache, const Operand &kvB) {
    Value layer = op.getLayer();
    int64_t group = kvB.columnBlock;
    bool quantize = op.getQuantizeLatent();
    return forEachHead(
        b, op.getPositions(), sizes.heads, 1, sizes.value,
        [&](RowBuilder &task, const AttentionTask &at) {
          Value q = getHeads(task, op.getQNope(), at);
          Value qRope = getHeads(task, op.getQRope(), at);
          return attendToPages(
              task, cache, layer, qRope, at, sizes, sizes.value,
              op.getScale().convertToDouble(),
              [&](RowBuilder &inner, Value latents) -> std::pair<Value, Value> {
                Operand x{latents, Value()};
                if (quantize) {
                  auto [codes, scales] = quantizeRows(
                      inner, latents, inner.index(cache.pageSize), group);
                  x = {codes, scales, 1, group};
                }
                Value keys = expand(inner, x, kvB, at, sizes, 0, sizes.nope,
                                    cache.pageSize);
                Value values = expand(inner, x, kvB, at, sizes, sizes.nope,
                                      sizes.value, cache.pageSize);
                Value scores = dotWithKeys(inner, q, keys, 1, cache.pageSize);
                return {scores, values};
              });
        });
  }

  /// Rows [begin, begin + size) of a head of kv_b_proj times the latents:
  /// [page_size, size].
  static Value expand(RowBuilder &b, const Operand &latents, const Operand &kvB,
                      const AttentionTask &task, const AttentionSizes &sizes,
                      int64_t begin, int64_t size, int64_t pageSize) {
    // The head's rows are a slice; its scales are read through the whole
    // matrix's row number, which the body cannot express as a map, so the slice
    // begins at a row that is known as an index.
    AffineExpr t = b.dim(0), d = b.dim(1), r = b.dim(2);
    Value firstRow = affine::makeComposedAffineApply(
        b, b.getLoc(), b.dim(0) * sizes.perHead() + begin, {task.firstHead});
    Operand head = sliceRows(b, kvB, firstRow, size);
    Value zeros = b.zeros({b.getIndexAttr(pageSize), b.getIndexAttr(size)});
    SmallVector<RowBuilder::Access> inputs;
    latents.appendAccesses(b, t, r, inputs);
    head.appendAccesses(b, d, r, inputs);
    return b.compute(3, inputs, {zeros, {t, d}},
                     [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
                       Value x = latents.getValue(s, values);
                       Value w = head.getValue(s, values);
                       Value product = s.create<arith::MulFOp>(x, w);
                       return s.create<arith::AddFOp>(values[0], product);
                     });
  }

  /// `size` rows of a weight from `firstRow` on. The scales become one per row,
  /// since the rows may begin inside a block.
  static Operand sliceRows(RowBuilder &b, const Operand &w, Value firstRow,
                           int64_t size) {
    auto type = cast<RankedTensorType>(w.payload.getType());
    SmallVector<OpFoldResult> offsets{firstRow, b.getIndexAttr(0)};
    SmallVector<OpFoldResult> extents{b.getIndexAttr(size),
                                      b.getIndexAttr(type.getDimSize(1))};
    SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
    Operand slice = w;
    slice.payload =
        b.create<tensor::ExtractSliceOp>(w.payload, offsets, extents, strides);
    if (!w.scales)
      return slice;
    auto scaleType = cast<RankedTensorType>(w.scales.getType());
    int64_t columns = scaleType.getDimSize(1);
    Value perRow = b.empty({b.getIndexAttr(size), b.getIndexAttr(columns)},
                           b.getF32Type());
    SmallVector<Value> filled =
        b.loop(b.index(0), b.index(size), {perRow},
               [&](RowBuilder &inner, Value number,
                   ValueRange carried) -> SmallVector<Value> {
                 AffineExpr row = inner.dim(0), first = inner.dim(1);
                 Value block = affine::makeComposedAffineApply(
                     inner, inner.getLoc(), (row + first).floorDiv(w.rowBlock),
                     {OpFoldResult(number), OpFoldResult(firstRow)});
                 SmallVector<OpFoldResult> at{number, inner.getIndexAttr(0)};
                 SmallVector<OpFoldResult> one{inner.getIndexAttr(1),
                                               inner.getIndexAttr(columns)};
                 return {inner.create<tensor::InsertSliceOp>(
                     inner.row(w.scales, block), carried[0], at, one, strides)};
               });
    slice.scales = filled[0];
    slice.rowBlock = 1;
    return slice;
  }

  fused::MlaAttentionOp op;
  AttentionSizes sizes;
};

} // namespace

SmallVector<Value> fused::MlaAttentionOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  return {AttentionBuilder(*this).build(b)};
}
