//===- Pipelines.cpp - From the transformer dialect to LLVM -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Pipelines/Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "moec/Conversion/Passes.h"
#include "moec/Transforms/Passes.h"

using namespace mlir;
using namespace moec;

static constexpr std::pair<Level, StringRef> levelNames[] = {
    {Level::transformer, "transformer"},
    {Level::linalg, "linalg"},
    {Level::bufferized, "bufferized"},
    {Level::vector, "vector"},
    {Level::llvm, "llvm"}};

std::optional<Level> moec::parseLevel(StringRef name) {
  for (auto [level, levelName] : levelNames)
    if (levelName == name)
      return level;
  return std::nullopt;
}

StringRef moec::stringifyLevel(Level level) {
  for (auto [candidate, name] : levelNames)
    if (candidate == level)
      return name;
  llvm_unreachable("every level has a name");
}

static void cleanUp(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

/// The model in linalg on tensors of rows.
void moec::buildTransformerToLinalg(OpPassManager &passes,
                                    const LoweringChoices &choices) {
  ConvertTransformerToLinalgOptions options;
  options.attention = choices.expandedAttention ? "expanded" : "absorbed";
  options.pageSize = choices.pageSize;
  passes.addPass(createConvertTransformerToLinalg(options));
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  // No CSE before bufferization: two sums that begin with the same zeros would
  // share one tensor of zeros, and each would have to copy it.
  passes.addPass(createCanonicalizerPass());
}

/// Tensors become buffers, each with its place in the workspace or on the
/// stack of a parallel task.
void moec::buildLinalgToBufferized(OpPassManager &passes) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  passes.addPass(bufferization::createOneShotBufferizePass(options));
  cleanUp(passes);
  passes.addNestedPass<func::FuncOp>(createPlanWorkspace());
  passes.addNestedPass<func::FuncOp>(createConvertForallToParallel());
  cleanUp(passes);
}

/// Loops of vectors, as wide as the variant's.
void moec::buildBufferizedToVector(OpPassManager &passes,
                                   const CPUVariant &variant) {
  VectorizeLinalgOptions options;
  options.lanes = variant.lanes;
  options.blockRows = variant.block;
  passes.addNestedPass<func::FuncOp>(createVectorizeLinalg(options));
  cleanUp(passes);
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createExpandFloat8());
  passes.addPass(createExpandMath());
  cleanUp(passes);
}

/// Everything in the LLVM dialect, parallel bodies in functions of their own.
void moec::buildVectorToLLVM(OpPassManager &passes) {
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  // Without AVX512-BF16, LLVM narrows to bf16 by a library call per element.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  passes.addPass(arith::createArithExpandOpsPass(expand));
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertRuntimeToLLVM());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createOutlineParallel());
  cleanUp(passes);
}

void moec::registerPipelines() {
  static PassPipelineRegistration<> linalg(
      "moec-linalg", "transformer to linalg on tensors",
      [](OpPassManager &passes) { buildTransformerToLinalg(passes, {}); });
  static PassPipelineRegistration<> bufferize(
      "moec-bufferize", "linalg on tensors to placed buffers",
      buildLinalgToBufferized);
  static PassPipelineRegistration<> vectorize(
      "moec-vectorize", "placed buffers to vectors for x86-64-v4",
      [](OpPassManager &passes) {
        buildBufferizedToVector(passes, *findCPUVariant("x86-64-v4"));
      });
  static PassPipelineRegistration<> lower(
      "moec-llvm", "vectors to the LLVM dialect", buildVectorToLLVM);
}
