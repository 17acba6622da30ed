//===- LowerAttention.cpp - Absorbed attention of a batch -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1. queries: q_nope through the key half of kv_b, and q_rope, laid out with
//      the heads side by side;
//   2. the splits of all rows' contexts, as many at a time as there are slots:
//      each an AttentionKernel, then combined in their order;
//   3. the latents, divided, through the value half of kv_b.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "LinearKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace moec;

namespace {

class AttentionLowering {
public:
  AttentionLowering(fused::MlaAttentionOp op, VectorBuilder &b, Value step,
                    const AttentionShape &shape)
      : op(op), b(b), step(step), shape(shape),
        slots(op.getTilesAttr().getSlots()) {}

  void build() {
    rows = b.createOrFold<memref::DimOp>(op.getOuts()[0], 0);
    placeScratch();
    absorbQueries();
    copyRope();
    attend();
    expandLatents();
  }

private:
  Value f32(float value) {
    return b.create<arith::ConstantOp>(b.getF32FloatAttr(value));
  }
  Value view(Value bytes, Value at, ArrayRef<int64_t> sizes, Type type,
             ValueRange dynamic = {}) {
    return b.create<memref::ViewOp>(MemRefType::get(sizes, type), bytes, at,
                                    dynamic);
  }
  Value loadIndex(Value memory, ValueRange at) {
    return b.toIndex(b.create<memref::LoadOp>(memory, at).getResult());
  }
  void placeScratch();
  void absorbQueries();
  void decodeTile(Value tile, Value head, Value column, int64_t columns);
  void multiplyTile(Value tile, Value local, Value head, Value firstRow,
                    int64_t tileRows, Value column, int64_t columns);
  void storeQuery(Value value, Value row, Value feature, Value head);
  void copyRope();
  void attend();
  Value countSplits(Value row);
  SmallVector<Value> listTasks(Value count, Value row, Value split);
  void attendToSplit(AttentionKernel &kernel, Value task);
  void combineStatistics(Value count);
  void combineSums(Value count);
  void expandLatents();
  void divideLatents(Value row);

