//===- AttentionKernel.cpp - One row, one split of its context -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include <limits>

using namespace mlir;
using namespace moec;

/// The largest divisor of `value` up to `limit` that is a multiple of `unit`.
static int64_t largestDivisor(int64_t value, int64_t limit, int64_t unit) {
  for (int64_t divisor = limit / unit * unit; divisor > unit; divisor -= unit)
    if (value % divisor == 0)
      return divisor;
  return unit;
}

AttentionShape::AttentionShape(fused::MlaAttentionOp op, int64_t lanes,
                               bool dotProduct)
    : lanes(lanes), dotProduct(dotProduct) {
  auto shapeOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  heads = shapeOf(op.getQNope())[1];
  nope = shapeOf(op.getQNope())[2];
  rope = shapeOf(op.getQRope())[2];
  rank = shapeOf(op.getKvB())[1];
  value = shapeOf(op.getOuts()[0])[2];
  width = rank + rope;
  paddedHeads = fused::getPaddedHeads(heads);
  pageSize = shapeOf(op.getCache())[2];
  block = fused::getTokenBlock(pageSize);
  split = op.getTilesAttr().getSplit();
  scale = op.getScale().convertToDouble();
}

int64_t AttentionShape::groupVectors() const {
  return largestDivisor(paddedHeads / lanes, lanes == 16 ? 4 : 2, 1);
}

int64_t AttentionShape::tile() const {
  // Sums of 16 vectors with AVX-512, of 8 with AVX2.
  return std::min<int64_t>(8, (lanes == 16 ? 16 : 8) / groupVectors());
}

Value moec::buildWeight(VectorBuilder &b, Value x, Value maximum,
                        double scale) {
  int64_t lanes = cast<VectorType>(x.getType()).getDimSize(0);
  Value factor =
      b.broadcast(b.create<arith::ConstantOp>(b.getF32FloatAttr(scale)), lanes);
  Value below = b.create<arith::SubFOp>(x, maximum);
  return b.create<math::ExpOp>(
      b.create<arith::MulFOp>(below, factor).getResult());
}

AttentionKernel::AttentionKernel(VectorBuilder &b, const AttentionShape &shape)
    : b(b), shape(shape) {
  Type f32 = b.getF32Type(), bf16 = b.getBF16Type();
  scores = allocate(shape.block * shape.paddedHeads, f32);
  decay = allocate(shape.paddedHeads, f32);
  if (shape.dotProduct) {
    pairs = allocate(shape.block * shape.rank, bf16);
    weights = allocate(shape.block * shape.paddedHeads, bf16);
  } else {
    widened = allocate(shape.block * shape.width, f32);
  }
}

Value AttentionKernel::allocate(int64_t size, Type type) {
  return b.create<memref::AllocaOp>(MemRefType::get({size}, type),
                                    b.getI64IntegerAttr(64));
}

void AttentionKernel::build(Value queries, Value row, Value begin, Value end,
                            const Result &result, GetBlock getBlock) {
  start(result);
  b.forEach(begin, end, shape.block, [&](Value position) {
    Value latents = getBlock(position);
    Value used = b.min(b.sub(end, position), b.index(shape.block));
    if (shape.dotProduct)
      pairLatents(latents, used);
    else
      widenLatents(latents, used);
    score(queries, row, latents, used);
    softmax(result, used);
    addValues(result, used);
  });
}

void AttentionKernel::start(const Result &result) {
  int64_t lanes = shape.lanes, heads = shape.paddedHeads;
  Value zeros = b.zeros(lanes);
  auto f32s = cast<VectorType>(zeros.getType());
  Value none = b.create<arith::ConstantOp>(
      DenseElementsAttr::get(f32s, -std::numeric_limits<float>::infinity()));
  b.forEach(0, shape.rank * heads, lanes,
            [&](Value at) { b.store(zeros, result.sums, {result.slot, at}); });
  b.forEach(0, heads, lanes, [&](Value head) {
    b.store(none, result.statistics, {result.slot, head});
    b.store(zeros, result.statistics, {result.slot, b.add(head, heads)});
  });
}

