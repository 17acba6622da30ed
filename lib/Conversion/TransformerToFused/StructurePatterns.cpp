//===- StructurePatterns.cpp - Weights, layers, taps, rows -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace moec;

namespace {

/// A parameter: its slot's pointers as tensors that are only read.
struct LowerWeight : OpConversionPattern<transformer::WeightOp> {
  LowerWeight(const TypeConverter &types, MLIRContext *context,
              const LoweringOptions &options)
      : OpConversionPattern(types, context), options(options) {}

  LogicalResult
  matchAndRewrite(transformer::WeightOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    auto parameter =
        SymbolTable::lookupNearestSymbolFrom<transformer::ParameterOp>(
            op, op.getParameterAttr());
    Value slot = b.index(options.layout->getSlot(op.getParameter()));
    if (Value layer = adaptor.getLayer()) {
      int64_t experts = parameter.getExperts().value_or(1);
      Value number =
          b.create<arith::SubIOp>(layer, b.index(*parameter.getLayerBegin()));
      slot = b.create<arith::AddIOp>(
          slot, b.create<arith::MulIOp>(number, b.index(experts)).getResult());
    }
    if (Value expert = adaptor.getExpert())
      slot = b.create<arith::AddIOp>(slot, expert);

    auto read = [&](ArrayRef<int64_t> shape, Type element,
                    rt::WeightPart part) -> Value {
      Value memory = b.create<rt::WeightOp>(MemRefType::get(shape, element),
                                            b.getStep(), part, slot);
      return b.create<bufferization::ToTensorOp>(
          RankedTensorType::get(shape, element), memory, /*restrict=*/true,
          /*writable=*/false);
    };
    SmallVector<Value> parts;
    if (auto type = dyn_cast<transformer::BlockScaledType>(op.getType())) {
      parts.push_back(
          read(type.getShape(), type.getPayload(), rt::WeightPart::payload));
      parts.push_back(
          read(type.getScaleShape(), type.getScale(), rt::WeightPart::scales));
    } else {
      auto tensor = cast<RankedTensorType>(op.getType());
      parts.push_back(read(tensor.getShape(), tensor.getElementType(),
                           rt::WeightPart::payload));
    }
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }

  LoweringOptions options;
};

/// Rows of `source` by number, converted to the element type of `original`.
fused::GatherRowsOp gather(RowBuilder &b, Value source, Value numbers,
                           Value count, Type original) {
  int64_t width = cast<RankedTensorType>(source.getType()).getDimSize(1);
  Value out = b.empty({OpFoldResult(count), b.getIndexAttr(width)},
                      getElementTypeOrSelf(original));
  return b.create<fused::GatherRowsOp>(TypeRange(out.getType()), source,
                                       numbers, ValueRange{out});
}

struct LowerEmbedding : OpConversionPattern<transformer::EmbeddingOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::EmbeddingOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    rewriter.replaceOp(op, gather(b, adaptor.getTable(), adaptor.getIds(),
                                  b.getExtent(rt::Extent::num_tokens),
                                  op.getType()));
    return success();
  }
};

struct LowerGatherRows : OpConversionPattern<transformer::GatherRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::GatherRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    rewriter.replaceOp(op, gather(b, adaptor.getX(), adaptor.getRows(),
                                  b.getExtent(rt::Extent::num_logits),
                                  op.getType()));
    return success();
  }
};

/// A copy of the value into its place in the tap buffer, 4 bytes per element.
struct LowerTap : OpConversionPattern<transformer::TapOp> {
  LowerTap(const TypeConverter &types, MLIRContext *context,
           const LoweringOptions &options)
      : OpConversionPattern(types, context), options(options) {}

  LogicalResult
  matchAndRewrite(transformer::TapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    TapPlace place = options.layout->getTap(op);
    auto type = cast<RankedTensorType>(adaptor.getX().getType());
    Value tokens = b.getExtent(rt::Extent::num_tokens);
    Value offset = b.index(place.offset);
    if (auto layers = op->getParentOfType<scf::ForOp>(); adaptor.getLayer()) {
      Value number =
          b.create<arith::SubIOp>(adaptor.getLayer(), layers.getLowerBound());
      Value behind = b.create<arith::MulIOp>(number, b.index(place.stride));
      offset = b.create<arith::AddIOp>(offset, behind);
    }
    offset = b.create<arith::MulIOp>(offset, tokens);
    Type element = type.getElementType().isInteger(32) ? type.getElementType()
                                                       : Type(b.getF32Type());
    Value target = b.create<rt::BufferOp>(
        MemRefType::get(type.getShape(), element), b.getStep(),
        rt::Buffer::taps, offset, ValueRange{tokens});
    // A copy between memrefs: materialising the tensor in the tap buffer would
    // let bufferization place it there, and later layers overwrite it.
    Value value = b.create<bufferization::ToBufferOp>(
        MemRefType::get(type.getShape(), type.getElementType()), adaptor.getX(),
        /*read_only=*/true);
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    b.create<linalg::GenericOp>(
        ValueRange{value}, ValueRange{target}, maps, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange values) {
          Value read = values[0];
          if (read.getType() != element)
            read = arith::ExtFOp::create(nested, loc, element, read);
          linalg::YieldOp::create(nested, loc, read);
        });
    rewriter.eraseOp(op);
    return success();
  }

  LoweringOptions options;
};

/// One scf.for over the layers. The cache has no value here: it is memory.
struct LowerLayers : OpConversionPattern<transformer::LayersOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::LayersOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    SmallVector<Value> inits;
    for (ValueRange values : adaptor.getInits())
      llvm::append_range(inits, values);
    auto loop =
        b.create<scf::ForOp>(b.index(op.getLayerBegin()),
                             b.index(op.getLayerEnd()), b.index(1), inits);
    Block *body = &op.getBody().front();
    TypeConverter::SignatureConversion signature(body->getNumArguments());
    if (failed(getTypeConverter()->convertSignatureArgs(
            body->getArgumentTypes(), signature)))
      return rewriter.notifyMatchFailure(op, "carries a type without a form "
                                             "on the linalg level");
    body =
        rewriter.applySignatureConversion(body, signature, getTypeConverter());
    rewriter.eraseBlock(loop.getBody());
    rewriter.inlineRegionBefore(op.getBody(), loop.getRegion(),
                                loop.getRegion().end());
    SmallVector<SmallVector<Value>> results;
    unsigned next = 0;
    for (ValueRange values : adaptor.getInits()) {
      results.emplace_back(loop.getResults().slice(next, values.size()));
      next += values.size();
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// The end of a layer: the new values go into the places of the old ones, so
/// that bufferization needs one buffer for all layers.
struct LowerYield : OpConversionPattern<transformer::YieldOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(transformer::YieldOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    if (!loop)
      return rewriter.notifyMatchFailure(op, "its loop is not lowered yet");
    RowBuilder b(op, rewriter);
    SmallVector<Value> values;
    for (ValueRange operand : adaptor.getOperands())
      llvm::append_range(values, operand);
    for (auto [value, place] : llvm::zip(values, loop.getRegionIterArgs()))
      value = b.create<bufferization::MaterializeInDestinationOp>(value, place)
                  .getResult();
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, values);
    return success();
  }
};

} // namespace

void moec::populateStructurePatterns(RewritePatternSet &patterns,
                                     const TypeConverter &types,
                                     const LoweringOptions &options) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerEmbedding, LowerGatherRows, LowerLayers, LowerYield>(
      types, context);
  patterns.add<LowerTap, LowerWeight>(types, context, options);
}