  fused::MlaAttentionOp op;
  VectorBuilder &b;
  Value step;
  const AttentionShape &shape;
  int64_t slots;
  Value rows;
  // Scratch of each row.
  Value queries;     ///< [N, width * heads]
  Value latentBytes; ///< i8, over the queries: [heads][N, rank] f32
  Value sums;        ///< [N, rank * heads] f32
  Value statistics;  ///< [N, 2 * heads] f32: maximum and divisor
  // Scratch of each slot.
  Value slotSums;       ///< [slots, rank * heads] f32
  Value slotStatistics; ///< [slots, 2 * heads] f32
  Value factors;        ///< [slots, 2 * heads] f32: of the row, of the slot
  Value tasks;          ///< [slots, 2] i32: row and split
};

void AttentionLowering::placeScratch() {
  Type f32 = b.getF32Type();
  int64_t heads = shape.paddedHeads, dynamic = ShapedType::kDynamic;
  Value perRow = b.create<memref::CollapseShapeOp>(
      op.getOuts()[1], ArrayRef<ReassociationIndices>{{0, 1}});
  int64_t queryBytes = 4 * shape.width * heads;
  int64_t sumBytes = 4 * shape.rank * heads;
  Type query = shape.dotProduct ? Type(b.getBF16Type()) : f32;
  queries =
      view(perRow, b.index(0), {dynamic, shape.width * heads}, query, rows);
  latentBytes = perRow;
  sums = view(perRow, b.mul(rows, queryBytes), {dynamic, shape.rank * heads},
              f32, rows);
  statistics = view(perRow, b.mul(rows, queryBytes + sumBytes),
                    {dynamic, 2 * heads}, f32, rows);

  Value fixed = op.getOuts()[2];
  int64_t at = 0;
  auto take = [&](int64_t perSlot, Type type) {
    Value memory = view(fixed, b.index(at), {slots, perSlot}, type);
    at += 4 * slots * perSlot;
    return memory;
  };
  slotSums = take(shape.rank * heads, f32);
  slotStatistics = take(2 * heads, f32);
  factors = take(2 * heads, f32);
  tasks = take(2, b.getI32Type());
}

//===----------------------------------------------------------------------===//
// 1. Queries
//===----------------------------------------------------------------------===//

/// q_latent[h, r] = sum over d of q_nope[h, d] kv_b[h (nope + value) + d, r]: a
/// task decodes some columns of a head once for all rows.
void AttentionLowering::absorbQueries() {
  int64_t columns = 4 * shape.lanes;
  while (shape.rank % columns != 0)
    columns -= shape.lanes;
  int64_t tiles = shape.rank / columns, tileRows = shape.lanes == 16 ? 4 : 2;
  b.parallel(step, b.index(shape.heads * tiles), [&](Value begin, Value end) {
    auto allocate = [&](int64_t size) -> Value {
      return b.create<memref::AllocaOp>(MemRefType::get({size}, b.getF32Type()),
                                        b.getI64IntegerAttr(64));
    };
    Value tile = allocate(shape.nope * columns);
    Value local = allocate(tileRows * columns);
    b.forEach(begin, end, 1, [&](Value task) {
      Value head = b.div(task, tiles);
      Value column = b.mul(b.rem(task, tiles), columns);
      decodeTile(tile, head, column, columns);
      Value whole = b.sub(rows, b.rem(rows, tileRows));
      b.forEach(b.index(0), whole, tileRows, [&](Value row) {
        multiplyTile(tile, local, head, row, tileRows, column, columns);
      });
      b.forEach(whole, rows, 1, [&](Value row) {
        multiplyTile(tile, local, head, row, 1, column, columns);
      });
    });
  });
}

void AttentionLowering::decodeTile(Value tile, Value head, Value column,
                                   int64_t columns) {
  Value firstRow = b.mul(head, shape.nope + shape.value);
  auto f32s = b.vectorOf(shape.lanes, b.getF32Type());
  b.forEach(0, shape.nope, 1, [&](Value feature) {
    Value row = b.add(firstRow, feature);
    for (int64_t at = 0; at < columns; at += shape.lanes) {
      Value from = b.add(column, at);
      Value weights = b.load(op.getKvB(), {row, from}, shape.lanes);
      if (weights.getType() != f32s)
        weights = b.create<arith::ExtFOp>(f32s, weights);
      if (Value scales = op.getKvBScales()) {
        ArrayRef<int64_t> block = *op.getBlock();
        Value scale = b.create<memref::LoadOp>(
            scales, ValueRange{b.div(row, block[0]), b.div(from, block[1])});
        weights =
            b.create<arith::MulFOp>(weights, b.broadcast(scale, shape.lanes));
      }
      b.store(weights, tile, b.add(b.mul(feature, columns), at));
    }
  });
}

void AttentionLowering::multiplyTile(Value tile, Value local, Value head,
                                     Value firstRow, int64_t tileRows,
                                     Value column, int64_t columns) {
  int64_t vectors = columns / shape.lanes;
  SmallVector<Value> zeros(tileRows * vectors, b.zeros(shape.lanes));
  SmallVector<Value> products = b.loop(
      b.index(0), b.index(shape.nope), 1, zeros,
      [&](Value feature, ValueRange carried) {
        SmallVector<Value> next(carried), loaded;
        for (int64_t vector = 0; vector < vectors; ++vector)
          loaded.push_back(
              b.load(tile, b.add(b.mul(feature, columns), vector * shape.lanes),
                     shape.lanes));
        for (int64_t row = 0; row < tileRows; ++row) {
          Value x = b.create<memref::LoadOp>(
              op.getQNope(), ValueRange{b.add(firstRow, row), head, feature});
          if (!x.getType().isF32())
            x = b.create<arith::ExtFOp>(b.getF32Type(), x);
          Value spread = b.broadcast(x, shape.lanes);
          for (int64_t vector = 0; vector < vectors; ++vector) {
            Value &sum = next[row * vectors + vector];
            sum = b.fma(spread, loaded[vector], sum);
          }
        }
        return next;
      });
  for (auto [number, product] : llvm::enumerate(products))
    b.store(product, local, b.index(number * shape.lanes));
  b.forEach(0, columns, 1, [&](Value at) {
    for (int64_t row = 0; row < tileRows; ++row) {
      Value value =
          b.create<memref::LoadOp>(local, ValueRange{b.add(at, row * columns)});
      storeQuery(value, b.add(firstRow, row), b.add(column, at), head);
    }
  });
}

void AttentionLowering::storeQuery(Value value, Value row, Value feature,
                                   Value head) {
  int64_t heads = shape.paddedHeads;
  Value at = b.add(b.mul(feature, heads), head);
  if (shape.dotProduct) {
    value = b.create<arith::TruncFOp>(b.getBF16Type(), value);
    Value pair = b.add(b.mul(b.div(feature, 2), heads), head);
    at = b.add(b.mul(pair, 2), b.rem(feature, 2));
  }
  b.create<memref::StoreOp>(value, queries, ValueRange{row, at});
}

void AttentionLowering::copyRope() {
  b.parallelFor(step, rows, [&](Value row) {
    b.forEach(0, shape.heads, 1, [&](Value head) {
      b.forEach(0, shape.rope, 1, [&](Value feature) {
        Value value = b.create<memref::LoadOp>(op.getQRope(),
                                               ValueRange{row, head, feature});
        if (!value.getType().isF32())
          value = b.create<arith::ExtFOp>(b.getF32Type(), value);
        storeQuery(value, row, b.add(feature, shape.rank), head);
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// 2. Attention
//===----------------------------------------------------------------------===//

Value AttentionLowering::countSplits(Value row) {
  Value position = loadIndex(op.getPositions(), row);
  return b.add(b.div(position, shape.split), 1);
}

void AttentionLowering::attend() {
  Value total = b.loop(b.index(0), rows, 1, {b.index(0)},
                       [&](Value row, ValueRange sum) -> SmallVector<Value> {
                         return {b.add(sum[0], countSplits(row))};
                       })[0];
  SmallVector<Value> first{b.index(0), b.index(0)};
  b.loop(b.index(0), total, slots, first, [&](Value done, ValueRange next) {
    Value count = b.min(b.sub(total, done), b.index(slots));
    SmallVector<Value> behind = listTasks(count, next[0], next[1]);
    b.parallel(step, count, [&](Value begin, Value end) {
      AttentionKernel kernel(b, shape);
      b.forEach(begin, end, 1,
                [&](Value task) { attendToSplit(kernel, task); });
    });
    combineStatistics(count);
    combineSums(count);
    return behind;
  });
}

/// The next `count` pairs of a row and a split of its context, from the given
/// one on; returns the one behind them.
SmallVector<Value> AttentionLowering::listTasks(Value count, Value row,
                                                Value split) {
  Type i32 = b.getI32Type();
  return b.loop(
      b.index(0), count, 1, {row, split}, [&](Value task, ValueRange pair) {
        for (auto [number, value] : llvm::enumerate(pair))
          b.create<memref::StoreOp>(b.create<arith::IndexCastOp>(i32, value),
                                    tasks, ValueRange{task, b.index(number)});
        Value next = b.add(pair[1], 1);
        Value isLast =
            b.compare(arith::CmpIPredicate::eq, next, countSplits(pair[0]));
        Value nextRow =
            b.create<arith::SelectOp>(isLast, b.add(pair[0], 1), pair[0]);
        Value nextSplit = b.create<arith::SelectOp>(isLast, b.index(0), next);
        return SmallVector<Value>{nextRow, nextSplit};
      });
}

void AttentionLowering::attendToSplit(AttentionKernel &kernel, Value task) {
  Value row = loadIndex(tasks, {task, b.index(0)});
  Value begin = b.mul(loadIndex(tasks, {task, b.index(1)}), shape.split);
  Value position = loadIndex(op.getPositions(), row);
  Value end = b.min(b.add(position, 1), b.add(begin, shape.split));
  Value sequence = loadIndex(op.getSequences(), row);
  auto getBlock = [&](Value at) -> Value {
    Value page =
        loadIndex(op.getPageTable(), {sequence, b.div(at, shape.pageSize)});
    OpFoldResult one = b.getIndexAttr(1);
    SmallVector<OpFoldResult> offsets{
        op.getLayer(), page, b.rem(at, shape.pageSize), b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes{one, one, b.getIndexAttr(shape.block),
                                    b.getIndexAttr(shape.width)};
    SmallVector<OpFoldResult> strides(4, one);
    auto type = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        {shape.block, shape.width}, cast<MemRefType>(op.getCache().getType()),
        offsets, sizes, strides));
    return b.create<memref::SubViewOp>(type, op.getCache(), offsets, sizes,
                                       strides);
  };
  kernel.build(queries, row, begin, end, {slotSums, slotStatistics, task},
               getBlock);
}

/// The rows' maxima and divisors, and the factors under which a row's sums and
/// a slot's come together.
void AttentionLowering::combineStatistics(Value count) {
  int64_t heads = shape.paddedHeads, lanes = shape.lanes;
  b.forEach(b.index(0), count, 1, [&](Value task) {
    Value row = loadIndex(tasks, {task, b.index(0)});
    Value split = loadIndex(tasks, {task, b.index(1)});
    Value isFirst = b.compare(arith::CmpIPredicate::eq, split, b.index(0));
    b.forEach(0, heads, lanes, [&](Value head) {
      Value divisorAt = b.add(head, heads);
      Value maximum = b.load(slotStatistics, {task, head}, lanes);
      Value divisor = b.load(slotStatistics, {task, divisorAt}, lanes);
      b.ifElse(
          isFirst,
          [&] {
            b.store(maximum, statistics, {row, head});
            b.store(divisor, statistics, {row, divisorAt});
          },
          [&] {
            Value before = b.load(statistics, {row, head}, lanes);
            Value sum = b.load(statistics, {row, divisorAt}, lanes);
            Value larger = b.create<arith::MaximumFOp>(before, maximum);
            Value ofRow = buildWeight(b, before, larger, shape.scale);
            Value ofSlot = buildWeight(b, maximum, larger, shape.scale);
            sum = b.create<arith::MulFOp>(sum, ofRow);
            b.store(b.fma(divisor, ofSlot, sum), statistics, {row, divisorAt});
            b.store(larger, statistics, {row, head});
            b.store(ofRow, factors, {task, head});
            b.store(ofSlot, factors, {task, divisorAt});
          });
    });
  });
}

/// A task takes some features of all slots, so that a long context of one row
/// keeps every thread busy.
void AttentionLowering::combineSums(Value count) {
  int64_t heads = shape.paddedHeads, lanes = shape.lanes;
  constexpr int64_t features = 16;
  b.parallelFor(step, b.index(shape.rank / features), [&](Value part) {
    Value begin = b.mul(part, features * heads);
    Value end = b.add(begin, features * heads);
    b.forEach(b.index(0), count, 1, [&](Value task) {
      Value row = loadIndex(tasks, {task, b.index(0)});
      Value split = loadIndex(tasks, {task, b.index(1)});
      Value isFirst = b.compare(arith::CmpIPredicate::eq, split, b.index(0));
      b.ifElse(
          isFirst,
          [&] {
            b.forEach(begin, end, lanes, [&](Value at) {
              b.store(b.load(slotSums, {task, at}, lanes), sums, {row, at});
            });
          },
          [&] {
            b.forEach(begin, end, lanes, [&](Value at) {
              Value head = b.rem(at, heads);
              Value ofRow = b.load(factors, {task, head}, lanes);
              Value ofSlot = b.load(factors, {task, b.add(head, heads)}, lanes);
              Value sum = b.load(sums, {row, at}, lanes);
              sum = b.create<arith::MulFOp>(sum, ofRow);
              Value added = b.load(slotSums, {task, at}, lanes);
              b.store(b.fma(added, ofSlot, sum), sums, {row, at});
            });
          });
    });
  });
}

//===----------------------------------------------------------------------===//
// 3. Values
//===----------------------------------------------------------------------===//

/// out[h, v] = sum over r of latent[h, r] kv_b[h (nope + value) + nope + v, r]
void AttentionLowering::expandLatents() {
  b.parallelFor(step, rows, [&](Value row) { divideLatents(row); });
  auto weight = cast<ShapedType>(op.getKvB().getType());
  LinearShape linear;
  linear.out = shape.value;
  linear.in = shape.rank;
  if (auto block = op.getBlock()) {
    linear.rowBlock = (*block)[0];
    linear.block = (*block)[1];
  }
  linear.columns = shape.value % 64 == 0 ? 64 : 16;
  linear.rows = 256;
  linear.registerRows = shape.lanes == 16 ? 6 : 2;
  linear.streamRows = 4;
  int64_t tiles = llvm::divideCeil(shape.value, linear.columns);
  Value chunks = b.ceilDiv(rows, linear.rows);
  OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
  b.parallel(
      step, b.mul(chunks, shape.heads * tiles), [&](Value begin, Value end) {
        LinearMemory memory =
            allocateLinear(b, shape.lanes, /*dotProduct=*/false, linear, weight,
                           /*numWeights=*/1);
        b.forEach(begin, end, 1, [&](Value task) {
          Value first = b.mul(b.rem(task, chunks), linear.rows);
          Value count = b.min(b.sub(rows, first), b.index(linear.rows));
          Value number = b.div(task, chunks);
          Value head = b.div(number, tiles);
          LinearBuffers buffers;
          buffers.weightRow =
              b.add(b.mul(head, shape.nope + shape.value), shape.nope);
          buffers.x =
              view(latentBytes, b.mul(b.mul(head, rows), 4 * shape.rank),
                   {ShapedType::kDynamic, shape.rank}, b.getF32Type(), rows);
          buffers.weights = {b.create<memref::SubViewOp>(
              op.getKvB(), ArrayRef<OpFoldResult>{buffers.weightRow, none},
              ArrayRef<OpFoldResult>{b.getIndexAttr(shape.value),
                                     b.getIndexAttr(shape.rank)},
              ArrayRef<OpFoldResult>{one, one})};
          if (op.getKvBScales())
            buffers.scales = {op.getKvBScales()};
          SmallVector<OpFoldResult> offsets{none, head, none};
          SmallVector<OpFoldResult> sizes{rows, one,
                                          b.getIndexAttr(shape.value)};
          SmallVector<OpFoldResult> strides(3, one);
          auto outType = cast<MemRefType>(op.getOuts()[0].getType());
          buffers.out = b.create<memref::SubViewOp>(
              cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
                  {ShapedType::kDynamic, shape.value}, outType, offsets, sizes,
                  strides)),
              op.getOuts()[0], offsets, sizes, strides);
          LinearKernel kernel(b, shape.lanes, /*dotProduct=*/false, linear,
                              buffers, memory);
          kernel.build(first, count,
                       b.mul(b.rem(number, tiles), linear.columns));
        });
      });
}

/// The sums over the divisors, head by head, in the order of features that the
/// linear kernel reads. The queries' memory is free by now.
void AttentionLowering::divideLatents(Value row) {
  auto weight = cast<ShapedType>(op.getKvB().getType());
  WeightDecoder decoder(shape.lanes, /*dotProduct=*/false,
                        weight.getElementType());
  int64_t heads = shape.paddedHeads;
  Value latents = view(latentBytes, b.index(0),
                       {shape.heads, ShapedType::kDynamic, shape.rank},
                       b.getF32Type(), rows);
  b.forEach(0, shape.heads, 1, [&](Value head) {
    Value divisor = b.create<memref::LoadOp>(
        statistics, ValueRange{row, b.add(head, heads)});
    Value factor = b.create<arith::DivFOp>(f32(1.0f), divisor);
    b.forEach(0, shape.rank, 8, [&](Value first) {
      for (int64_t number = 0; number < 8; ++number) {
        int64_t place =
            decoder.splitsEvenOdd() ? number % 2 * 4 + number / 2 : number;
        Value at = b.add(b.mul(b.add(first, number), heads), head);
        Value sum = b.create<memref::LoadOp>(sums, ValueRange{row, at});
        Value value = b.create<arith::MulFOp>(sum, factor);
        b.create<memref::StoreOp>(value, latents,
                                  ValueRange{head, row, b.add(first, place)});
      }
    });
  });
}

} // namespace

LogicalResult moec::lowerAttention(fused::MlaAttentionOp op, VectorBuilder &b,
                                   Value step, int64_t lanes, bool dotProduct) {
  if (!op.getTilesAttr() || op.getOuts().size() != 3)
    return op.emitOpError("expects tiles and scratch: run choose-fp8-tiles, or "
                          "decompose-fused where there is no kernel");
  // Rounding the queries to bf16 is no loss beside a cache in bf16.
  auto cache = cast<MemRefType>(op.getCache().getType());
  bool pairs = dotProduct && cache.getElementType().isBF16() &&
               cache.getDimSize(3) % 2 == 0;
  AttentionShape shape(op, lanes, pairs);
  AttentionLowering(op, b, step, shape).build();
  return success();
}
