//===- FuseMoEDispatch.cpp - Experts to grouped kernels -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace moec {
#define GEN_PASS_DEF_FUSEMOEDISPATCH
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

/// A weight that is read by the expert's number: its slot is `first + expert`.
struct ExpertWeight {
  Value first;
  MemRefType payload, scales; ///< scales null for plain weights
};

/// The family's expert: down(swiglu(gate(x), up(x))), gate and up fused or not,
/// with the quantisation of its inputs where activations are FP8.
struct ExpertBody {
  ExpertWeight gate, up, down;
  DenseI64ArrayAttr block;
  Type inner; ///< element type of swiglu's result
  Location gateLoc, downLoc;
  std::optional<int64_t> quantizeX, quantizeInner; ///< groups
};

/// What `tensor` reads by `expert`; no value if it is something else.
std::optional<std::pair<Value, MemRefType>>
matchWeight(Value tensor, Value expert, rt::WeightPart part) {
  auto read = tensor.getDefiningOp<bufferization::ToTensorOp>();
  auto weight =
      read ? read.getBuffer().getDefiningOp<rt::WeightOp>() : rt::WeightOp();
  if (!weight || weight.getPart() != part)
    return std::nullopt;
  auto slot = weight.getSlot().getDefiningOp<arith::AddIOp>();
  // Constants move to the right, so the expert stands on either side.
  if (!slot || (slot.getLhs() != expert && slot.getRhs() != expert))
    return std::nullopt;
  Value first = slot.getLhs() == expert ? slot.getRhs() : slot.getLhs();
  return std::pair(first, cast<MemRefType>(weight.getMemref().getType()));
}

std::optional<ExpertWeight> matchWeight(fused::LinearOp linear, unsigned number,
                                        Value expert) {
  auto payload =
      matchWeight(linear.getWeights()[number], expert, rt::WeightPart::payload);
  if (!payload)
    return std::nullopt;
  ExpertWeight weight{payload->first, payload->second, MemRefType()};
  if (linear.getBlock()) {
    auto scales = matchWeight(linear.getWeightScales()[number], expert,
                              rt::WeightPart::scales);
    if (!scales)
      return std::nullopt;
    weight.scales = scales->second;
  }
  return weight;
}

/// The tensor that `linear` reads, looking through a quantisation.
Value getInput(fused::LinearOp linear, std::optional<int64_t> &group) {
  if (!linear.getXScales())
    return linear.getX();
  auto quantize = linear.getX().getDefiningOp<fused::QuantizeOp>();
  if (!quantize)
    return Value();
  group = quantize.getGroup();
  return quantize.getX();
}

std::optional<ExpertBody> matchBody(fused::ExpertsOp op) {
  Block &block = op.getBody().front();
  Value rows = block.getArgument(0), expert = block.getArgument(1);
  auto down =
      block.getTerminator()->getOperand(0).getDefiningOp<fused::LinearOp>();
  if (!down || down.getEpilogue() != fused::Epilogue::none ||
      down.getResidual())
    return std::nullopt;
  ExpertBody body{{}, {}, {}, {}, {}, op.getLoc(), down.getLoc(), {}, {}};
  Value inner = getInput(down, body.quantizeInner);
  if (!inner)
    return std::nullopt;
  fused::LinearOp gate, up;
  unsigned upNumber = 0;
  if (auto swiglu = inner.getDefiningOp<fused::SwigluOp>()) {
    gate = swiglu.getGate().getDefiningOp<fused::LinearOp>();
    up = swiglu.getUp().getDefiningOp<fused::LinearOp>();
  } else if (auto both = inner.getDefiningOp<fused::LinearOp>();
             both && both.getEpilogue() == fused::Epilogue::swiglu) {
    gate = up = both;
    upNumber = 1;
  }
  if (!gate || !up || gate.getX() != up.getX() || gate.getResidual() ||
      up.getResidual() || getInput(gate, body.quantizeX) != rows ||
      gate.getBlockAttr() != down.getBlockAttr() ||
      up.getBlockAttr() != down.getBlockAttr())
    return std::nullopt;
  auto gateWeight = matchWeight(gate, 0, expert);
  auto upWeight = matchWeight(up, upNumber, expert);
  auto downWeight = matchWeight(down, 0, expert);
  if (!gateWeight || !upWeight || !downWeight)
    return std::nullopt;
  body.gate = *gateWeight;
  body.up = *upWeight;
  body.down = *downWeight;
  body.block = down.getBlockAttr();
  body.gateLoc = gate.getLoc();
  body.inner = getElementTypeOrSelf(inner.getType());
  return body;
}