//===----------------------------------------------------------------------===//
// Latents
//===----------------------------------------------------------------------===//

/// The tokens that tiles touch, as f32. Those from `used` on may hold anything:
/// their scores are not looked at.
void AttentionKernel::widenLatents(Value latents, Value used) {
  Value end = b.mul(b.ceilDiv(used, shape.tile()), shape.tile());
  bool isF32 = getElementTypeOrSelf(latents.getType()).isF32();
  b.forEach(b.index(0), end, 1, [&](Value token) {
    auto copy = [&](Value feature, int64_t lanes) {
      Value values = b.load(latents, {token, feature}, lanes);
      if (!isF32)
        values =
            b.create<arith::ExtFOp>(b.vectorOf(lanes, b.getF32Type()), values);
      b.store(values, widened, b.add(b.mul(token, shape.width), feature));
    };
    int64_t whole = shape.width / 16 * 16;
    b.forEach(0, whole, 16, [&](Value feature) { copy(feature, 16); });
    b.forEach(whole, shape.width, 1, [&](Value feature) { copy(feature, 1); });
  });
}

/// The value halves of two tokens side by side. Behind the last token stand
/// zeros: its weight is zero, but zero times NaN is none.
void AttentionKernel::pairLatents(Value latents, Value used) {
  constexpr int64_t lanes = 16;
  SmallVector<int64_t> interleave;
  for (int64_t lane = 0; lane < lanes; ++lane)
    interleave.append({lane, lanes + lane});
  auto type = b.vectorOf(lanes, b.getBF16Type());
  Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(type));
  b.forEach(b.index(0), used, 2, [&](Value token) {
    Value next = b.add(token, 1);
    Value isUsed = b.compare(arith::CmpIPredicate::ult, next, used);
    // Never read behind the block.
    Value nextOrSame = b.create<arith::SelectOp>(isUsed, next, token);
    b.forEach(0, shape.rank, lanes, [&](Value feature) {
      Value first = b.load(latents, {token, feature}, lanes);
      Value second = b.load(latents, {nextOrSame, feature}, lanes);
      second = b.create<arith::SelectOp>(isUsed, second, zeros);
      Value at = b.add(b.mul(token, shape.rank), b.mul(feature, 2));
      b.store(b.shuffle(first, second, interleave), pairs, at);
    });
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionKernel::multiplyAdd(Value x, Value vector, Value sum) {
  if (!shape.dotProduct)
    return b.fma(b.broadcast(x, shape.lanes), vector, sum);
  // A pair is a number of 32 bits to the broadcast.
  Value bits = b.bitcast(x, 1, b.getF32Type());
  SmallVector<int64_t> all(shape.lanes, 0);
  Value spread =
      b.bitcast(b.shuffle(bits, bits, all), 2 * shape.lanes, b.getBF16Type());
  return b.create<x86vector::DotBF16Op>(sum.getType(), sum, vector, spread);
}

Value AttentionKernel::loadHeads(Value memory, ArrayRef<Value> outer,
                                 Value at) {
  int64_t perLane = shape.dotProduct ? 2 : 1;
  SmallVector<Value> indices(outer);
  indices.push_back(b.mul(at, perLane));
  return b.load(memory, indices, shape.lanes * perLane);
}

/// Features in chunks, so that the queries' chunk stays in the first-level
/// cache while all tokens are scored.
void AttentionKernel::score(Value queries, Value row, Value latents,
                            Value used) {
  int64_t heads = shape.paddedHeads;
  Value zeros = b.zeros(shape.lanes);
  b.forEach(0, shape.block * heads, shape.lanes,
            [&](Value at) { b.store(zeros, scores, at); });
  int64_t perStep = shape.dotProduct ? 2 : 1;
  int64_t chunk = largestDivisor(shape.width, 96 * perStep, perStep);
  int64_t groupHeads = shape.groupVectors() * shape.lanes;
  b.forEach(0, shape.width, chunk, [&](Value feature) {
    b.forEach(0, heads, groupHeads, [&](Value head) {
      b.forEach(b.index(0), used, shape.tile(), [&](Value token) {
        scoreTile(queries, row, latents, feature, chunk, token, head);
      });
    });
  });
}

void AttentionKernel::scoreTile(Value queries, Value row, Value latents,
                                Value firstFeature, int64_t features,
                                Value token, Value head) {
  int64_t perStep = shape.dotProduct ? 2 : 1, vectors = shape.groupVectors();
  int64_t heads = shape.paddedHeads, tokens = shape.tile();
  auto placeOf = [&](int64_t number, int64_t vector) {
    Value at = b.add(b.mul(b.add(token, number), heads), head);
    return b.add(at, vector * shape.lanes);
  };
  SmallVector<Value> sums;
  for (int64_t number = 0; number < tokens; ++number)
    for (int64_t vector = 0; vector < vectors; ++vector)
      sums.push_back(b.load(scores, placeOf(number, vector), shape.lanes));
  sums = b.loop(
      b.index(0), b.index(features / perStep), 1, sums,
      [&](Value step, ValueRange carried) {
        SmallVector<Value> next(carried), loaded;
        Value feature = b.add(firstFeature, b.mul(step, perStep));
        Value at = b.add(b.mul(b.div(feature, perStep), heads), head);
        for (int64_t vector = 0; vector < vectors; ++vector)
          loaded.push_back(
              loadHeads(queries, {row}, b.add(at, vector * shape.lanes)));
        for (int64_t number = 0; number < tokens; ++number) {
          Value from = b.add(token, number);
          Value x =
              shape.dotProduct
                  ? b.load(latents, {from, feature}, 2)
                  : Value(b.create<memref::LoadOp>(
                        widened,
                        ValueRange{b.add(b.mul(from, shape.width), feature)}));
          for (int64_t vector = 0; vector < vectors; ++vector) {
            Value &sum = next[number * vectors + vector];
            sum = multiplyAdd(x, loaded[vector], sum);
          }
        }
        return next;
      });
  for (int64_t number = 0; number < tokens; ++number)
    for (int64_t vector = 0; vector < vectors; ++vector)
      b.store(sums[number * vectors + vector], scores, placeOf(number, vector));
}

//===----------------------------------------------------------------------===//
// Softmax and values
//===----------------------------------------------------------------------===//

/// Milakov and Gimelshein 2018: the maximum so far grows, and what was summed
/// up under the old one decays.
void AttentionKernel::softmax(const Result &result, Value used) {
  int64_t heads = shape.paddedHeads, lanes = shape.lanes;
  b.forEach(0, heads, lanes, [&](Value head) {
    Value divisorAt = b.add(head, heads);
    Value before = b.load(result.statistics, {result.slot, head}, lanes);
    Value maximum =
        b.loop(b.index(0), used, 1, {before},
               [&](Value token, ValueRange carried) -> SmallVector<Value> {
                 Value score =
                     b.load(scores, b.add(b.mul(token, heads), head), lanes);
                 return {b.create<arith::MaximumFOp>(carried[0], score)};
               })[0];
    Value factor = buildWeight(b, before, maximum, shape.scale);
    Value sum = b.load(result.statistics, {result.slot, divisorAt}, lanes);
    sum = b.create<arith::MulFOp>(sum, factor);
    sum = storeWeights(used, head, maximum, sum);
    b.store(factor, decay, head);
    b.store(maximum, result.statistics, {result.slot, head});
    b.store(sum, result.statistics, {result.slot, divisorAt});
  });
}

/// Scores to weights, which are added to `sum` token by token.
Value AttentionKernel::storeWeights(Value used, Value head, Value maximum,
                                    Value sum) {
  int64_t heads = shape.paddedHeads, lanes = shape.lanes;
  auto weigh = [&](Value token) {
    Value score = b.load(scores, b.add(b.mul(token, heads), head), lanes);
    return buildWeight(b, score, maximum, shape.scale);
  };
  if (!shape.dotProduct)
    return b.loop(b.index(0), used, 1, {sum},
                  [&](Value token, ValueRange carried) -> SmallVector<Value> {
                    Value weight = weigh(token);
                    b.store(weight, scores, b.add(b.mul(token, heads), head));
                    return {b.create<arith::AddFOp>(carried[0], weight)};
                  })[0];
  SmallVector<int64_t> interleave;
  for (int64_t lane = 0; lane < lanes; ++lane)
    interleave.append({lane, lanes + lane});
  Value zeros = b.zeros(lanes);
  return b.loop(
      b.index(0), used, 2, {sum},
      [&](Value token, ValueRange carried) -> SmallVector<Value> {
        Value next = b.add(token, 1);
        Value isUsed = b.compare(arith::CmpIPredicate::ult, next, used);
        Value first = weigh(token);
        Value second = b.create<arith::SelectOp>(isUsed, weigh(next), zeros);
        auto bf16s = b.vectorOf(lanes, b.getBF16Type());
        Value pair =
            b.shuffle(b.create<arith::TruncFOp>(bf16s, first),
                      b.create<arith::TruncFOp>(bf16s, second), interleave);
        b.store(pair, weights, b.add(b.mul(token, heads), b.mul(head, 2)));
        Value total = b.create<arith::AddFOp>(carried[0], first);
        return {b.create<arith::AddFOp>(total, second)};
      })[0];
}

void AttentionKernel::addValues(const Result &result, Value used) {
  int64_t perStep = shape.dotProduct ? 2 : 1, vectors = shape.groupVectors();
  int64_t heads = shape.paddedHeads, features = shape.tile();
  int64_t lanes = shape.lanes;
  auto buildTile = [&](Value head, Value feature) {
    auto placeOf = [&](int64_t number, int64_t vector) {
      Value at = b.add(b.mul(b.add(feature, number), heads), head);
      return SmallVector<Value>{result.slot, b.add(at, vector * lanes)};
    };
    SmallVector<Value> sums;
    for (int64_t number = 0; number < features; ++number)
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Value factor = b.load(decay, b.add(head, vector * lanes), lanes);
        Value sum = b.load(result.sums, placeOf(number, vector), lanes);
        sums.push_back(b.create<arith::MulFOp>(sum, factor));
      }
    sums = b.loop(
        b.index(0), b.ceilDiv(used, perStep), 1, sums,
        [&](Value step, ValueRange carried) {
          SmallVector<Value> next(carried), loaded;
          Value at = b.add(b.mul(step, heads), head);
          for (int64_t vector = 0; vector < vectors; ++vector)
            loaded.push_back(loadHeads(shape.dotProduct ? weights : scores, {},
                                       b.add(at, vector * lanes)));
          for (int64_t number = 0; number < features; ++number) {
            Value from = b.add(feature, number);
            Value x =
                shape.dotProduct
                    ? b.load(pairs,
                             b.mul(b.add(b.mul(step, shape.rank), from), 2), 2)
                    : Value(b.create<memref::LoadOp>(
                          widened,
                          ValueRange{b.add(b.mul(step, shape.width), from)}));
            for (int64_t vector = 0; vector < vectors; ++vector) {
              Value &sum = next[number * vectors + vector];
              sum = multiplyAdd(x, loaded[vector], sum);
            }
          }
          return next;
        });
    for (int64_t number = 0; number < features; ++number)
      for (int64_t vector = 0; vector < vectors; ++vector)
        b.store(sums[number * vectors + vector], result.sums,
                placeOf(number, vector));
  };
  b.forEach(0, heads, vectors * lanes, [&](Value head) {
    b.forEach(0, shape.rank, features,
              [&](Value feature) { buildTile(head, feature); });
  });
}
