//===- Translation.cpp - config.json as a translation ---------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Import/Translation.h"

#include "moec/Import/Import.h"

#include "dialects/Transformer/TransformerOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace moec;
namespace cl = llvm::cl;

/// A file is read with those beside it; standard input stands alone.
static mlir::FailureOr<ModelConfig> readInput(const llvm::SourceMgr &sources,
                                              mlir::MLIRContext *context) {
  llvm::MemoryBufferRef text =
      *sources.getMemoryBuffer(sources.getMainFileID());
  if (llvm::sys::fs::is_regular_file(text.getBufferIdentifier()))
    return readModelConfig(context, text.getBufferIdentifier());
  return parseModelConfig(context, {text, std::nullopt, std::nullopt});
}

void moec::registerImportConfigTranslation() {
  static cl::opt<Activations> activations(
      "import-activations", cl::desc("Arithmetic of activations"),
      cl::values(clEnumValN(Activations::f32, "f32", "everything in f32"),
                 clEnumValN(Activations::bf16, "bf16", "a bf16 stream"),
                 clEnumValN(Activations::fp8, "fp8",
                            "bf16, and inputs of FP8 linears quantised")),
      cl::init(Activations::bf16));
  static cl::opt<bool> taps("import-taps",
                            cl::desc("Show the values of golden files"));
  static mlir::TranslateToMLIRRegistration registration(
      "import-config", "a model's config.json to the transformer dialect",
      [](llvm::SourceMgr &sources,
         mlir::MLIRContext *context) -> mlir::OwningOpRef<mlir::Operation *> {
        mlir::FailureOr<ModelConfig> config = readInput(sources, context);
        if (mlir::failed(config))
          return {};
        ImportOptions options;
        options.activations = activations;
        options.taps = taps;
        return importModel(context, *config, options);
      },
      [](mlir::DialectRegistry &registry) {
        registry
            .insert<mlir::func::FuncDialect, transformer::TransformerDialect>();
      });
}
