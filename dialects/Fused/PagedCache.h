//===- PagedCache.h - The paged latent cache as memory -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_FUSED_PAGEDCACHE_H
#define MOEC_DIALECTS_FUSED_PAGEDCACHE_H

#include "dialects/Fused/RowBuilder.h"
#include "dialects/Transformer/TransformerOps.h"

namespace moec {

/// The cache as memory: [layers, pages, page_size, kv_lora_rank + rope].
struct PagedCache {
  /// From the step: the cache and where the rows' sequences have their pages.
  static PagedCache get(RowBuilder &b, transformer::LatentCacheType type,
                        int64_t pageSize);
  PagedCache(mlir::Value memory, mlir::Value pageTable,
             mlir::Value sequenceOfRow);

  /// The page that holds the positions [number * page_size, ...) of the
  /// sequence of a row.
  mlir::Value getPage(RowBuilder &b, mlir::Value row, mlir::Value number) const;
  /// Elements [begin, begin + size) of `count` slots of a page, as a memref
  /// [count, size], or [size] for a single slot (`slot` given).
  mlir::Value view(RowBuilder &b, mlir::Value layer, mlir::Value page,
                   mlir::OpFoldResult slot, int64_t count, int64_t begin,
                   int64_t size) const;
  /// The same as a tensor, to be read.
  mlir::Value read(RowBuilder &b, mlir::Value layer, mlir::Value page,
                   int64_t begin, int64_t size) const;

  mlir::Value memory, pageTable, sequenceOfRow;
  int64_t pageSize, width;
  mlir::Type element;
};

/// The position of a row in its sequence.
mlir::Value getPosition(RowBuilder &b, mlir::Value positions, mlir::Value row);

} // namespace moec

#endif // MOEC_DIALECTS_FUSED_PAGEDCACHE_H
