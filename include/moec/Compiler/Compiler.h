//===- Compiler.h - From config.json to an artifact -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_COMPILER_COMPILER_H
#define MOEC_COMPILER_COMPILER_H

#include "mlir/IR/OwningOpRef.h"
#include "moec/Artifact/Manifest.h"
#include "moec/Pipelines/Pipelines.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include <functional>
#include <mutex>

namespace moec {

/// The options of `moec compile`.
struct CompileOptions {
  std::string input;                ///< folder, config.json, or IR with `from`
  std::string activations = "bf16"; ///< f32, bf16 or fp8
  bool residualF32 = false;         ///< what flows between ops is f32, not bf16
  bool taps = false;
  bool saveIR = false;
  LoweringChoices lowering;
  std::optional<Level> from; ///< level of the input if it is IR
  llvm::SmallVector<const CPUVariant *> variants;
  /// Told what begins, in a few words.
  std::function<void(llvm::StringRef)> progress;
};

/// Runs the whole way, or a part of it.
class Compiler {
public:
  /// `sources` gets the files that are read, for the carets of diagnostics.
  Compiler(mlir::MLIRContext *context, llvm::SourceMgr &sources,
           CompileOptions options)
      : context(context), sources(sources), options(std::move(options)) {}

  /// The module at a level, from the importer or from the input's own level.
  /// Levels from `vector` on are those of one variant.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  compileTo(Level level, const CPUVariant &variant);

  /// Writes the artifact into the folder `output`, whole or not at all. Returns
  /// its memory plan.
  mlir::FailureOr<MemoryPlan> compileArtifact(llvm::StringRef output);

private:
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> readInput();
  mlir::LogicalResult lower(mlir::ModuleOp module, Level from, Level to,
                            const CPUVariant &variant);
  mlir::LogicalResult runPasses(mlir::ModuleOp module, Level target,
                                const CPUVariant &variant);
  mlir::FailureOr<std::string> compileVariants(mlir::ModuleOp module,
                                               Level level);
  mlir::FailureOr<std::string>
  linkInMemory(mlir::Location location,
               llvm::ArrayRef<llvm::SmallVector<char, 0>> objects);
  mlir::LogicalResult copyModelFiles(mlir::ModuleOp module,
                                     llvm::StringRef folder,
                                     ArtifactContents &contents);
  mlir::LogicalResult writeInto(llvm::StringRef folder, mlir::ModuleOp module,
                                llvm::StringRef code);
  void saveLevel(mlir::ModuleOp module, Level level, const CPUVariant &variant);

  mlir::MLIRContext *context;
  llvm::SourceMgr &sources;
  CompileOptions options;
  std::mutex savedIRMutex;
  llvm::StringMap<std::string> savedIR; ///< file in ir/ -> text
};

} // namespace moec

#endif // MOEC_COMPILER_COMPILER_H
