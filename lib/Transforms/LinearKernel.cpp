//===- LinearKernel.cpp - A task of a linear layer -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace moec;

static int64_t getStepsPerBlock(const WeightDecoder &decoder,
                                const LinearShape &shape) {
  return llvm::divideCeil(std::min(shape.block, shape.in),
                          decoder.pieceSize()) *
         decoder.stepsPerPiece();
}

LinearMemory moec::allocateLinear(VectorBuilder &b, int64_t lanes,
                                  bool dotProduct, const LinearShape &shape,
                                  ShapedType weight, int64_t numWeights) {
  WeightDecoder decoder(lanes, dotProduct, weight.getElementType());
  auto allocate = [&](ArrayRef<int64_t> sizes, Type type) -> Value {
    return b.create<memref::AllocaOp>(MemRefType::get(sizes, type),
                                      b.getI64IntegerAttr(64));
  };
  Type f32 = b.getF32Type();
  // A vector of a step holds four chains of a quarter of its lanes of columns.
  int64_t values = shape.columns * 4 * getStepsPerBlock(decoder, shape);
  return {allocate({values}, f32),
          allocate({numWeights, shape.rows, shape.columns}, f32)};
}

LinearKernel::LinearKernel(VectorBuilder &b, int64_t lanes, bool dotProduct,
                           const LinearShape &shape,
                           const LinearBuffers &buffers,
                           const LinearMemory &memory)
    : b(b), lanes(lanes), dotProduct(dotProduct), shape(shape),
      buffers(buffers),
      decoder(lanes, dotProduct,
              getElementTypeOrSelf(buffers.weights[0].getType())),
      memory(memory), stepsPerBlock(getStepsPerBlock(decoder, shape)) {}

void LinearKernel::build(Value firstRow, Value count, Value firstColumn) {
  // Each number of rows of the streaming form is code of its own; other numbers
  // take the form for many rows.
  std::function<void(int64_t)> choose = [&](int64_t rows) {
    if (rows > shape.streamRows)
      return panel(firstRow, count, firstColumn);
    Value fits = b.compare(arith::CmpIPredicate::eq, count, b.index(rows));
    b.ifElse(
        fits, [&] { stream(rows, firstRow, firstColumn); },
        [&] { choose(2 * rows); });
  };
  choose(1);
}

//===----------------------------------------------------------------------===//
// Common parts
//===----------------------------------------------------------------------===//

void LinearKernel::forEachBlock(
    ArrayRef<Value> inits, function_ref<Rows(const Block &, ValueRange)> body,
    Rows &results) {
  int64_t pieceSize = decoder.pieceSize();
  int64_t whole = shape.in / shape.block, rest = shape.in % shape.block;
  results.assign(inits.begin(), inits.end());
  if (whole > 0)
    results = b.loop(b.index(0), b.index(whole), 1, inits,
                     [&](Value number, ValueRange carried) {
                       Block block{number, b.mul(number, shape.block),
                                   shape.block / pieceSize, 0};
                       return body(block, carried);
                     });
  if (rest > 0)
    results = body({b.index(whole), b.index(whole * shape.block),
                    rest / pieceSize, rest % pieceSize},
                   results);
}

Value LinearKernel::getXRow(Value row) {
  if (!buffers.gather)
    return row;
  return b.toIndex(
      b.create<memref::LoadOp>(buffers.gather, ValueRange{row}).getResult());
}

/// The features of one step, in every 128 bits of a vector.
Value LinearKernel::loadX(Value row, Value k) {
  Type f32 = b.getF32Type();
  Value step = b.load(buffers.x, {row, k}, decoder.stepSize());
  if (dotProduct)
    step = b.bitcast(step, 4, f32);
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < lanes; ++lane)
    mask.push_back(lane % 4);
  Value all = b.shuffle(step, step, mask);
  return dotProduct ? b.bitcast(all, 2 * lanes, b.getBF16Type()) : all;
}

Value LinearKernel::multiplyAdd(Value w, Value x, Value sum) {
  if (!dotProduct)
    return b.fma(w, x, sum);
  return b.create<x86vector::DotBF16Op>(sum.getType(), sum, w, x);
}