struct FuseMoEDispatch : moec::impl::FuseMoEDispatchBase<FuseMoEDispatch> {
  void runOnOperation() override {
    SmallVector<fused::ExpertsOp> ops;
    getOperation().walk([&](fused::ExpertsOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (fused::ExpertsOp op : ops) {
      // The slots of expert 0 are computed outside of the body.
      moveLoopInvariants(op);
      auto dispatch = op.getOffsets().getDefiningOp<fused::DispatchOp>();
      std::optional<ExpertBody> body = matchBody(op);
      if (!dispatch || !body || !areOutside(op, *body))
        continue;
      rewriter.setInsertionPoint(op);
      fuse(op, dispatch, *body, rewriter);
      ++numFused;
    }
  }

private:
  static void moveLoopInvariants(fused::ExpertsOp op) {
    for (Operation &inner :
         llvm::make_early_inc_range(op.getBody().front().without_terminator()))
      if (isPure(&inner) && inner.getNumRegions() == 0 &&
          !isa<tensor::EmptyOp>(inner) &&
          llvm::all_of(inner.getOperands(), [&](Value operand) {
            return operand.getParentRegion()->isProperAncestor(&op.getBody());
          }))
        inner.moveBefore(op);
  }

  static bool areOutside(fused::ExpertsOp op, const ExpertBody &body) {
    return llvm::all_of(
        ArrayRef<Value>{body.gate.first, body.up.first, body.down.first},
        [&](Value slot) {
          return slot.getParentRegion()->isProperAncestor(&op.getBody());
        });
  }

  /// codes and scales of x, or x alone.
  static std::pair<Value, Value> quantize(RewriterBase &rewriter, Location loc,
                                          Value x,
                                          std::optional<int64_t> group) {
    if (!group)
      return {x, Value()};
    auto type = cast<RankedTensorType>(x.getType());
    Value rows = rewriter.createOrFold<tensor::DimOp>(loc, x, 0);
    int64_t features = type.getDimSize(1);
    auto empty = [&](int64_t width, Type element) -> Value {
      return tensor::EmptyOp::create(
          rewriter, loc,
          SmallVector<OpFoldResult>{rows, rewriter.getIndexAttr(width)},
          element);
    };
    Value codes = empty(features, Float8E4M3FNType::get(rewriter.getContext()));
    Value scales =
        empty(llvm::divideCeil(features, *group), rewriter.getF32Type());
    auto op = fused::QuantizeOp::create(
        rewriter, loc, TypeRange{codes.getType(), scales.getType()}, x,
        ValueRange{codes, scales}, rewriter.getI64IntegerAttr(*group));
    return {op.getResult(0), op.getResult(1)};
  }

  static void fuse(fused::ExpertsOp op, fused::DispatchOp dispatch,
                   const ExpertBody &body, RewriterBase &rewriter) {
    Location loc = op.getLoc();
    Value step = op->getParentOfType<func::FuncOp>().getArgument(0);
    Value offsets = dispatch.getResult(0), tokens = dispatch.getResult(1);
    Value work = dispatch.getResult(3), pieces = dispatch.getResult(4);
    auto typeAttr = [](Type type) {
      return type ? TypeAttr::get(type) : TypeAttr();
    };
    auto create = [&](std::pair<Value, Value> x, Value gather, ValueRange slots,
                      const ExpertWeight &weight, Value out,
                      fused::Epilogue epilogue, Location kernelLoc) -> Value {
      return fused::GroupedLinearOp::create(
                 rewriter, kernelLoc, TypeRange(out.getType()), x.first,
                 x.second, gather, offsets, work, pieces, step, slots,
                 ValueRange{out}, op.getExpertsAttr(), typeAttr(weight.payload),
                 typeAttr(weight.scales), body.block,
                 fused::EpilogueAttr::get(rewriter.getContext(), epilogue),
                 fused::TilesAttr())
          .getResult(0);
    };
    Value pairs = rewriter.createOrFold<tensor::DimOp>(loc, op.getOuts()[0], 0);
    int64_t features = body.gate.payload.getDimSize(0);
    Value innerOut = tensor::EmptyOp::create(
        rewriter, loc,
        SmallVector<OpFoldResult>{pairs, rewriter.getIndexAttr(features)},
        body.inner);
    Value inner = create(quantize(rewriter, loc, op.getX(), body.quantizeX),
                         tokens, {body.gate.first, body.up.first}, body.gate,
                         innerOut, fused::Epilogue::swiglu, body.gateLoc);
    Value down = create(quantize(rewriter, loc, inner, body.quantizeInner),
                        Value(), {body.down.first}, body.down, op.getOuts()[0],
                        fused::Epilogue::none, body.downLoc);
    rewriter.replaceOp(op, down);
  }
};

} // namespace
