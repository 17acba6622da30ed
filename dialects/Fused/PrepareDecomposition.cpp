//===- PrepareDecomposition.cpp - RoPE and the cache in linalg -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "dialects/Fused/PagedCache.h"
#include "dialects/Fused/RowBuilder.h"

using namespace mlir;
using namespace moec;

//===----------------------------------------------------------------------===//
// RoPE
//===----------------------------------------------------------------------===//

static Value isSecondOfPair(ImplicitLocOpBuilder &s, unsigned dim, int64_t half,
                            bool interleaved) {
  Value at = s.create<linalg::IndexOp>(dim);
  if (!interleaved)
    return s.create<arith::CmpIOp>(
        arith::CmpIPredicate::uge, at,
        s.create<arith::ConstantIndexOp>(half).getResult());
  Value odd = s.create<arith::AndIOp>(
      at, s.create<arith::ConstantIndexOp>(1).getResult());
  return s.create<arith::CmpIOp>(
      arith::CmpIPredicate::ne, odd,
      s.create<arith::ConstantIndexOp>(0).getResult());
}

/// Rotates pairs: of neighbours if interleaved, else of the two halves.
///   first of a pair:  y = x cos - partner sin
///   second of a pair: y = x cos + partner sin
/// `outer` are the dimensions of cos and sin before the last.
static Value rotate(RowBuilder &b, Value x, Value cos, Value sin,
                    ArrayRef<AffineExpr> outer, ArrayRef<OpFoldResult> sizes,
                    bool interleaved) {
  auto type = cast<RankedTensorType>(x.getType());
  unsigned last = type.getRank() - 1;
  int64_t size = type.getShape().back(), half = size / 2;
  AffineExpr p = b.dim(last);
  AffineExpr partner = interleaved ? p + 1 - (p % 2) * 2 : (p + half) % size;
  AffineExpr pair = interleaved ? p.floorDiv(2) : p % half;
  RowBuilder::Access along = b.plain(x), across = along;
  across.indices.back() = partner;
  SmallVector<AffineExpr> table(outer);
  table.push_back(pair);
  return b.map(
      {along, across, {cos, table}, {sin, table}}, sizes, type.getElementType(),
      [&](ImplicitLocOpBuilder &s, ValueRange values) -> Value {
        Value own = s.create<arith::MulFOp>(values[0], values[2]);
        Value other = s.create<arith::MulFOp>(values[1], values[3]);
        Value isSecond = isSecondOfPair(s, last, half, interleaved);
        Value negated = s.create<arith::NegFOp>(other);
        Value term = s.create<arith::SelectOp>(isSecond, other, negated);
        return s.create<arith::AddFOp>(own, term);
      });
}

SmallVector<Value> fused::RopeOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  auto type = cast<RankedTensorType>(getX().getType());
  return {rotate(b, getX(), getCos(), getSin(), {b.dim(0)},
                 b.sizesOf(type, b.getRows(getX())), getInterleaved())};
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

/// The places of a row's latent and rope key in the slot of its position.
static std::pair<Value, Value> getSlot(RowBuilder &b, const PagedCache &cache,
                                       Value layer, Value positions,
                                       Value number, int64_t rope) {
  Value position = getPosition(b, positions, number);
  AffineExpr p = b.dim(0);
  Value page = affine::makeComposedAffineApply(
      b, b.getLoc(), p.floorDiv(cache.pageSize), {position});
  Value slot = affine::makeComposedAffineApply(b, b.getLoc(),
                                               p % cache.pageSize, {position});
  page = cache.getPage(b, number, page);
  int64_t rank = cache.width - rope;
  return {cache.view(b, layer, page, slot, 1, 0, rank),
          cache.view(b, layer, page, slot, 1, rank, rope)};
}

static void write(RowBuilder &b, Value values, Value place) {
  auto materialize = b.create<bufferization::MaterializeInDestinationOp>(
      Type(), values, place);
  // Nothing else knows this view, so values may be made in their place.
  materialize.setRestrict(true);
  materialize.setWritable(true);
}

static int64_t getWidth(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getShape().back();
}

SmallVector<Value> fused::CacheWriteOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  PagedCache cache(getCache(), getPageTable(), getSequences());
  b.forEachRow(
      b.getExtent(rt::Extent::num_tokens), {},
      [&](RowBuilder &row, Value number, ValueRange) -> SmallVector<Value> {
        auto [latent, kRope] = getSlot(row, cache, getLayer(), getPositions(),
                                       number, getWidth(getKRope()));
        write(row, row.row(getLatent(), number), latent);
        write(row, row.row(getKRope(), number), kRope);
        return {};
      });
  return {};
}

/// x / sqrt(mean(x^2) + eps) * gain of one row, in f32, rounded once.
static Value normalizeRow(RowBuilder &b, Value x, Value gain, double epsilon) {
  auto type = cast<RankedTensorType>(x.getType());
  Value squares = b.compute(1, {b.plain(x)}, {b.filled({}, b.f32(0.0)), {}},
                            [](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                              Value square =
                                  s.create<arith::MulFOp>(v[0], v[0]);
                              return s.create<arith::AddFOp>(v[1], square);
                            });
  Value sum = b.create<tensor::ExtractOp>(squares, ValueRange());
  Value mean = b.create<arith::DivFOp>(sum, b.f32(type.getDimSize(0)));
  Value shifted = b.create<arith::AddFOp>(mean, b.f32(epsilon));
  Value root = b.create<math::SqrtOp>(shifted);
  Value inverse = b.create<arith::DivFOp>(b.f32(1.0), root);
  return b.map({b.plain(x), b.plain(gain)},
               {b.getIndexAttr(type.getDimSize(0))}, type.getElementType(),
               [&](ImplicitLocOpBuilder &s, ValueRange v) -> Value {
                 Value scaled = s.create<arith::MulFOp>(v[0], inverse);
                 return s.create<arith::MulFOp>(scaled, v[1]);
               });
}

SmallVector<Value> fused::MlaPrepareOp::decompose(OpBuilder &builder) {
  RowBuilder b(*this, builder);
  PagedCache cache(getCache(), getPageTable(), getSequences());
  double epsilon = getEps().convertToDouble();
  return b.forEachRow(
      b.getExtent(rt::Extent::num_tokens), getOuts(),
      [&](RowBuilder &row, Value number, ValueRange) -> SmallVector<Value> {
        // The places come first: values are made in them, not copied there.
        auto [latent, kRope] = getSlot(row, cache, getLayer(), getPositions(),
                                       number, getWidth(getKRope()));
        Value cos = row.row(getCos(), number), sin = row.row(getSin(), number);
        auto turn = [&](Value x) {
          SmallVector<OpFoldResult> sizes;
          for (int64_t extent : cast<RankedTensorType>(x.getType()).getShape())
            sizes.push_back(row.getIndexAttr(extent));
          return rotate(row, x, cos, sin, {}, sizes, getInterleaved());
        };
        write(
            row,
            normalizeRow(row, row.row(getLatent(), number), getGain(), epsilon),
            latent);
        write(row, turn(row.row(getKRope(), number)), kRope);
        return {turn(row.row(getQRope(), number))};
      });
}