Value LinearKernel::addChains(ArrayRef<Value> groups) {
  // [a0 a1 a2 a3] and [b0 b1 b2 b3] to [a0+a2 b0+b2 a1+a3 b1+b3], in each 128
  // bits.
  auto pairUp = [&](Value first, Value second) -> Value {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; lane += 4) {
      low.append({lane, lanes + lane, lane + 1, lanes + lane + 1});
      high.append({lane + 2, lanes + lane + 2, lane + 3, lanes + lane + 3});
    }
    return b.create<arith::AddFOp>(b.shuffle(first, second, low),
                                   b.shuffle(first, second, high));
  };
  // The same of the pairs (02) and (13).
  auto finishPairs = [&](Value first, Value second) -> Value {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; lane += 4) {
      low.append({lane, lane + 1, lanes + lane, lanes + lane + 1});
      high.append({lane + 2, lane + 3, lanes + lane + 2, lanes + lane + 3});
    }
    return b.create<arith::AddFOp>(b.shuffle(first, second, low),
                                   b.shuffle(first, second, high));
  };
  Value first = pairUp(groups[0], groups[1]);
  return finishPairs(first,
                     groups.size() == 4 ? pairUp(groups[2], groups[3]) : first);
}

Value LinearKernel::accumulate(Value sum, Value total, unsigned weight,
                               Value xRow, Value column, Value block) {
  if (shape.rowBlock == 0)
    return b.create<arith::AddFOp>(total, sum);
  Value row = buffers.weightRow ? b.add(column, buffers.weightRow) : column;
  Value scale = b.create<memref::LoadOp>(
      buffers.scales[weight], ValueRange{b.div(row, shape.rowBlock), block});
  if (double factor = decoder.getFactor(); factor != 1.0)
    scale = b.create<arith::MulFOp>(
        scale, b.create<arith::ConstantOp>(b.getF32FloatAttr(factor)));
  if (buffers.xScales) {
    Value xScale =
        b.create<memref::LoadOp>(buffers.xScales, ValueRange{xRow, block});
    scale = b.create<arith::MulFOp>(scale, xScale);
  }
  int64_t width = cast<VectorType>(sum.getType()).getDimSize(0);
  return b.fma(b.broadcast(scale, width), sum, total);
}

/// Stores the lanes from `first` on. As integers, by address: in LLVM a lone
/// bf16 that lives across blocks becomes an f32, and a library call brings it
/// back.
static void storeLanes(VectorBuilder &b, Value vector, Value first, Value out,
                       Value row, Value base) {
  auto type = cast<VectorType>(vector.getType());
  unsigned bits = type.getElementTypeBitWidth();
  int64_t width = type.getDimSize(0);
  Value lanes = b.bitcast(vector, width, b.getIntegerType(bits));
  auto layout = b.create<memref::ExtractStridedMetadataOp>(out);
  Value start = b.create<memref::ExtractAlignedPointerAsIndexOp>(out);
  Value at = b.add(b.add(layout.getOffset(), base),
                   b.mul(row, layout.getStrides()[0]));
  b.loop(first, b.index(width), 1, {},
         [&](Value lane, ValueRange) -> SmallVector<Value> {
           Value address = b.add(start, b.mul(b.add(at, lane), bits / 8));
           address = b.create<arith::IndexCastOp>(b.getI64Type(), address);
           Value pointer = b.create<LLVM::IntToPtrOp>(
               LLVM::LLVMPointerType::get(b.getContext()), address);
           Value value = b.create<vector::ExtractOp>(
               lanes, SmallVector<OpFoldResult>{lane});
           b.create<LLVM::StoreOp>(value, pointer, /*alignment=*/bits / 8);
           return {};
         });
}

