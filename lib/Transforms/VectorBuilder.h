//===- VectorBuilder.h - Short names for vector code -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_TRANSFORMS_VECTORBUILDER_H
#define MOEC_LIB_TRANSFORMS_VECTORBUILDER_H

#include "dialects/Runtime/RuntimeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace moec {

/// Builds index arithmetic, loops and vectors.
class VectorBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  mlir::Value index(int64_t value) {
    return create<mlir::arith::ConstantIndexOp>(value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return createOrFold<mlir::arith::AddIOp>(a, b);
  }
  mlir::Value add(mlir::Value a, int64_t b) {
    return b == 0 ? a : add(a, index(b));
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return createOrFold<mlir::arith::SubIOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return createOrFold<mlir::arith::MulIOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, int64_t b) {
    return b == 1 ? a : mul(a, index(b));
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return createOrFold<mlir::arith::DivUIOp>(a, b);
  }
  mlir::Value div(mlir::Value a, int64_t b) { return div(a, index(b)); }
  mlir::Value rem(mlir::Value a, mlir::Value b) {
    return createOrFold<mlir::arith::RemUIOp>(a, b);
  }
  mlir::Value rem(mlir::Value a, int64_t b) { return rem(a, index(b)); }
  mlir::Value ceilDiv(mlir::Value a, int64_t b) {
    return div(add(a, b - 1), b);
  }
  mlir::Value min(mlir::Value a, mlir::Value b) {
    return createOrFold<mlir::arith::MinUIOp>(a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return create<mlir::arith::CmpIOp>(predicate, a, b);
  }
  mlir::Value toIndex(mlir::Value integer) {
    return create<mlir::arith::IndexCastOp>(getIndexType(), integer);
  }

  mlir::VectorType vectorOf(int64_t lanes, mlir::Type element) {
    return mlir::VectorType::get({lanes}, element);
  }
  mlir::Value zeros(int64_t lanes) {
    return create<mlir::arith::ConstantOp>(
        getZeroAttr(vectorOf(lanes, getF32Type())));
  }
  /// A vector of equal integers.
  mlir::Value splat(int64_t lanes, mlir::Type integer, int64_t value) {
    auto type = vectorOf(lanes, integer);
    return create<mlir::arith::ConstantOp>(mlir::DenseElementsAttr::get(
        type, getIntegerAttr(integer, value).getValue()));
  }
  mlir::Value broadcast(mlir::Value scalar, int64_t lanes) {
    return create<mlir::vector::BroadcastOp>(vectorOf(lanes, scalar.getType()),
                                             scalar);
  }
  mlir::Value shuffle(mlir::Value a, mlir::Value b,
                      llvm::ArrayRef<int64_t> mask) {
    return create<mlir::vector::ShuffleOp>(a, b, mask);
  }
  mlir::Value bitcast(mlir::Value vector, int64_t lanes, mlir::Type element) {
    return create<mlir::vector::BitCastOp>(vectorOf(lanes, element), vector);
  }
  /// `count` lanes from `begin` on.
  mlir::Value part(mlir::Value vector, int64_t begin, int64_t count) {
    llvm::SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < count; ++lane)
      mask.push_back(begin + lane);
    return shuffle(vector, vector, mask);
  }
  /// Two vectors, one behind the other.
  mlir::Value concat(mlir::Value a, mlir::Value b) {
    int64_t lanes = mlir::cast<mlir::VectorType>(a.getType()).getDimSize(0);
    llvm::SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < 2 * lanes; ++lane)
      mask.push_back(lane);
    return shuffle(a, b, mask);
  }
  mlir::Value load(mlir::Value memory, mlir::ValueRange at, int64_t lanes) {
    auto type = mlir::cast<mlir::MemRefType>(memory.getType());
    return create<mlir::vector::LoadOp>(vectorOf(lanes, type.getElementType()),
                                        memory, at);
  }
  void store(mlir::Value vector, mlir::Value memory, mlir::ValueRange at) {
    create<mlir::vector::StoreOp>(vector, memory, at);
  }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value sum) {
    return create<mlir::math::FmaOp>(a, b, sum);
  }

  /// for (i = begin; i < end; i += step), carrying values.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value number, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> loop(mlir::Value begin, mlir::Value end,
                                      int64_t step, mlir::ValueRange inits,
                                      LoopBody body) {
    auto op = create<mlir::scf::ForOp>(begin, end, index(step), inits);
    InsertionGuard guard(*this);
    setInsertionPointToStart(op.getBody());
    llvm::SmallVector<mlir::Value> results =
        body(op.getInductionVar(), op.getRegionIterArgs());
    if (!inits.empty())
      create<mlir::scf::YieldOp>(results);
    return llvm::SmallVector<mlir::Value>(op.getResults());
  }
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr) {
    auto op = create<mlir::scf::IfOp>(condition, static_cast<bool>(otherwise));
    InsertionGuard guard(*this);
    setInsertionPointToStart(op.thenBlock());
    then();
    if (!otherwise)
      return;
    setInsertionPointToStart(op.elseBlock());
    otherwise();
  }

  /// A parallel region; `body` is given a range of the tasks [0, count).
  void
  parallel(mlir::Value step, mlir::Value count,
           llvm::function_ref<void(mlir::Value begin, mlir::Value end)> body) {
    mlir::Type i64 = getI64Type();
    mlir::Value count64 = create<mlir::arith::IndexCastOp>(i64, count);
    auto op = create<rt::ParallelOp>(step, count64);
    InsertionGuard guard(*this);
    mlir::Location loc = getLoc();
    mlir::Block *block = createBlock(&op.getBody(), {}, {i64, i64}, {loc, loc});
    body(toIndex(block->getArgument(0)), toIndex(block->getArgument(1)));
    create<rt::YieldOp>();
  }
  /// The same, task by task.
  void parallelFor(mlir::Value step, mlir::Value count,
                   llvm::function_ref<void(mlir::Value task)> body) {
    parallel(step, count, [&](mlir::Value begin, mlir::Value end) {
      loop(begin, end, 1, {}, [&](mlir::Value task, mlir::ValueRange) {
        body(task);
        return llvm::SmallVector<mlir::Value>();
      });
    });
  }
  /// for (i = begin; i < end; i += step), carrying nothing.
  void forEach(mlir::Value begin, mlir::Value end, int64_t step,
               llvm::function_ref<void(mlir::Value number)> body) {
    loop(begin, end, step, {}, [&](mlir::Value number, mlir::ValueRange) {
      body(number);
      return llvm::SmallVector<mlir::Value>();
    });
  }
  void forEach(int64_t begin, int64_t end, int64_t step,
               llvm::function_ref<void(mlir::Value number)> body) {
    forEach(index(begin), index(end), step, body);
  }
};

} // namespace moec

#endif // MOEC_LIB_TRANSFORMS_VECTORBUILDER_H
