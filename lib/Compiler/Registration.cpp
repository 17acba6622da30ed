//===- Registration.cpp - Dialects and passes -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Compiler/Registration.h"

#include "dialects/Fused/FusedOps.h"
#include "dialects/Transformer/TransformerOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "moec/Conversion/Passes.h"
#include "moec/Pipelines/Pipelines.h"
#include "moec/Transforms/Passes.h"

using namespace mlir;

void moec::registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<fused::FusedDialect, rt::RuntimeDialect,
                  transformer::TransformerDialect>();
  fused::registerBufferization(registry);
}

void moec::registerPasses() {
  registerMoecConversionPasses();
  registerMoecTransformsPasses();
  registerPipelines();
}
