//===- ModelBuilder.h - Parameters, locations, small steps -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_IMPORT_MODELBUILDER_H
#define MOEC_LIB_IMPORT_MODELBUILDER_H

#include "dialects/Transformer/TransformerOps.h"
#include "moec/Import/Import.h"

namespace moec {

/// Creates parameters and the ops that use them, with their evidence. Names of
/// modules are those of the checkpoint inside a layer ("self_attn.o_proj").
class ModelBuilder {
public:
  ModelBuilder(mlir::OpBuilder &b, mlir::ModuleOp module,
               const ModelConfig &config, const ImportOptions &options);

protected:
  /// Sets the location of the ops that follow: the module's name, the keys that
  /// shaped them, and the class of the modelling file.
  void at(llvm::StringRef module, llvm::ArrayRef<llvm::StringRef> keys,
          llvm::StringRef modelingClass);

  void enterLayers(const LayerRange &range);
  void leaveLayers();

  mlir::RankedTensorType activation(llvm::ArrayRef<int64_t> shape) const;
  transformer::RopeAttr getRope() const;

  /// The weight [out, in] of a module: block-scaled if the checkpoint's is.
  mlir::Value weight(llvm::StringRef module, int64_t out, int64_t in,
                     mlir::Value expert = {});
  /// A weight outside the layers, never quantised.
  mlir::Value plainWeight(llvm::StringRef tensor, int64_t out, int64_t in);
  /// A small tensor of a layer that is read as f32.
  mlir::Value widened(llvm::StringRef tensor, int64_t size);

  mlir::Value norm(mlir::Value x, llvm::StringRef module, double eps);
  mlir::Value finalNorm(mlir::Value x);
  /// x quantised if activations are FP8 and the module's weight is; else x.
  mlir::Value quantizeFor(mlir::Value x, llvm::StringRef module);
  /// x w^T of a module, quantising x if need be (once for several modules).
  mlir::Value linear(mlir::Value x, llvm::StringRef module, int64_t out,
                     mlir::Value expert = {}, mlir::Type resultElement = {});
  mlir::Value rotate(mlir::Value x, mlir::Value cos, mlir::Value sin);
  void tap(mlir::Value x, llvm::StringRef name);

  mlir::OpBuilder &b;
  const ModelConfig &config;
  const ImportOptions &options;
  mlir::Type element; ///< of activations
  mlir::Location loc;
  mlir::Value layer; ///< number of the layer, inside the layers

private:
  bool isFP8(llvm::StringRef module) const;
  mlir::Type getWeightElement() const;
  mlir::Value getParameter(llvm::StringRef tensor, mlir::Type type,
                           mlir::Value expert, bool widened);

  mlir::ModuleOp module;
  std::optional<LayerRange> range;
  llvm::DenseMap<mlir::Value, mlir::Value> quantized; ///< x -> its codes
};

} // namespace moec

#endif // MOEC_LIB_IMPORT_MODELBUILDER_H
