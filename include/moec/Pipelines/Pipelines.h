//===- Pipelines.h - From the transformer dialect to LLVM -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_PIPELINES_PIPELINES_H
#define MOEC_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "moec/Target/CPU.h"

namespace moec {

/// The levels of the IR, from the model to machine code. A pipeline takes a
/// module from each to the next; `moec compile` can print and start at each.
enum class Level { transformer, fused, linalg, bufferized, vector, llvm };

/// "transformer", "linalg", ...; no value for another name.
std::optional<Level> parseLevel(llvm::StringRef name);
llvm::StringRef stringifyLevel(Level level);

/// What the choices of `moec compile` mean for the passes.
struct LoweringChoices {
  bool expandedAttention = false;
  int64_t pageSize = 64;
  /// Passes of the fused level that are left out, by name.
  llvm::SmallVector<std::string> without;
  /// Options of choose-fp8-tiles as text; checkTileOptions() has found no
  /// fault.
  std::string tiles;

  bool isOn(llvm::StringRef pass) const {
    return !llvm::is_contained(without, pass);
  }
};

/// What is wrong with options of choose-fp8-tiles, or an empty text.
std::string checkTileOptions(llvm::StringRef options);

/// The passes that LoweringChoices::without may name.
llvm::ArrayRef<llvm::StringRef> getOptionalPasses();

void buildTransformerToFused(mlir::OpPassManager &passes,
                             const LoweringChoices &choices);
void buildFusedToLinalg(mlir::OpPassManager &passes);
void buildLinalgToBufferized(mlir::OpPassManager &passes);
void buildBufferizedToVector(mlir::OpPassManager &passes,
                             const CPUVariant &variant);
void buildVectorToLLVM(mlir::OpPassManager &passes);

/// Registers moec-fused, moec-linalg, moec-bufferize, moec-vectorize and
/// moec-llvm.
void registerPipelines();

} // namespace moec

#endif // MOEC_PIPELINES_PIPELINES_H
