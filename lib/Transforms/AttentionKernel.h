//===- AttentionKernel.h - Absorbed attention for the CPU -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_TRANSFORMS_ATTENTIONKERNEL_H
#define MOEC_LIB_TRANSFORMS_ATTENTIONKERNEL_H

#include "VectorBuilder.h"
#include "dialects/Fused/FusedOps.h"

namespace moec {

/// What is known of absorbed attention at compile time.
struct AttentionShape {
  AttentionShape(fused::MlaAttentionOp op, int64_t lanes, bool dotProduct);

  int64_t heads, nope, rope, rank, value;
  int64_t width;       ///< rank + rope: values of a token in the cache
  int64_t paddedHeads; ///< so many that every variant's vectors divide them
  int64_t lanes;       ///< of a vector
  int64_t pageSize;    ///< tokens of a page
  int64_t block;       ///< tokens of a block: a page, or a part of one
  int64_t split;       ///< tokens that one task attends to
  bool dotProduct;     ///< products of bf16 pairs instead of f32
  double scale;        ///< of the scores

  /// Vectors of heads that share a pass over a tile of tokens.
  int64_t groupVectors() const;
  /// Tokens, or features, of a tile of sums in registers.
  int64_t tile() const;
};

/// Builds the attention of one row to one split of its context: an online
/// softmax over blocks of tokens. The lanes of a vector are heads, so the cache
/// is only broadcast, and the softmax needs no sum across lanes.
class AttentionKernel {
public:
  /// Takes its memory from the stack of the parallel body at the builder's
  /// position.
  AttentionKernel(VectorBuilder &b, const AttentionShape &shape);

  /// Where a split's result goes: sums [.., rank * heads], maxima of the scores
  /// and divisors [.., 2 * heads], both f32.
  struct Result {
    mlir::Value sums, statistics, slot;
  };
  using GetBlock = llvm::function_ref<mlir::Value(mlir::Value position)>;
  /// Attends to the positions [begin, end). `queries` [N, width * heads] are
  /// f32 by features, or bf16 by pairs of features; `getBlock` gives the
  /// latents [block, width] from a position on.
  void build(mlir::Value queries, mlir::Value row, mlir::Value begin,
             mlir::Value end, const Result &result, GetBlock getBlock);

private:
  mlir::Value allocate(int64_t size, mlir::Type type);
  void start(const Result &result);
  void widenLatents(mlir::Value latents, mlir::Value used);
  void pairLatents(mlir::Value latents, mlir::Value used);
  void score(mlir::Value queries, mlir::Value row, mlir::Value latents,
             mlir::Value used);
  void scoreTile(mlir::Value queries, mlir::Value row, mlir::Value latents,
                 mlir::Value firstFeature, int64_t features, mlir::Value token,
                 mlir::Value head);
  void softmax(const Result &result, mlir::Value used);
  mlir::Value storeWeights(mlir::Value used, mlir::Value head,
                           mlir::Value maximum, mlir::Value sum);
  void addValues(const Result &result, mlir::Value used);
  /// sum + x * vector, x a number (or a pair) that all lanes share.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value vector, mlir::Value sum);
  /// A vector of heads from memory of f32, or of bf16 pairs.
  mlir::Value loadHeads(mlir::Value memory, llvm::ArrayRef<mlir::Value> outer,
                        mlir::Value at);

  VectorBuilder &b;
  const AttentionShape &shape;
  mlir::Value widened; ///< f32 [block * width]
  mlir::Value pairs;   ///< bf16 [block / 2 * rank * 2]: tokens two by two
  mlir::Value scores;  ///< f32 [block * heads], in place the weights
  mlir::Value weights; ///< bf16 [block / 2 * heads * 2]: tokens two by two
  mlir::Value decay;   ///< f32 [heads]: factors of the sums so far
};

/// exp((x - maximum) * scale)
mlir::Value buildWeight(VectorBuilder &b, mlir::Value x, mlir::Value maximum,
                        double scale);

/// Lowers a whole op on buffers.
mlir::LogicalResult lowerAttention(fused::MlaAttentionOp op, VectorBuilder &b,
                                   mlir::Value step, int64_t lanes,
                                   bool dotProduct);

} // namespace moec

#endif // MOEC_LIB_TRANSFORMS_ATTENTIONKERNEL_H
