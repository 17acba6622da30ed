//===- TransformerToFused.cpp - transformer to fused -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "moec/Conversion/Passes.h"

namespace moec {
#define GEN_PASS_DEF_CONVERTTRANSFORMERTOFUSED
#include "moec/Conversion/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

/// [B, T, ...] tensors become [N, ...]; a block-scaled value becomes its codes
/// and its scales; the cache, which is memory at this level, becomes nothing.
struct RowTypeConverter : TypeConverter {
  RowTypeConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](RankedTensorType type) { return collapseRows(type); });
    addConversion([](transformer::LatentCacheType, SmallVectorImpl<Type> &) {
      return success();
    });
    addConversion(
        [](transformer::BlockScaledType type, SmallVectorImpl<Type> &parts) {
          parts.push_back(collapseRows(
              RankedTensorType::get(type.getShape(), type.getPayload())));
          parts.push_back(collapseRows(
              RankedTensorType::get(type.getScaleShape(), type.getScale())));
          return success();
        });
    auto cast = [](OpBuilder &b, Type type, ValueRange inputs,
                   Location loc) -> Value {
      return UnrealizedConversionCastOp::create(b, loc, type, inputs)
          .getResult(0);
    };
    addSourceMaterialization(cast);
    addTargetMaterialization(cast);
  }
};

struct ConvertTransformerToFused
    : moec::impl::ConvertTransformerToFusedBase<ConvertTransformerToFused> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (attention != "absorbed" && attention != "expanded") {
      module.emitError("expects attention to be absorbed or expanded, found '")
          << attention << "'";
      return signalPassFailure();
    }
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward) {
      module.emitError("expects a function @forward");
      return signalPassFailure();
    }
    if (failed(checkForward(forward)))
      return signalPassFailure();
    if (pageSize < 2) {
      module.emitError("expects pages of at least 2 tokens, found ")
          << pageSize.getValue();
      return signalPassFailure();
    }
    StepLayout layout(module);
    LoweringOptions options;
    options.expandedAttention = attention == "expanded";
    options.pageSize = pageSize;
    options.layout = &layout;
    createStep(forward);

    RowTypeConverter types;
    RewritePatternSet patterns(&getContext());
    populateAttentionPatterns(patterns, types, options);
    populateElementwisePatterns(patterns, types);
    populateExpertsPatterns(patterns, types, options);
    populateLinearPatterns(patterns, types);
    populateRoutePatterns(patterns, types);
    populateStructurePatterns(patterns, types, options);
    ConversionTarget target(getContext());
    target.addIllegalDialect<transformer::TransformerDialect>();
    target.addLegalOp<transformer::ParameterOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
  }

private:
  LogicalResult checkForward(func::FuncOp forward) {
    auto isTensor = [](Type type, int64_t rank, unsigned integerWidth) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getRank() == rank &&
             (integerWidth ? tensor.getElementType().isInteger(integerWidth)
                           : tensor.getElementType().isF32());
    };
    FunctionType type = forward.getFunctionType();
    bool fits = !forward.isDeclaration() && type.getNumInputs() == 4 &&
                type.getNumResults() == 2 &&
                isTensor(type.getInput(0), 2, 32) &&
                isTensor(type.getInput(1), 2, 32) &&
                isTensor(type.getInput(2), 1, 32) &&
                isa<transformer::LatentCacheType>(type.getInput(3)) &&
                isTensor(type.getResult(0), 2, 0) &&
                isa<transformer::LatentCacheType>(type.getResult(1));
    if (fits)
      return success();
    return forward.emitOpError(
               "expects a body, arguments (ids, positions, rows, "
               "cache) and results (logits, cache), found ")
           << type;
  }

  /// Replaces @forward by @moec_step, whose arguments come from the step.
  void createStep(func::FuncOp forward) {
    OpBuilder b(forward);
    Location loc = forward.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto step = func::FuncOp::create(b, loc, "moec_step",
                                     b.getFunctionType({pointer}, {}));
    step.getBody().takeBody(forward.getBody());
    forward.erase();
    Block *entry = &step.getBody().front();
    unsigned oldArguments = entry->getNumArguments();
    Value stepArgument = entry->addArgument(pointer, loc);

    b.setInsertionPointToStart(entry);
    auto readIntegers = [&](rt::Buffer buffer, rt::Extent extent) -> Value {
      Value size =
          rt::ExtentOp::create(b, loc, b.getIndexType(), stepArgument, extent);
      auto type = MemRefType::get({ShapedType::kDynamic}, b.getI32Type());
      Value memory = rt::BufferOp::create(b, loc, type, stepArgument, buffer,
                                          Value(), ValueRange{size});
      return bufferization::ToTensorOp::create(
          b, loc, RankedTensorType::get(type.getShape(), type.getElementType()),
          memory, /*restrict=*/true, /*writable=*/false);
    };
    // The order of @forward's arguments: ids, positions, rows of the logits.
    std::pair<rt::Buffer, rt::Extent> sources[] = {
        {rt::Buffer::token_ids, rt::Extent::num_tokens},
        {rt::Buffer::positions, rt::Extent::num_tokens},
        {rt::Buffer::logit_rows, rt::Extent::num_logits}};
    for (auto [number, source] : llvm::enumerate(sources)) {
      BlockArgument argument = entry->getArgument(number);
      Value rows = readIntegers(source.first, source.second);
      Value shaped =
          UnrealizedConversionCastOp::create(b, loc, argument.getType(), rows)
              .getResult(0);
      argument.replaceAllUsesWith(shaped);
    }
    BlockArgument cache = entry->getArgument(std::size(sources));
    cache.replaceAllUsesWith(UnrealizedConversionCastOp::create(
                                 b, loc, cache.getType(), ValueRange())
                                 .getResult(0));
    storeLogits(step, stepArgument);
    entry->eraseArguments(0, oldArguments);
  }

  void storeLogits(func::FuncOp step, Value stepArgument) {
    auto end = cast<func::ReturnOp>(step.getBody().front().getTerminator());
    OpBuilder b(end);
    Location loc = end.getLoc();
    Value logits = end.getOperand(0);
    auto type = cast<RankedTensorType>(logits.getType());
    Value rows = rt::ExtentOp::create(b, loc, b.getIndexType(), stepArgument,
                                      rt::Extent::num_logits);
    Value target = rt::BufferOp::create(
        b, loc, MemRefType::get(type.getShape(), type.getElementType()),
        stepArgument, rt::Buffer::logits, Value(), ValueRange{rows});
    auto materialize = bufferization::MaterializeInDestinationOp::create(
        b, loc, Type(), logits, target);
    materialize.setRestrict(true);
    materialize.setWritable(true);
    func::ReturnOp::create(b, loc);
    end.erase();
  }
};

} // namespace
