//===- LoopNest.h - A linalg op as loops of vectors -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_TRANSFORMS_LOOPNEST_H
#define MOEC_LIB_TRANSFORMS_LOOPNEST_H

#include "LanePattern.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace moec {

/// Emits one `linalg.generic` on memrefs as loops of vectors. See the pass
/// `vectorize-linalg` for what the loops look like and why.
///
/// The dimensions of the op are, from the outside in: parallel dimensions
/// (static ones first, so that weights stream once for all rows), the lane
/// dimension if it is parallel, reduction dimensions. A *point* is the code for
/// one block of parallel iterations; its *instances* are the single iterations
/// of the block (times the vectors along the lanes).
class LoopNest {
public:
  LoopNest(mlir::linalg::GenericOp op, int64_t lanes, int64_t block)
      : op(op), maxLanes(lanes), maxBlock(block) {}

  /// Chooses the lane dimension and the blocks. Fails, with a diagnostic, if
  /// the op's body or reduction is of a form that this pass does not know.
  mlir::LogicalResult analyze();

  bool isVectorized() const { return laneDim.has_value(); }

  /// Emits the loops; `step` is the step to take the parallel-for from, or null
  /// inside a parallel region.
  void emit(mlir::OpBuilder &b, mlir::Value step);

private:
  /// Offsets of a single iteration from the first one of its block, by
  /// dimension.
  using Instance = llvm::SmallVector<int64_t>;

  void chooseLaneDim();
  void chooseBlocks();
  mlir::LogicalResult matchReduction();
  bool hasUnitStride(mlir::OpOperand &operand) const;

  void emitParallel(mlir::OpBuilder &b, mlir::Value step);
  void emitBlock(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Value> blockNumbers,
                 unsigned level);
  void emitLoops(mlir::OpBuilder &b, unsigned level);
  void emitLanes(mlir::OpBuilder &b);
  void emitPoint(mlir::OpBuilder &b);
  llvm::SmallVector<mlir::Value>
  emitReduction(mlir::OpBuilder &b, unsigned level,
                llvm::ArrayRef<Instance> instances, mlir::ValueRange partials);
  llvm::SmallVector<mlir::Value>
  emitLaneReduction(mlir::OpBuilder &b, llvm::ArrayRef<Instance> instances,
                    mlir::ValueRange partials);
  llvm::SmallVector<mlir::Value> accumulate(mlir::OpBuilder &b,
                                            llvm::ArrayRef<Instance> instances,
                                            mlir::ValueRange partials);

  llvm::SmallVector<Instance> getInstances();
  mlir::Value getIndex(mlir::OpBuilder &b, mlir::AffineExpr expr,
                       const Instance &instance);
  mlir::Value read(mlir::OpBuilder &b, mlir::OpOperand &operand,
                   const Instance &instance);
  void write(mlir::OpBuilder &b, mlir::OpOperand &operand,
             const Instance &instance, mlir::Value value);
  /// The body's yielded values for an instance; in a reduction, the value that
  /// is combined with the partial result (or the factors of its product, so
  /// that a sum of products becomes a fused multiply-add).
  llvm::SmallVector<mlir::Value> inlineBody(mlir::OpBuilder &b,
                                            const Instance &instance);
  mlir::Value combine(mlir::OpBuilder &b, mlir::Value left, mlir::Value right);
  mlir::Value addUpLanes(mlir::OpBuilder &b, mlir::Value vector);
  mlir::Value getMask(mlir::OpBuilder &b, mlir::Value count, int64_t lanes);
  mlir::Value toLanes(mlir::OpBuilder &b, mlir::Value scalar);
  mlir::Type getLaneType(mlir::Type element) const;
  mlir::Value constant(mlir::OpBuilder &b, int64_t value);
  bool isReduction(unsigned dim) {
    return op.getIteratorTypesArray()[dim] ==
           mlir::utils::IteratorType::reduction;
  }
  /// The loop bounds [0, whole) in steps of `step`, and what is left.
  std::pair<mlir::Value, std::optional<int64_t>>
  splitExtent(mlir::OpBuilder &b, unsigned dim, int64_t step);

  mlir::linalg::GenericOp op;
  int64_t maxLanes, maxBlock;

  // Found by analyze().
  std::optional<unsigned> laneDim;
  int64_t lanes = 1;
  llvm::SmallVector<LanePattern> patterns; ///< by operand number
  llvm::SmallVector<unsigned> order;       ///< parallel dims but the lanes
  llvm::SmallVector<unsigned> reductions;  ///< reduction dims but the lanes
  llvm::SmallVector<int64_t> blockSizes;   ///< by dimension
  unsigned numParallelDims = 0;            ///< how many of `order` are parallel
  mlir::Operation *combiner = nullptr;
  mlir::Operation *product = nullptr; ///< mulf that only feeds the combiner
  unsigned partialOperand = 0; ///< operand of the combiner that is the partial

  // While emitting.
  llvm::SmallVector<mlir::OpFoldResult> extents; ///< by dimension
  llvm::SmallVector<mlir::Value> ivs;            ///< begin of the block
  llvm::SmallVector<int64_t> blocks;             ///< size of the block
  mlir::Value remaining; ///< lanes that are left in a last vector, or null
};

} // namespace moec

#endif // MOEC_LIB_TRANSFORMS_LOOPNEST_H
