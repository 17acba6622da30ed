//===- Import.h - From a configuration to a module -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_IMPORT_IMPORT_H
#define MOEC_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "moec/Import/ModelConfig.h"

namespace moec {

/// The arithmetic of activations (`--activations`).
enum class Activations {
  f32,  ///< everything in f32: the definition
  bf16, ///< residual stream and results in bf16, sums in f32
  fp8   ///< bf16, and the inputs of FP8 linears quantised dynamically
};

/// "f32", "bf16" or "fp8"; no value for another name.
std::optional<Activations> symbolizeActivations(llvm::StringRef name);
llvm::StringRef stringifyActivations(Activations activations);

struct ImportOptions {
  Activations activations = Activations::bf16;
  bool residualF32 = false; ///< tensors between ops in f32 (f32: always)
  bool taps = false;        ///< show the values that golden files hold
};

/// Builds the model in the transformer dialect: parameters, and
/// `@forward(ids, positions, logit_rows, cache) -> (logits, cache)`. The number
/// of ops depends neither on the layers nor on the experts. Each op's location
/// names its module and leads to the keys that shaped it and, where the folder
/// has a modelling file, to the class that it stands for.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext *context,
                                              const ModelConfig &config,
                                              const ImportOptions &options);

} // namespace moec

#endif // MOEC_IMPORT_IMPORT_H
