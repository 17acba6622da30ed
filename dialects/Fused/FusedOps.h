//===- FusedOps.h - The fused dialect -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_FUSED_FUSEDOPS_H
#define MOEC_DIALECTS_FUSED_FUSEDOPS_H

#include "dialects/Fused/KernelCost.h"
#include "dialects/Runtime/RuntimeOps.h"
#include "dialects/Transformer/TransformerOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "dialects/Fused/FusedDialect.h.inc"
#include "dialects/Fused/FusedEnums.h.inc"

#include "dialects/Fused/FusedInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Fused/FusedAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Fused/FusedOps.h.inc"

namespace moec::fused {

/// Tokens that an attention kernel works on at a time: a page, or a part of it.
int64_t getTokenBlock(int64_t pageSize);
/// Heads of an attention kernel, padded to whole vectors of every target.
int64_t getPaddedHeads(int64_t heads);

/// Bytes that an attention kernel with such tiles lays its work out in.
struct AttentionScratch {
  int64_t bytesPerRow, bytesFixed;
};
AttentionScratch getAttentionScratch(MlaAttentionOp op,
                                     AttentionTilesAttr tiles);

/// Adds what bufferization needs to know of the dialect's ops.
void registerBufferization(mlir::DialectRegistry &registry);

} // namespace moec::fused

#endif // MOEC_DIALECTS_FUSED_FUSEDOPS_H
