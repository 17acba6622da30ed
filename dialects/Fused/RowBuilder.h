//===- RowBuilder.h - Builds linalg on tensors of rows -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_FUSED_ROWBUILDER_H
#define MOEC_DIALECTS_FUSED_ROWBUILDER_H

#include "dialects/Runtime/RuntimeOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace moec {

/// Computes in f32 on scalars in the body of a linalg op.
using ScalarBody = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                                  mlir::ValueRange)>;

/// Builds linalg on tensors of rows.
class RowBuilder : public mlir::ImplicitLocOpBuilder {
public:
  RowBuilder(mlir::Operation *op, mlir::OpBuilder &b)
      : ImplicitLocOpBuilder(op->getLoc(), b), op(op) {}

  /// The pointer to moec_step_args.
  mlir::Value getStep();
  mlir::Value getExtent(rt::Extent extent);
  /// Number of rows of a tensor that was of type `original` in the transformer
  /// dialect: [B, T, ...] tensors have a row for each token of the batch.
  mlir::Value getRows(mlir::Type original, mlir::Value tensor);
  /// Number of rows of a tensor of rows.
  mlir::Value getRows(mlir::Value tensor);

  mlir::Value index(int64_t value);
  mlir::Value f32(double value);
  mlir::Value toIndex(mlir::Value integer);
  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    mlir::Type element);
  mlir::Value zeros(llvm::ArrayRef<mlir::OpFoldResult> sizes);
  mlir::Value filled(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     mlir::Value value);

  /// A tensor expression: how a tensor is read in a linalg.generic.
  struct Access {
    mlir::Value tensor;
    llvm::SmallVector<mlir::AffineExpr> indices;
  };
  mlir::AffineExpr dim(unsigned position) { return getAffineDimExpr(position); }
  /// The plain access [d0, d1, ...].
  Access plain(mlir::Value tensor);

  /// A linalg.generic over as many dimensions as `numDims`; the ones that `out`
  /// does not name are reductions. Floating-point operands narrower than f32
  /// are widened before the body sees them; the body's value is narrowed to the
  /// element type of `out`. In a reduction the last argument is the partial
  /// result.
  mlir::Value compute(unsigned numDims, llvm::ArrayRef<Access> inputs,
                      Access out, ScalarBody body);
  /// Elementwise over `like`-shaped tensors, into a new tensor of `element`.
  mlir::Value map(llvm::ArrayRef<Access> inputs,
                  llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element,
                  ScalarBody body);
  /// `tensor` with another floating-point element type.
  mlir::Value convert(mlir::Value tensor, mlir::Type element);
  /// Sizes of a tensor with static dimensions but for its rows.
  llvm::SmallVector<mlir::OpFoldResult> sizesOf(mlir::RankedTensorType type,
                                                mlir::Value rows);

  /// The slice [position, 0, ...] of a tensor without its first dimension.
  mlir::Value row(mlir::Value tensor, mlir::Value position);
  /// A parallel loop over [0, count): `body` returns the row of each out.
  using RowBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      RowBuilder &, mlir::Value number, mlir::ValueRange outRows)>;
  llvm::SmallVector<mlir::Value>
  forEachRow(mlir::Value count, mlir::ValueRange outs, RowBody body);
  /// A sequential loop that carries tensors.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      RowBuilder &, mlir::Value number, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> loop(mlir::Value begin, mlir::Value end,
                                      mlir::ValueRange inits, LoopBody body);

  mlir::Operation *op;
};

/// [B, T, ...] collapsed to [N, ...].
mlir::RankedTensorType collapseRows(mlir::RankedTensorType type);

/// How a weight or an activation is read: a tensor, or codes and scales of a
/// block-scaled value.
struct Operand {
  mlir::Value payload;
  mlir::Value scales; ///< null for a plain tensor
  int64_t rowBlock = 1, columnBlock = 1;

  static Operand get(mlir::Value payload, mlir::Value scales,
                     std::optional<llvm::ArrayRef<int64_t>> block);
  /// Accesses of element [row, column]: one, or two with the scale's.
  void
  appendAccesses(RowBuilder &b, mlir::AffineExpr row, mlir::AffineExpr column,
                 llvm::SmallVectorImpl<RowBuilder::Access> &accesses) const;
  /// The element's value from the body's arguments; takes what it uses.
  mlir::Value getValue(mlir::ImplicitLocOpBuilder &b,
                       mlir::ValueRange &arguments) const;
};

/// codes [N, H] in f8E4M3FN and scales [N, ceil(H / group)] of x [N, H]: per
/// token and group of `group` features, scale = amax / 448, or 1 where all are
/// zero.
std::pair<mlir::Value, mlir::Value>
quantizeRows(RowBuilder &b, mlir::Value x, mlir::Value rows, int64_t group);

} // namespace moec

#endif // MOEC_DIALECTS_FUSED_ROWBUILDER_H
