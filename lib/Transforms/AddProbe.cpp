//===- AddProbe.cpp - A function that measures arithmetic -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorBuilder.h"
#include "moec/Target/CPU.h"
#include "moec/Transforms/Passes.h"

namespace moec {
#define GEN_PASS_DEF_ADDPROBE
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

struct AddProbe : moec::impl::AddProbeBase<AddProbe> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    VectorBuilder b(module.getLoc(), atEnd);
    Type i64 = b.getI64Type();
    auto function = func::FuncOp::create(atEnd, module.getLoc(), "moec_probe",
                                         b.getFunctionType({i64}, {i64}));
    Block *entry = function.addEntryBlock();
    b.setInsertionPointToStart(entry);
    Value iterations = entry->getArgument(0);
    auto [x, y] =
        dotProduct ? getPairs(b, iterations) : getFloats(b, iterations);
    SmallVector<Value> sums(probeChains, b.zeros(lanes));
    sums = b.loop(b.index(0), b.toIndex(iterations), 1, sums,
                  [&](Value, ValueRange carried) {
                    SmallVector<Value> next;
                    for (Value sum : carried)
                      next.push_back(dotProduct
                                         ? Value(b.create<x86vector::DotBF16Op>(
                                               sum.getType(), sum, x, y))
                                         : b.fma(x, y, sum));
                    return next;
                  });
    // The result depends on every sum, so that none is left out.
    Value all = sums[0];
    for (Value sum : ArrayRef<Value>(sums).drop_front())
      all = b.create<arith::AddFOp>(all, sum);
    Value first = b.create<vector::ExtractOp>(all, ArrayRef<int64_t>{0});
    Value bits = b.create<arith::BitcastOp>(b.getI32Type(), first);
    b.create<func::ReturnOp>(b.create<arith::ExtSIOp>(i64, bits).getResult());
  }

private:
  /// Factors that the compiler cannot know and whose sums stay normal numbers.
  std::pair<Value, Value> getFloats(VectorBuilder &b, Value iterations) {
    Value number = b.create<arith::SIToFPOp>(b.getF32Type(), iterations);
    Value small = b.create<arith::ConstantOp>(b.getF32FloatAttr(1e-20f));
    return {b.broadcast(number, lanes), b.broadcast(small, lanes)};
  }

  /// The same as pairs of bf16 in [1, 2).
  std::pair<Value, Value> getPairs(VectorBuilder &b, Value iterations) {
    Type i32 = b.getI32Type();
    Value bits = b.create<arith::TruncIOp>(i32, iterations);
    auto constant = [&](int32_t value) -> Value {
      return b.create<arith::ConstantOp>(b.getI32IntegerAttr(value));
    };
    bits = b.create<arith::AndIOp>(bits, constant(0x007f007f));
    bits = b.create<arith::OrIOp>(bits, constant(0x3f803f80));
    Value pairs =
        b.bitcast(b.broadcast(bits, lanes), 2 * lanes, b.getBF16Type());
    return {pairs, pairs};
  }
};

} // namespace
