//===- Lowering.h - Helpers of the patterns -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_CONVERSION_TRANSFORMERTOFUSED_LOWERING_H
#define MOEC_LIB_CONVERSION_TRANSFORMERTOFUSED_LOWERING_H

#include "dialects/Fused/FusedOps.h"
#include "dialects/Fused/RowBuilder.h"
#include "dialects/Transformer/TransformerOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "moec/Conversion/StepLayout.h"

namespace moec {

/// What all patterns know.
struct LoweringOptions {
  bool expandedAttention = false;
  int64_t pageSize = 64;
  int64_t rowsPerPiece = 256; ///< of an expert, in fused.dispatch
  const StepLayout *layout = nullptr;
};

/// The block sizes of a block-scaled weight; null for another.
mlir::DenseI64ArrayAttr getBlock(mlir::Builder &b, mlir::Type weight);

void populateElementwisePatterns(mlir::RewritePatternSet &patterns,
                                 const mlir::TypeConverter &types);
void populateLinearPatterns(mlir::RewritePatternSet &patterns,
                            const mlir::TypeConverter &types);
void populateAttentionPatterns(mlir::RewritePatternSet &patterns,
                               const mlir::TypeConverter &types,
                               const LoweringOptions &options);
void populateRoutePatterns(mlir::RewritePatternSet &patterns,
                           const mlir::TypeConverter &types);
void populateExpertsPatterns(mlir::RewritePatternSet &patterns,
                             const mlir::TypeConverter &types,
                             const LoweringOptions &options);
void populateStructurePatterns(mlir::RewritePatternSet &patterns,
                               const mlir::TypeConverter &types,
                               const LoweringOptions &options);

} // namespace moec

#endif // MOEC_LIB_CONVERSION_TRANSFORMERTOFUSED_LOWERING_H
