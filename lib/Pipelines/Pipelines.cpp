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
    {Level::transformer, "transformer"}, {Level::fused, "fused"},
    {Level::linalg, "linalg"},           {Level::bufferized, "bufferized"},
    {Level::vector, "vector"},           {Level::llvm, "llvm"}};

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

ArrayRef<StringRef> moec::getOptionalPasses() {
  static const StringRef names[] = {"fuse-epilogues", "fuse-mla",
                                    "fuse-rms-norm", "fuse-moe-dispatch",
                                    "choose-fp8-tiles"};
  return names;
}

/// The pass with options, or a null pointer and what is wrong with them.
static std::unique_ptr<Pass> createTiling(StringRef options,
                                          std::string &message) {
  std::unique_ptr<Pass> pass = createChooseFP8Tiles();
  auto report = [&](const Twine &text) {
    message = text.str();
    return failure();
  };
  if (failed(pass->initializeOptions(options, report)))
    return nullptr;
  return pass;
}

std::string moec::checkTileOptions(StringRef options) {
  std::string message;
  createTiling(options, message);
  return StringRef(message).trim().str();
}

static void cleanUp(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

/// The model as kernels on rows, each as large as one kernel can be.
void moec::buildTransformerToFused(OpPassManager &passes,
                                   const LoweringChoices &choices) {
  ConvertTransformerToFusedOptions options;
  options.attention = choices.expandedAttention ? "expanded" : "absorbed";
  options.pageSize = choices.pageSize;
  passes.addPass(createConvertTransformerToFused(options));
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  // No CSE before bufferization: two sums that begin with the same zeros would
  // share one tensor of zeros, and each would have to copy it.
  passes.addPass(createCanonicalizerPass());
  if (choices.isOn("fuse-epilogues"))
    passes.addNestedPass<func::FuncOp>(createFuseEpilogues());
  if (choices.isOn("fuse-mla"))
    passes.addNestedPass<func::FuncOp>(createFuseMla());
  if (choices.isOn("fuse-rms-norm"))
    passes.addNestedPass<func::FuncOp>(createFuseRmsNorm());
  if (choices.isOn("fuse-moe-dispatch"))
    passes.addNestedPass<func::FuncOp>(createFuseMoEDispatch());
  if (choices.isOn("choose-fp8-tiles")) {
    std::string message;
    passes.addNestedPass<func::FuncOp>(createTiling(choices.tiles, message));
  }
  passes.addPass(createCanonicalizerPass());
}

/// Kernels that the CPU has no code of their own for become linalg on tensors.
void moec::buildFusedToLinalg(OpPassManager &passes) {
  passes.addNestedPass<func::FuncOp>(createDecomposeFused());
  passes.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
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
  LowerFusedToVectorOptions kernels;
  kernels.lanes = variant.lanes;
  kernels.dotProduct = variant.dotProduct;
  passes.addPass(createLowerFusedToVector(kernels));
  AddProbeOptions probe;
  probe.lanes = variant.lanes;
  probe.dotProduct = variant.dotProduct;
  passes.addPass(createAddProbe(probe));
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
  ConvertVectorToLLVMPassOptions vectorOptions;
  vectorOptions.x86Vector = true;
  passes.addPass(createConvertVectorToLLVMPass(vectorOptions));
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
  static PassPipelineRegistration<> fuse(
      "moec-fused", "transformer to kernels on rows",
      [](OpPassManager &passes) { buildTransformerToFused(passes, {}); });
  static PassPipelineRegistration<> linalg(
      "moec-linalg", "transformer to linalg on tensors",
      [](OpPassManager &passes) {
        buildTransformerToFused(passes, {});
        buildFusedToLinalg(passes);
      });
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
