//===- WeightDecoder.cpp - Weights in registers -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WeightDecoder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace moec;

/// 16 bytes of one row, as bytes.
Value WeightDecoder::loadPiece(VectorBuilder &b, Value weight, Value row,
                               Value k, int64_t used) const {
  int64_t size = pieceSize();
  Value piece;
  if (used == size) {
    piece = b.load(weight, {row, k}, size);
  } else {
    // The bytes behind a row are the next row's, or nobody's.
    auto type = b.vectorOf(size, element);
    Value mask = b.create<vector::ConstantMaskOp>(
        b.vectorOf(size, b.getI1Type()), ArrayRef<int64_t>{used});
    Value none = b.create<arith::ConstantOp>(b.getZeroAttr(type));
    piece = b.create<vector::MaskedLoadOp>(type, weight, ValueRange{row, k},
                                           mask, none);
  }
  if (isa<Float8E4M3FNType>(element))
    return b.create<arith::BitcastOp>(b.vectorOf(size, b.getI8Type()), piece);
  return b.bitcast(piece, 16, b.getI8Type());
}

SmallVector<Value> WeightDecoder::decode(VectorBuilder &b, Value weight,
                                         Value first, int64_t stride, Value k,
                                         int64_t used) const {
  SmallVector<Value> pieces;
  for (int64_t row = 0; row < rowsPerVector(); ++row)
    pieces.push_back(loadPiece(b, weight, b.add(first, row * stride), k, used));
  while (pieces.size() > 1) {
    SmallVector<Value> halves;
    for (size_t pair = 0; pair < pieces.size(); pair += 2)
      halves.push_back(b.concat(pieces[pair], pieces[pair + 1]));
    pieces = halves;
  }
  Value bytes = pieces[0];
  if (isa<Float8E4M3FNType>(element))
    return dotProduct ? lookUpCodes(b, bytes) : widenCodes(b, bytes);
  if (element.isF32())
    return {b.bitcast(bytes, lanes, b.getF32Type())};
  if (dotProduct)
    return {b.bitcast(bytes, 2 * lanes, b.getBF16Type())};
  // Two bf16 in each 32 bits: the low half is the even one.
  Value pairs = b.bitcast(bytes, lanes, b.getI32Type());
  Value even =
      b.create<arith::ShLIOp>(pairs, b.splat(lanes, b.getI32Type(), 16));
  Value odd = b.create<arith::AndIOp>(
      pairs, b.splat(lanes, b.getI32Type(), static_cast<int32_t>(0xffff0000)));
  return {b.bitcast(even, lanes, b.getF32Type()),
          b.bitcast(odd, lanes, b.getF32Type())};
}

/// bf16 by two tables of 128 bytes, for the high and the low byte of the
/// magnitude; the sign is that of the code. Exact for every code, NaN included.
SmallVector<Value> WeightDecoder::lookUpCodes(VectorBuilder &b,
                                              Value codes) const {
  int64_t bytes = 4 * lanes;
  auto type = b.vectorOf(bytes, b.getI8Type());
  SmallVector<Value> tables;
  for (unsigned shift : {0u, 8u})
    for (unsigned begin : {0u, 64u}) {
      SmallVector<int8_t> table;
      for (unsigned code = begin; code < begin + 64; ++code) {
        APFloat value(APFloat::Float8E4M3FN(), APInt(8, code));
        bool lost;
        value.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &lost);
        table.push_back(static_cast<int8_t>(
            value.bitcastToAPInt().getZExtValue() >> shift & 0xff));
      }
      tables.push_back(b.create<arith::ConstantOp>(
          DenseElementsAttr::get(type, ArrayRef<int8_t>(table))));
    }
  auto lookUp = [&](Value low, Value high) -> Value {
    return b
        .create<LLVM::CallIntrinsicOp>(
            type, b.getStringAttr("llvm.x86.avx512.vpermi2var.qi.512"),
            ValueRange{low, codes, high})
        .getResults();
  };
  Value low = lookUp(tables[0], tables[1]);
  Value high = lookUp(tables[2], tables[3]);
  Value sign =
      b.create<arith::AndIOp>(codes, b.splat(bytes, b.getI8Type(), -128));
  high = b.create<arith::OrIOp>(high, sign);
  SmallVector<Value> steps;
  // Bytes are paired within 128 bits, where the machine does it in one go.
  for (int64_t half : {0, 8}) {
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < bytes; lane += 16)
      for (int64_t byte = 0; byte < 8; ++byte) {
        mask.push_back(lane + half + byte);
        mask.push_back(bytes + lane + half + byte);
      }
    steps.push_back(
        b.bitcast(b.shuffle(low, high, mask), 2 * lanes, b.getBF16Type()));
  }
  return steps;
}

/// f32 by way of f16: the code s eeee mmm becomes s 0eeee mmm0000000, whose
/// exponent is biased by 15 instead of 7, so the value is the code's times
/// 2^-8; subnormal codes are subnormals of f16 and widen exactly. The codes
/// 0x7f and 0xff are carried into the exponent's top bit, which makes them NaN.
SmallVector<Value> WeightDecoder::widenCodes(VectorBuilder &b,
                                             Value codes) const {
  Type i16 = b.getI16Type();
  int64_t words = 2 * lanes, rows = rowsPerVector();
  // The first eight codes of every row, then the other eight.
  Value quads = b.bitcast(codes, 2 * rows, b.getI64Type());
  SmallVector<int64_t> order;
  for (int64_t half : {0, 1})
    for (int64_t row = 0; row < rows; ++row)
      order.push_back(2 * row + half);
  Value pairs = b.bitcast(b.shuffle(quads, quads, order), words, i16);
  auto constant = [&](int64_t value) { return b.splat(words, i16, value); };
  auto toHalf = [&](Value bits) -> Value {
    Value digits =
        b.create<arith::AndIOp>(bits, constant(static_cast<int16_t>(0xBF80)));
    Value carried = b.create<arith::AddIOp>(digits, constant(0x0080));
    Value top = b.create<arith::AndIOp>(carried, constant(0x4000));
    // Only the largest magnitude carries into bit 14.
    Value all = b.create<arith::OrIOp>(digits, top);
    return b.bitcast(all, words, b.getF16Type());
  };
  Value one = constant(1);
  Value even = b.create<arith::ShLIOp>(pairs, constant(8));
  even = toHalf(b.create<arith::ShRSIOp>(even, one));
  Value odd = toHalf(b.create<arith::ShRSIOp>(pairs, one));
  SmallVector<Value> steps;
  for (int64_t half : {0, 1})
    for (Value values : {even, odd})
      steps.push_back(
          b.create<arith::ExtFOp>(b.vectorOf(lanes, b.getF32Type()),
                                  b.part(values, half * lanes, lanes)));
  return steps;
}
