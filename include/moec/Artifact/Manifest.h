//===- Manifest.h - What an artifact says of itself -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_ARTIFACT_MANIFEST_H
#define MOEC_ARTIFACT_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include "moec/Target/CPU.h"

namespace moec {

/// Bytes that a model needs where it runs.
struct MemoryPlan {
  int64_t weightBytes = 0;        ///< payload and scales, in the checkpoint
  int64_t cacheBytesPerToken = 0; ///< over all layers
  int64_t workspaceBytesFixed = 0;
  int64_t workspaceBytesPerToken = 0;
};

/// What the manifest says that is not in the module.
struct ArtifactContents {
  llvm::SmallVector<const CPUVariant *> variants;
  std::string tokenizer; ///< tiktoken, tokenizer.json, or empty: none
  llvm::SmallVector<std::string> tokenizerFiles;
  /// Files of the folder, whose sizes and hashes the manifest records.
  llvm::SmallVector<std::string> files;
};

/// Module attributes that say how the code was lowered: the level that it is
/// on, the form of attention, the tokens per page of the cache.
inline constexpr llvm::StringLiteral levelAttr = "moec.level";
inline constexpr llvm::StringLiteral attentionAttr = "moec.attention";
inline constexpr llvm::StringLiteral pageSizeAttr = "moec.page_size";
inline constexpr llvm::StringLiteral costAttr = "moec.cost";

/// Records on a module of the transformer level what the manifest needs and
/// later levels no longer show: the taps and the cache. Call it once, before
/// the module is lowered.
void annotateForManifest(mlir::ModuleOp module);

/// The manifest's table of costs, from the kernels of a module of the fused
/// level: one dictionary for each.
mlir::ArrayAttr describeCost(mlir::ModuleOp module);

/// The plan of a module with placed buffers (the bufferized level or later).
mlir::FailureOr<MemoryPlan> getMemoryPlan(mlir::ModuleOp module);

/// Writes manifest.json (docs/artifact-format.md) into `folder`.
mlir::LogicalResult writeManifest(mlir::ModuleOp module,
                                  const ArtifactContents &contents,
                                  llvm::StringRef folder);

} // namespace moec

#endif // MOEC_ARTIFACT_MANIFEST_H
