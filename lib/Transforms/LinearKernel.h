//===- LinearKernel.h - A task of a linear layer -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_TRANSFORMS_LINEARKERNEL_H
#define MOEC_LIB_TRANSFORMS_LINEARKERNEL_H

#include "WeightDecoder.h"
#include "dialects/Fused/FusedOps.h"

namespace moec {

/// What is known of a linear kernel at compile time.
struct LinearShape {
  int64_t in, out;
  int64_t block = 128;  ///< features of a block
  int64_t rowBlock = 0; ///< output features that share a scale; 0: no scales
  fused::Epilogue epilogue = fused::Epilogue::none;
  int64_t columns; ///< of a tile
  int64_t rows;    ///< of a task at most
  int64_t registerRows;
  int64_t streamRows;
};

/// The memory that a task works on.
struct LinearBuffers {
  mlir::Value x;                          ///< in the kernel's form [.., K]
  mlir::Value xScales;                    ///< null unless x is quantised
  llvm::SmallVector<mlir::Value> weights; ///< [OUT, IN], one or two
  llvm::SmallVector<mlir::Value> scales;  ///< of the weights, or empty
  mlir::Value residual;                   ///< [N, OUT] or null
  mlir::Value out;                        ///< [N, OUT]
  mlir::Value gather;                     ///< row of x by row of out, or null
  mlir::Value
      weightRow; ///< row of the scaled tensor of weights' row 0, or null
};

/// Memory on the stack of a parallel body, which all its tasks share.
struct LinearMemory {
  mlir::Value panel;  ///< decoded weights of a tile and block
  mlir::Value totals; ///< [weights, rows, columns] f32
};
LinearMemory allocateLinear(VectorBuilder &b, int64_t lanes, bool dotProduct,
                            const LinearShape &shape, mlir::ShapedType weight,
                            int64_t numWeights);

/// Builds the code of one task: a tile of columns of a range of rows.
class LinearKernel {
public:
  LinearKernel(VectorBuilder &b, int64_t lanes, bool dotProduct,
               const LinearShape &shape, const LinearBuffers &buffers,
               const LinearMemory &memory);

  /// y[firstRow .. + count, firstColumn .. + columns], count at most
  /// shape.rows.
  void build(mlir::Value firstRow, mlir::Value count, mlir::Value firstColumn);

private:
  /// A part of K: `pieces` whole pieces from feature `begin` on, then `tail`
  /// weights of one more.
  struct Block {
    mlir::Value number, begin;
    int64_t pieces, tail;
  };
  using Rows = llvm::SmallVector<mlir::Value>;

  // Few rows.
  void stream(int64_t count, mlir::Value firstRow, mlir::Value firstColumn);
  Rows streamGroup(unsigned weight, const Rows &xRows, mlir::Value base,
                   mlir::Value column);
  void streamBlock(unsigned weight, const Rows &xRows, mlir::Value base,
                   const Block &block,
                   llvm::SmallVectorImpl<mlir::Value> &sums);
  void prefetch(unsigned weight, mlir::Value base, mlir::Value block);

  // Many rows.
  void panel(mlir::Value firstRow, mlir::Value count, mlir::Value firstColumn);
  void decodePanel(unsigned weight, mlir::Value base, const Block &block);
  void multiplyPanel(unsigned weight, mlir::Value firstRow, mlir::Value count,
                     mlir::Value column, const Block &block);
  void multiplyTile(unsigned weight, int64_t tileRows, mlir::Value firstRow,
                    mlir::Value at, mlir::Value quad, mlir::Value column,
                    const Block &block);

  // Both.
  void
  forEachBlock(llvm::ArrayRef<mlir::Value> inits,
               llvm::function_ref<Rows(const Block &, mlir::ValueRange)> body,
               Rows &results);
  mlir::Value getXRow(mlir::Value row);
  mlir::Value loadX(mlir::Value row, mlir::Value k);
  mlir::Value multiplyAdd(mlir::Value w, mlir::Value x, mlir::Value sum);
  /// Chains of groups of features to the features' sums: lane 4 i + g of four
  /// groups (or 2 i + g of the even lanes of two) holds row i of group g.
  mlir::Value addChains(llvm::ArrayRef<mlir::Value> groups);
  /// total + scale * sum
  mlir::Value accumulate(mlir::Value sum, mlir::Value total, unsigned weight,
                         mlir::Value xRow, mlir::Value column,
                         mlir::Value block);
  /// Epilogue of some neighbouring columns, stored from column `column` on;
  /// `base` is the column of lane 0.
  void finish(llvm::ArrayRef<mlir::Value> totals, mlir::Value row,
              mlir::Value base, mlir::Value column);

  int64_t groupColumns() const { return 2 * decoder.rowsPerVector(); }
  int64_t quadColumns() const { return 4 * decoder.rowsPerVector(); }
  VectorBuilder &b;
  int64_t lanes;
  bool dotProduct;
  LinearShape shape;
  LinearBuffers buffers;
  WeightDecoder decoder;
  LinearMemory memory;
  int64_t stepsPerBlock;
};

} // namespace moec

#endif // MOEC_LIB_TRANSFORMS_LINEARKERNEL_H
