//===- fuzz_config.cpp - Any bytes as a config.json -----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes are read as a configuration; where there is a zero byte, what
// follows it is the generation_config.json beside it. Whatever they are, the
// reader must end with a configuration or an error.
//
//===----------------------------------------------------------------------===//

#include "moec/Import/ModelConfig.h"

#include "mlir/IR/Diagnostics.h"

#include <cstdlib>

using namespace moec;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Texts end in a zero byte, which the diagnostic handler relies on.
  std::string bytes(reinterpret_cast<const char *>(data), size);
  auto [config, generation] = llvm::StringRef(bytes).split('\0');
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  bool hasError = false;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        hasError |= diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
      });
  ConfigTexts texts = {{config, "config.json"}, std::nullopt, std::nullopt};
  if (!generation.empty())
    texts.generationConfig.emplace(generation, "generation_config.json");
  mlir::FailureOr<ModelConfig> result = parseModelConfig(&context, texts);
  // A failure without a message, or a message with a success, is a fault.
  if (mlir::failed(result) != hasError)
    std::abort();
  return 0;
}
