//===- LowerFusedToVector.cpp - Linear kernels for the CPU -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "LinearKernel.h"
#include "moec/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace moec {
#define GEN_PASS_DEF_LOWERFUSEDTOVECTOR
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

/// Brings x into the form that a kernel reads: widened, padded with zeros to
/// whole pieces, evens before odds where the decoder wants it.
class Staging {
public:
  Staging(const WeightDecoder &decoder, bool dotProduct, int64_t in)
      : decoder(decoder), dotProduct(dotProduct), in(in),
        padded(llvm::alignTo(in, std::max<int64_t>(8, decoder.pieceSize()))) {}

  /// Can the kernel read x as it is?
  bool isNeeded(Value x) const {
    bool isBF16 = getElementTypeOrSelf(x.getType()).isBF16();
    return !(dotProduct && isBF16 && in % decoder.pieceSize() == 0);
  }

  /// The staged rows, in `scratch` ([N, bytes] i8).
  Value stage(VectorBuilder &b, Value step, Value x, Value scratch) const {
    Type element = dotProduct ? Type(b.getBF16Type()) : Type(b.getF32Type());
    Value rows = b.createOrFold<memref::DimOp>(x, 0);
    Value flat = b.create<memref::CollapseShapeOp>(
        scratch, ArrayRef<ReassociationIndices>{{0, 1}});
    auto type = MemRefType::get({ShapedType::kDynamic, padded}, element);
    Value staged =
        b.create<memref::ViewOp>(type, flat, b.index(0), ValueRange{rows});
    b.parallelFor(step, rows, [&](Value row) { stageRow(b, x, staged, row); });
    return staged;
  }

private:
  void stageRow(VectorBuilder &b, Value x, Value staged, Value row) const {
    int64_t whole = in / 8 * 8;
    b.loop(b.index(0), b.index(whole), 8, {}, [&](Value k, ValueRange) {
      Value eight = convert(b, b.load(x, {row, k}, 8), 8);
      if (decoder.splitsEvenOdd())
        eight = b.shuffle(eight, eight, {0, 2, 4, 6, 1, 3, 5, 7});
      b.store(eight, staged, {row, k});
      return SmallVector<Value>();
    });
    for (int64_t begin = whole; begin < padded; begin += 8)
      stageRest(b, x, staged, row, begin);
  }

  /// Eight values of which some may be behind the end of x.
  void stageRest(VectorBuilder &b, Value x, Value staged, Value row,
                 int64_t begin) const {
    Type element = getElementTypeOrSelf(staged.getType());
    Value none = b.create<arith::ConstantOp>(b.getZeroAttr(element));
    for (int64_t k = begin; k < begin + 8; ++k) {
      Value value = none;
      if (k < in)
        value = convert(
            b, b.create<memref::LoadOp>(x, ValueRange{row, b.index(k)}), 1);
      int64_t place = k - begin;
      if (decoder.splitsEvenOdd())
        place = place % 2 * 4 + place / 2;
      b.create<memref::StoreOp>(value, staged,
                                ValueRange{row, b.index(begin + place)});
    }
  }

  /// To the staged element type; codes and bf16 are exact in it.
  Value convert(VectorBuilder &b, Value value, int64_t lanes) const {
    auto shaped = [&](Type element) -> Type {
      return isa<VectorType>(value.getType()) ? Type(b.vectorOf(lanes, element))
                                              : element;
    };
    if (!getElementTypeOrSelf(value.getType()).isF32())
      value = b.create<arith::ExtFOp>(shaped(b.getF32Type()), value);
    if (dotProduct)
      value = b.create<arith::TruncFOp>(shaped(b.getBF16Type()), value);
    return value;
  }

  const WeightDecoder &decoder;
  bool dotProduct;
  int64_t in, padded;
};

struct LowerFusedToVector
    : moec::impl::LowerFusedToVectorBase<LowerFusedToVector> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if ((lanes != 8 && lanes != 16) || (dotProduct && lanes != 16)) {
      function.emitError("lower-fused-to-vector expects 8 or 16 lanes, and 16 "
                         "with dot-product, found ")
          << lanes.getValue();
      return signalPassFailure();
    }
    SmallVector<Operation *> kernels;
    function.walk([&](Operation *op) {
      if (isa<fused::LinearOp, fused::GroupedLinearOp, fused::MlaAttentionOp>(
              op))
        kernels.push_back(op);
    });
    for (Operation *op : kernels)
      if (failed(lower(op)))
        return signalPassFailure();
  }