void LinearKernel::finish(ArrayRef<Value> totals, Value row, Value base,
                          Value column) {
  int64_t width = cast<VectorType>(totals[0].getType()).getDimSize(0);
  auto f32s = b.vectorOf(width, b.getF32Type());
  Value y = totals[0];
  if (shape.epilogue == fused::Epilogue::swiglu) {
    Value one = b.create<arith::ConstantOp>(DenseElementsAttr::get(f32s, 1.0f));
    Value power =
        b.create<math::ExpOp>(b.create<arith::NegFOp>(totals[0]).getResult());
    Value divisor = b.create<arith::AddFOp>(power, one);
    Value silu = b.create<arith::DivFOp>(totals[0], divisor);
    y = b.create<arith::MulFOp>(silu, totals[1]);
  }
  if (buffers.residual) {
    Value residual = b.load(buffers.residual, {row, base}, width);
    if (residual.getType() != f32s)
      residual = b.create<arith::ExtFOp>(f32s, residual);
    y = b.create<arith::AddFOp>(y, residual);
  }
  Type element = getElementTypeOrSelf(buffers.out.getType());
  if (!element.isF32())
    y = b.create<arith::TruncFOp>(b.vectorOf(width, element), y);
  Value whole = b.compare(arith::CmpIPredicate::eq, base, column);
  b.ifElse(
      whole, [&] { b.store(y, buffers.out, {row, base}); },
      [&] {
        // The last columns of a width that no tile divides: the lanes before
        // `column` belong to another group, which stores them.
        storeLanes(b, y, b.sub(column, base), buffers.out, row, base);
      });
}

//===----------------------------------------------------------------------===//
// Few rows: weights are decoded into registers
//===----------------------------------------------------------------------===//

void LinearKernel::stream(int64_t count, Value firstRow, Value firstColumn) {
  Rows rows, xRows;
  for (int64_t row = 0; row < count; ++row) {
    rows.push_back(b.add(firstRow, row));
    xRows.push_back(getXRow(rows.back()));
  }
  int64_t width = groupColumns();
  Value end = b.min(b.add(firstColumn, shape.columns), b.index(shape.out));
  b.loop(firstColumn, end, width, {}, [&](Value column, ValueRange) -> Rows {
    Value base = b.min(column, b.index(shape.out - width));
    SmallVector<Rows> totals;
    for (unsigned weight = 0; weight < buffers.weights.size(); ++weight)
      totals.push_back(streamGroup(weight, xRows, base, column));
    for (int64_t row = 0; row < count; ++row) {
      Rows ofRow;
      for (Rows &ofWeight : totals)
        ofRow.push_back(ofWeight[row]);
      finish(ofRow, rows[row], base, column);
    }
    return {};
  });
}

/// The sums of a group of features over all of K, one vector for each row.
LinearKernel::Rows LinearKernel::streamGroup(unsigned weight, const Rows &xRows,
                                             Value base, Value column) {
  Rows zeros(xRows.size(), b.zeros(lanes)), totals;
  forEachBlock(
      zeros,
      [&](const Block &block, ValueRange carried) {
        prefetch(weight, base, block.number);
        Rows chains(2 * xRows.size(), b.zeros(lanes));
        streamBlock(weight, xRows, base, block, chains);
        Rows next;
        for (size_t row = 0; row < xRows.size(); ++row) {
          Value sum = addChains({chains[2 * row], chains[2 * row + 1]});
          next.push_back(accumulate(sum, carried[row], weight, xRows[row],
                                    column, block.number));
        }
        return next;
      },
      totals);
  // Two groups fill the even half of each 128 bits.
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < lanes; lane += 4)
    mask.append({lane, lane + 1});
  for (Value &total : totals)
    total = b.shuffle(total, total, mask);
  return totals;
}

