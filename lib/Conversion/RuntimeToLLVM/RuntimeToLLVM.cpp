//===- RuntimeToLLVM.cpp - Step arguments to LLVM -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Conversion/Passes.h"
#include "moec/moec_runtime.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace moec {
#define GEN_PASS_DEF_CONVERTRUNTIMETOLLVM
#include "moec/Conversion/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

// The enums of the dialect number the fields of the struct.
static_assert(offsetof(moec_step_args, num_logits) ==
              8 * static_cast<size_t>(rt::Extent::num_logits));
static_assert(offsetof(moec_step_args, cache_pages) ==
              8 * static_cast<size_t>(rt::Extent::cache_pages));
static_assert(offsetof(moec_step_args, token_ids) ==
              8 * static_cast<size_t>(rt::Buffer::token_ids));
static_assert(offsetof(moec_step_args, cache) ==
              8 * static_cast<size_t>(rt::Buffer::cache));
static_assert(offsetof(moec_step_args, taps) ==
              8 * static_cast<size_t>(rt::Buffer::taps));

namespace {

Value getFieldAddress(OpBuilder &b, Location loc, Value step, int64_t offset) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), step,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value loadPointer(OpBuilder &b, Location loc, Value address) {
  return LLVM::LoadOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
}

/// `pointer` moved by `offset` elements of `elementBytes` bytes.
Value advance(OpBuilder &b, Location loc, Value pointer, Value offset,
              int64_t elementBytes) {
  Type i64 = b.getI64Type();
  Value elements = arith::IndexCastOp::create(b, loc, i64, offset);
  Value size =
      arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(elementBytes));
  Value bytes = arith::MulIOp::create(b, loc, elements, size);
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

/// A dense row-major memref around `pointer`.
Value buildMemRef(OpBuilder &b, Location loc, MemRefType type, Value pointer,
                  ValueRange dynamicSizes, const LLVMTypeConverter &types) {
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  SmallVector<Value> sizes, strides(type.getRank());
  for (int64_t extent : type.getShape()) {
    if (!ShapedType::isDynamic(extent)) {
      sizes.push_back(number(extent));
      continue;
    }
    sizes.push_back(arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                               dynamicSizes.front()));
    dynamicSizes = dynamicSizes.drop_front();
  }
  Value stride = number(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    if (dim > 0)
      stride = LLVM::MulOp::create(b, loc, stride, sizes[dim]);
  }
  SmallVector<Value> fields{pointer, pointer, number(0)};
  llvm::append_range(fields, sizes);
  llvm::append_range(fields, strides);
  Value descriptor = MemRefDescriptor::pack(b, loc, types, type, fields);
  return UnrealizedConversionCastOp::create(b, loc, type, descriptor)
      .getResult(0);
}

struct LowerExtent : OpRewritePattern<rt::ExtentOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(rt::ExtentOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value address = getFieldAddress(rewriter, loc, op.getStep(),
                                    8 * static_cast<int64_t>(op.getExtent()));
    Value size =
        LLVM::LoadOp::create(rewriter, loc, rewriter.getI64Type(), address);
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(),
                                                    size);
    return success();
  }
};

struct LowerBuffer : OpRewritePattern<rt::BufferOp> {
  LowerBuffer(MLIRContext *context, const LLVMTypeConverter &types)
      : OpRewritePattern(context), types(types) {}
  LogicalResult matchAndRewrite(rt::BufferOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getMemref().getType());
    Value address = getFieldAddress(rewriter, loc, op.getStep(),
                                    8 * static_cast<int64_t>(op.getBuffer()));
    Value pointer = loadPointer(rewriter, loc, address);
    if (Value offset = op.getOffset())
      pointer = advance(rewriter, loc, pointer, offset,
                        llvm::divideCeil(type.getElementTypeBitWidth(), 8));
    rewriter.replaceOp(
        op, buildMemRef(rewriter, loc, type, pointer, op.getSizes(), types));
    return success();
  }
  const LLVMTypeConverter &types;
};

struct LowerWeight : OpRewritePattern<rt::WeightOp> {
  LowerWeight(MLIRContext *context, const LLVMTypeConverter &types)
      : OpRewritePattern(context), types(types) {}
  LogicalResult matchAndRewrite(rt::WeightOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value address = getFieldAddress(rewriter, loc, op.getStep(),
                                    offsetof(moec_step_args, weights));
    Value table = loadPointer(rewriter, loc, address);
    Value slot =
        advance(rewriter, loc, table, op.getSlot(), 2 * sizeof(const void *));
    if (op.getPart() == rt::WeightPart::scales)
      slot = getFieldAddress(rewriter, loc, slot, sizeof(const void *));
    Value pointer = loadPointer(rewriter, loc, slot);
    rewriter.replaceOp(op,
                       buildMemRef(rewriter, loc,
                                   cast<MemRefType>(op.getMemref().getType()),
                                   pointer, {}, types));
    return success();
  }
  const LLVMTypeConverter &types;
};

struct ConvertRuntimeToLLVM
    : moec::impl::ConvertRuntimeToLLVMBase<ConvertRuntimeToLLVM> {
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerExtent>(&getContext());
    patterns.add<LowerBuffer, LowerWeight>(&getContext(), types);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
