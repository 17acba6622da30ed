//===- AttentionPatterns.cpp - The latent cache and attention -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "dialects/Fused/PagedCache.h"

using namespace mlir;
using namespace moec;

namespace {

/// Writes latent and rope key of each row into its slot of the cache.
struct LowerCacheUpdate : OpConversionPattern<transformer::CacheUpdateOp> {
  LowerCacheUpdate(const TypeConverter &types, MLIRContext *context,
                   const LoweringOptions &options)
      : OpConversionPattern(types, context), options(options) {}

  LogicalResult
  matchAndRewrite(transformer::CacheUpdateOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    auto type = cast<transformer::LatentCacheType>(op.getCache().getType());
    PagedCache cache = PagedCache::get(b, type, options.pageSize);
    b.create<fused::CacheWriteOp>(
        TypeRange(), adaptor.getLatent()[0], adaptor.getKRope()[0],
        cache.memory, cache.pageTable, cache.sequenceOfRow,
        adaptor.getPositions()[0], adaptor.getLayer()[0], ValueRange());
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }

  LoweringOptions options;
};

struct LowerAttention : OpConversionPattern<transformer::AttentionOp> {
  LowerAttention(const TypeConverter &types, MLIRContext *context,
                 const LoweringOptions &options)
      : OpConversionPattern(types, context), options(options) {}

  LogicalResult
  matchAndRewrite(transformer::AttentionOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowBuilder b(op, rewriter);
    PagedCache cache = PagedCache::get(
        b, cast<transformer::LatentCacheType>(op.getCache().getType()),
        options.pageSize);
    auto type = collapseRows(cast<RankedTensorType>(op.getType()));
    Value out = b.empty(b.sizesOf(type, b.getExtent(rt::Extent::num_tokens)),
                        type.getElementType());
    ValueRange kvB = adaptor.getKvB();
    auto form = options.expandedAttention ? fused::AttentionForm::expanded
                                          : fused::AttentionForm::absorbed;
    rewriter.replaceOpWithNewOp<fused::MlaAttentionOp>(
        op, type, adaptor.getQNope()[0], adaptor.getQRope()[0], cache.memory,
        cache.pageTable, cache.sequenceOfRow, adaptor.getPositions()[0],
        adaptor.getLayer()[0], kvB[0], kvB.size() > 1 ? kvB[1] : Value(),
        ValueRange{out}, op.getScale(), getBlock(b, op.getKvB().getType()),
        form, op.getQuantizeLatent(), fused::AttentionTilesAttr());
    return success();
  }

  LoweringOptions options;
};

} // namespace

void moec::populateAttentionPatterns(RewritePatternSet &patterns,
                                     const TypeConverter &types,
                                     const LoweringOptions &options) {
  patterns.add<LowerAttention, LowerCacheUpdate>(types, patterns.getContext(),
                                                 options);
}