void LinearKernel::streamBlock(unsigned weight, const Rows &xRows, Value base,
                               const Block &block,
                               SmallVectorImpl<Value> &chains) {
  auto piece = [&](Value k, int64_t used, SmallVectorImpl<Value> &sums) {
    SmallVector<SmallVector<Value>> groups;
    for (int64_t group : {0, 1})
      groups.push_back(decoder.decode(b, buffers.weights[weight],
                                      b.add(base, group), 2, k, used));
    for (size_t step = 0; step < groups[0].size(); ++step)
      for (size_t row = 0; row < xRows.size(); ++row) {
        Value x = loadX(xRows[row], b.add(k, step * decoder.stepSize()));
        for (size_t group : {0, 1}) {
          Value &sum = sums[2 * row + group];
          sum = multiplyAdd(groups[group][step], x, sum);
        }
      }
  };
  int64_t size = decoder.pieceSize();
  SmallVector<Value> sums(chains.begin(), chains.end());
  if (block.pieces > 0)
    sums = b.loop(b.index(0), b.index(block.pieces), 1, sums,
                  [&](Value number, ValueRange carried) {
                    SmallVector<Value> next(carried);
                    piece(b.add(block.begin, b.mul(number, size)), size, next);
                    return next;
                  });
  if (block.tail > 0)
    piece(b.add(block.begin, block.pieces * size), block.tail, sums);
  chains.assign(sums.begin(), sums.end());
}

