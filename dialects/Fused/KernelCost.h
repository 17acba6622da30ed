//===- KernelCost.h - FLOPs and bytes of a kernel -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_FUSED_KERNELCOST_H
#define MOEC_DIALECTS_FUSED_KERNELCOST_H

#include <cstdint>

namespace moec::fused {

/// What a kernel's rows are. A pair is a token with one of its experts: there
/// are K = num_experts_per_tok times as many as tokens.
enum class RowKind { tokens, logits, pairs };

/// The cost of one run of a kernel: each field is a coefficient, so that the
/// cost for any batch and context is a sum of products. A multiply-add counts
/// two FLOPs. Bytes are those that must move at least once.
struct KernelCost {
  RowKind rows = RowKind::tokens;
  int64_t weightBytes = 0;          ///< read once for each run
  int64_t experts = 0;              ///< E of a grouped kernel, else 0
  int64_t weightBytesPerExpert = 0; ///< read once for each expert with rows
  int64_t flopsPerRow = 0;
  int64_t activationBytesPerRow = 0;       ///< read and written
  int64_t flopsPerRowAndPosition = 0;      ///< times the length of the context
  int64_t cacheBytesPerRow = 0;            ///< written
  int64_t cacheBytesPerRowAndPosition = 0; ///< read
};

} // namespace moec::fused

#endif // MOEC_DIALECTS_FUSED_KERNELCOST_H