private:
  LogicalResult lower(Operation *op) {
    if (op->getNumResults() > 0)
      return op->emitOpError("expects memrefs: run bufferization first");
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    VectorBuilder b(op->getLoc(), builder);
    LogicalResult lowered =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case(
                [&](fused::LinearOp linear) { return lowerLinear(linear, b); })
            .Case([&](fused::GroupedLinearOp grouped) {
              return lowerGrouped(grouped, b);
            })
            .Default([&](Operation *attention) {
              return lowerAttention(cast<fused::MlaAttentionOp>(attention), b,
                                    getStep(op), lanes, dotProduct);
            });
    if (failed(lowered))
      return failure();
    op->erase();
    ++numLowered;
    return success();
  }

  template <typename Op>
  FailureOr<LinearShape> getShape(Op op, ShapedType weight) {
    fused::TilesAttr tiles = op.getTilesAttr();
    if (!tiles)
      return op.emitOpError("expects tiles: run choose-fp8-tiles, or "
                            "decompose-fused where there is no kernel");
    LinearShape shape;
    shape.out = weight.getDimSize(0);
    shape.in = weight.getDimSize(1);
    if (auto block = op.getBlock()) {
      shape.rowBlock = (*block)[0];
      shape.block = (*block)[1];
    }
    shape.epilogue = op.getEpilogue();
    shape.columns = tiles.getColumns();
    shape.rows = tiles.getRows();
    // AVX2 has half the registers.
    shape.registerRows = lanes == 16
                             ? tiles.getRegisterRows()
                             : std::min<int64_t>(tiles.getRegisterRows(), 2);
    shape.streamRows = tiles.getStreamRows();
    if (shape.out < shape.columns)
      return op.emitOpError("expects tiles of at most ")
             << shape.out << " columns, found " << shape.columns;
    return shape;
  }

  /// Exact only where x fits bf16.
  bool usesDotProduct(Value x, ShapedType weight) const {
    return dotProduct && !getElementTypeOrSelf(x.getType()).isF32() &&
           !weight.getElementType().isF32();
  }

  Value getStep(Operation *op) {
    return op->getParentOfType<func::FuncOp>().getArgument(0);
  }

  template <typename Op>
  FailureOr<Value> stageInput(Op op, ShapedType weight, VectorBuilder &b) {
    bool dot = usesDotProduct(op.getX(), weight);
    WeightDecoder decoder(lanes, dot, weight.getElementType());
    Staging staging(decoder, dot, weight.getDimSize(1));
    if (!staging.isNeeded(op.getX()))
      return Value(op.getX());
    if (op.getOuts().size() < 2)
      return op.emitOpError("expects a second destination as scratch");
    return staging.stage(b, getStep(op), op.getX(), op.getOuts()[1]);
  }

  LogicalResult lowerLinear(fused::LinearOp op, VectorBuilder &b) {
    auto weight = cast<ShapedType>(op.getWeights()[0].getType());
    FailureOr<LinearShape> shape = getShape(op, weight);
    FailureOr<Value> x =
        failed(shape) ? FailureOr<Value>(failure()) : stageInput(op, weight, b);
    if (failed(x))
      return failure();
    LinearBuffers buffers;
    buffers.x = *x;
    buffers.xScales = op.getXScales();
    buffers.weights = op.getWeights();
    buffers.scales = op.getWeightScales();
    buffers.residual = op.getResidual();
    buffers.out = op.getOuts()[0];

    Value rows = b.createOrFold<memref::DimOp>(buffers.out, 0);
    Value chunks = b.ceilDiv(rows, shape->rows);
    int64_t tiles = llvm::divideCeil(shape->out, shape->columns);
    b.parallel(getStep(op), b.mul(chunks, tiles), [&](Value begin, Value end) {
      bool dot = usesDotProduct(op.getX(), weight);
      LinearMemory memory =
          allocateLinear(b, lanes, dot, *shape, weight, op.getWeights().size());
      LinearKernel kernel(b, lanes, dot, *shape, buffers, memory);
      b.loop(begin, end, 1, {}, [&](Value task, ValueRange) {
        Value first = b.mul(b.rem(task, chunks), shape->rows);
        Value count = b.min(b.sub(rows, first), b.index(shape->rows));
        kernel.build(first, count, b.mul(b.div(task, chunks), shape->columns));
        return SmallVector<Value>();
      });
    });
    return success();
  }

  LogicalResult lowerGrouped(fused::GroupedLinearOp op, VectorBuilder &b) {
    auto weight = cast<MemRefType>(op.getWeightType());
    FailureOr<LinearShape> shape = getShape(op, weight);
    FailureOr<Value> x =
        failed(shape) ? FailureOr<Value>(failure()) : stageInput(op, weight, b);
    if (failed(x))
      return failure();
    Value pieces = b.toIndex(
        b.create<memref::LoadOp>(op.getPieces(), ValueRange{b.index(0)})
            .getResult());
    int64_t tiles = llvm::divideCeil(shape->out, shape->columns);
    b.parallel(getStep(op), b.mul(pieces, tiles), [&](Value begin, Value end) {
      LinearMemory memory =
          allocateLinear(b, lanes, usesDotProduct(op.getX(), weight), *shape,
                         weight, op.getSlots().size());
      b.loop(begin, end, 1, {}, [&](Value task, ValueRange) {
        // Neighbouring tiles of one expert follow each other in memory.
        Value piece = b.div(task, tiles);
        auto column = [&](int64_t number) {
          return b.toIndex(
              b.create<memref::LoadOp>(op.getWork(),
                                       ValueRange{piece, b.index(number)})
                  .getResult());
        };
        LinearBuffers buffers = getExpert(op, *x, column(0), b);
        LinearKernel kernel(b, lanes, usesDotProduct(op.getX(), weight), *shape,
                            buffers, memory);
        kernel.build(column(1), column(2),
                     b.mul(b.rem(task, tiles), shape->columns));
        return SmallVector<Value>();
      });
    });
    return success();
  }

  LinearBuffers getExpert(fused::GroupedLinearOp op, Value x, Value expert,
                          VectorBuilder &b) {
    LinearBuffers buffers;
    buffers.x = x;
    buffers.xScales = op.getXScales();
    buffers.gather = op.getTokens();
    buffers.out = op.getOuts()[0];
    for (Value slot : op.getSlots()) {
      Value at = b.add(slot, expert);
      buffers.weights.push_back(b.create<rt::WeightOp>(
          op.getWeightType(), op.getStep(), rt::WeightPart::payload, at));
      if (op.getScaleType())
        buffers.scales.push_back(b.create<rt::WeightOp>(
            *op.getScaleType(), op.getStep(), rt::WeightPart::scales, at));
    }
    return buffers;
  }
};

} // namespace