/// Fetches a share of the next group of features into the second-level cache.
/// The rows of a group lie one behind the other, so taken over all blocks this
/// reads memory straight on, which is what it does best, whatever the order in
/// which the rows are multiplied.
void LinearKernel::prefetch(unsigned weight, Value base, Value block) {
  constexpr int64_t line = 64;
  auto type = cast<MemRefType>(buffers.weights[weight].getType());
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  int64_t width = groupColumns();
  Value next = b.min(b.add(base, width), b.index(shape.out - width));
  Value flat = b.create<memref::CollapseShapeOp>(
      buffers.weights[weight], ArrayRef<ReassociationIndices>{{0, 1}});
  int64_t share = width * std::min(shape.block, shape.in);
  Value at = b.add(b.mul(next, shape.in), b.mul(block, share));
  for (int64_t byte = 0; byte < share * bytes; byte += line)
    b.create<memref::PrefetchOp>(flat, ValueRange{b.add(at, byte / bytes)},
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
}

//===----------------------------------------------------------------------===//
// Many rows: a tile is decoded once and kept in cache
//===----------------------------------------------------------------------===//

void LinearKernel::panel(Value firstRow, Value count, Value firstColumn) {
  Value base = b.min(firstColumn, b.index(shape.out - shape.columns));
  for (unsigned weight = 0; weight < buffers.weights.size(); ++weight) {
    Value zeros = b.zeros(lanes);
    b.loop(b.index(0), count, 1, {}, [&](Value row, ValueRange) -> Rows {
      for (int64_t at = 0; at < shape.columns; at += lanes)
        b.store(zeros, memory.totals, {b.index(weight), row, b.index(at)});
      return {};
    });
    Rows none;
    forEachBlock(
        {},
        [&](const Block &block, ValueRange) -> Rows {
          decodePanel(weight, base, block);
          multiplyPanel(weight, firstRow, count, firstColumn, block);
          return {};
        },
        none);
  }
  b.loop(b.index(0), count, 1, {}, [&](Value row, ValueRange) -> Rows {
    b.loop(b.index(0), b.index(shape.columns), lanes, {},
           [&](Value at, ValueRange) -> Rows {
             Rows totals;
             for (unsigned weight = 0; weight < buffers.weights.size();
                  ++weight)
               totals.push_back(
                   b.load(memory.totals, {b.index(weight), row, at}, lanes));
             // Columns before the tile's own are another tile's.
             Value vectorBase = b.add(base, at);
             Value column = b.create<arith::MaxUIOp>(vectorBase, firstColumn);
             Value last = b.add(vectorBase, lanes);
             Value some = b.compare(arith::CmpIPredicate::ult, column, last);
             b.ifElse(some, [&] {
               finish(totals, b.add(firstRow, row), vectorBase, column);
             });
             return {};
           });
    return {};
  });
}

void LinearKernel::decodePanel(unsigned weight, Value base,
                               const Block &block) {
  int64_t size = decoder.pieceSize(), steps = decoder.stepsPerPiece();
  int64_t perQuad = stepsPerBlock * 4 * lanes;
  auto piece = [&](Value quad, Value number, int64_t used) {
    Value k = b.add(block.begin, b.mul(number, size));
    Value first = b.add(base, b.mul(quad, quadColumns()));
    Value at = b.add(b.mul(quad, perQuad), b.mul(number, steps * 4 * lanes));
    b.loop(b.index(0), b.index(4), 1, {}, [&](Value group, ValueRange) -> Rows {
      SmallVector<Value> decoded = decoder.decode(
          b, buffers.weights[weight], b.add(first, group), 4, k, used);
      Value ofGroup = b.add(at, b.mul(group, lanes));
      for (auto [step, value] : llvm::enumerate(decoded))
        b.store(b.bitcast(value, lanes, b.getF32Type()), memory.panel,
                b.add(ofGroup, step * 4 * lanes));
      return {};
    });
  };
  b.loop(b.index(0), b.index(shape.columns / quadColumns()), 1, {},
         [&](Value quad, ValueRange) -> Rows {
           b.loop(b.index(0), b.index(block.pieces), 1, {},
                  [&](Value number, ValueRange) -> Rows {
                    piece(quad, number, size);
                    return {};
                  });
           if (block.tail > 0)
             piece(quad, b.index(block.pieces), block.tail);
           return {};
         });
}

void LinearKernel::multiplyPanel(unsigned weight, Value firstRow, Value count,
                                 Value column, const Block &block) {
  b.loop(b.index(0), b.index(shape.columns / quadColumns()), 1, {},
         [&](Value quad, ValueRange) -> Rows {
           int64_t tileRows = shape.registerRows;
           Value rest = b.rem(count, tileRows);
           Value whole = b.sub(count, rest);
           b.loop(b.index(0), whole, tileRows, {},
                  [&](Value at, ValueRange) -> Rows {
                    multiplyTile(weight, tileRows, firstRow, at, quad, column,
                                 block);
                    return {};
                  });
           // The other rows two by two, and the last.
           Value pairs = b.sub(count, b.rem(rest, 2));
           auto others = [&](Value begin, Value end, int64_t size) {
             b.loop(begin, end, size, {}, [&](Value at, ValueRange) -> Rows {
               multiplyTile(weight, size, firstRow, at, quad, column, block);
               return {};
             });
           };
           if (tileRows > 2)
             others(whole, pairs, 2);
           if (tileRows > 1)
             others(pairs, count, 1);
           return {};
         });
}

void LinearKernel::multiplyTile(unsigned weight, int64_t tileRows,
                                Value firstRow, Value at, Value quad,
                                Value column, const Block &block) {
  Rows xRows;
  for (int64_t row = 0; row < tileRows; ++row)
    xRows.push_back(getXRow(b.add(b.add(firstRow, at), row)));
  Value panel = b.mul(quad, stepsPerBlock * 4 * lanes);
  int64_t steps =
      (block.pieces + (block.tail > 0 ? 1 : 0)) * decoder.stepsPerPiece();
  SmallVector<Value> sums =
      b.loop(b.index(0), b.index(steps), 1, Rows(4 * tileRows, b.zeros(lanes)),
             [&](Value step, ValueRange carried) {
               SmallVector<Value> next(carried), weights;
               Value from = b.add(panel, b.mul(step, 4 * lanes));
               for (int64_t group = 0; group < 4; ++group) {
                 Value w =
                     b.load(memory.panel, b.add(from, group * lanes), lanes);
                 weights.push_back(
                     dotProduct ? b.bitcast(w, 2 * lanes, b.getBF16Type()) : w);
               }
               Value k = b.add(block.begin, b.mul(step, decoder.stepSize()));
               for (int64_t row = 0; row < tileRows; ++row) {
                 Value x = loadX(xRows[row], k);
                 for (int64_t group = 0; group < 4; ++group) {
                   Value &sum = next[4 * row + group];
                   sum = multiplyAdd(weights[group], x, sum);
                 }
               }
               return next;
             });
  for (int64_t row = 0; row < tileRows; ++row) {
    SmallVector<Value> place{b.index(weight), b.add(at, row),
                             b.mul(quad, quadColumns())};
    Value sum = addChains(ArrayRef<Value>(sums).slice(4 * row, 4));
    Value total = b.load(memory.totals, place, lanes);
    total = accumulate(sum, total, weight, xRows[row], column, block.number);
    b.store(total, memory.totals, place);
  }
}
