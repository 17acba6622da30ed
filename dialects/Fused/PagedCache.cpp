//===- PagedCache.cpp - The paged latent cache as memory -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/PagedCache.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace moec;

PagedCache PagedCache::get(RowBuilder &b, transformer::LatentCacheType type,
                           int64_t pageSize) {
  int64_t width = type.getKvLoraRank() + type.getQkRopeHeadDim();
  auto memrefType =
      MemRefType::get({type.getLayers(), ShapedType::kDynamic, pageSize, width},
                      type.getElementType());
  Value pages = b.getExtent(rt::Extent::cache_pages);
  Value memory = b.create<rt::BufferOp>(
      memrefType, b.getStep(), rt::Buffer::cache, Value(), ValueRange{pages});
  Value sequences = b.getExtent(rt::Extent::num_sequences);
  Value stride = b.getExtent(rt::Extent::page_table_stride);
  Value pageTable = b.create<rt::BufferOp>(
      MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                      b.getI32Type()),
      b.getStep(), rt::Buffer::page_table, Value(),
      ValueRange{sequences, stride});
  Value tokens = b.getExtent(rt::Extent::num_tokens);
  Value sequenceOfRow = b.create<rt::BufferOp>(
      MemRefType::get({ShapedType::kDynamic}, b.getI32Type()), b.getStep(),
      rt::Buffer::sequences, Value(), ValueRange{tokens});
  return PagedCache(memory, pageTable, sequenceOfRow);
}

PagedCache::PagedCache(Value memory, Value pageTable, Value sequenceOfRow)
    : memory(memory), pageTable(pageTable), sequenceOfRow(sequenceOfRow) {
  auto type = cast<MemRefType>(memory.getType());
  pageSize = type.getDimSize(2);
  width = type.getDimSize(3);
  element = type.getElementType();
}

Value PagedCache::getPage(RowBuilder &b, Value row, Value number) const {
  Value sequence = b.toIndex(
      b.create<memref::LoadOp>(sequenceOfRow, ValueRange{row}).getResult());
  Value page =
      b.create<memref::LoadOp>(pageTable, ValueRange{sequence, number});
  return b.toIndex(page);
}

Value PagedCache::view(RowBuilder &b, Value layer, Value page,
                       OpFoldResult slot, int64_t count, int64_t begin,
                       int64_t size) const {
  auto one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{layer, page, slot, b.getIndexAttr(begin)};
  SmallVector<OpFoldResult> sizes{one, one, b.getIndexAttr(count),
                                  b.getIndexAttr(size)};
  SmallVector<OpFoldResult> strides(4, one);
  SmallVector<int64_t> shape{count, size};
  if (count == 1)
    shape = {size};
  auto type = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, cast<MemRefType>(memory.getType()), offsets, sizes, strides));
  return b.create<memref::SubViewOp>(type, memory, offsets, sizes, strides);
}

Value PagedCache::read(RowBuilder &b, Value layer, Value page, int64_t begin,
                       int64_t size) const {
  Value slots = view(b, layer, page, b.getIndexAttr(0), pageSize, begin, size);
  auto type = RankedTensorType::get({pageSize, size}, element);
  return b.create<bufferization::ToTensorOp>(type, slots, /*restrict=*/true,
                                             /*writable=*/false);
}

Value moec::getPosition(RowBuilder &b, Value positions, Value row) {
  return b.toIndex(
      b.create<tensor::ExtractOp>(positions, ValueRange{row}).getResult());
}
