//===- WeightDecoder.h - Weights in registers -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_TRANSFORMS_WEIGHTDECODER_H
#define MOEC_LIB_TRANSFORMS_WEIGHTDECODER_H

#include "VectorBuilder.h"

namespace moec {

/// Reads pieces of 16 bytes of several rows of a weight, one in each 128-bit
/// lane, and widens them to what the arithmetic takes:
///
///   piece of row r, e4m3:  k0 k1 k2 ... k15
///   bf16 (dot product):    step 0: (k0 k1) (k2 k3) (k4 k5) (k6 k7)
///                          step 1: (k8 k9) ... (k14 k15)
///   f32:                   step 0: k0 k2 k4 k6      step 1: k1 k3 k5 k7
///                          step 2: k8 k10 k12 k14   step 3: k9 ...
///
/// so that lane p of each 128 bits belongs to chain p (fused.linear). x is laid
/// out for it: in order for bf16; evens before odds in each eight for f32.
class WeightDecoder {
public:
  WeightDecoder(int64_t lanes, bool dotProduct, mlir::Type element)
      : lanes(lanes), dotProduct(dotProduct), element(element) {}

  int64_t rowsPerVector() const { return lanes / 4; }
  /// Weights in 16 bytes.
  int64_t pieceSize() const { return 128 / element.getIntOrFloatBitWidth(); }
  /// Features that a step covers for each row.
  int64_t stepSize() const { return dotProduct ? 8 : 4; }
  int64_t stepsPerPiece() const { return pieceSize() / stepSize(); }
  /// Does x need its evens before its odds?
  bool splitsEvenOdd() const { return !dotProduct && !element.isF32(); }
  /// Decoded values are the weights times 1 / factor.
  double getFactor() const {
    return mlir::isa<mlir::Float8E4M3FNType>(element) && !dotProduct ? 256.0
                                                                     : 1.0;
  }

  /// The steps of the pieces at column k of the rows first, first + stride, ...
  /// (as many as a vector holds). Of the last piece of a row only `used`
  /// weights may be read; the others become zero.
  llvm::SmallVector<mlir::Value> decode(VectorBuilder &b, mlir::Value weight,
                                        mlir::Value first, int64_t stride,
                                        mlir::Value k, int64_t used) const;

private:
  mlir::Value loadPiece(VectorBuilder &b, mlir::Value weight, mlir::Value row,
                        mlir::Value k, int64_t used) const;
  llvm::SmallVector<mlir::Value> lookUpCodes(VectorBuilder &b,
                                             mlir::Value codes) const;
  llvm::SmallVector<mlir::Value> widenCodes(VectorBuilder &b,
                                            mlir::Value codes) const;

  int64_t lanes;
  bool dotProduct;
  mlir::Type element;
};

} // namespace moec

#endif // MOEC_LIB_TRANSFORMS_WEIGHTDECODER_H
