//===- FusedBufferization.cpp - Kernels on buffers -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace moec;
using namespace moec::fused;

namespace {

/// Every kernel overwrites its destinations whole and reads its inputs, so one
/// model serves all.
template <typename Op>
struct KernelModel
    : DstBufferizableOpInterfaceExternalModel<KernelModel<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return cast<DestinationStyleOpInterface>(op).isDpsInput(&operand);
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  /// A kernel's tasks read all of an input while others already write: an
  /// input never shares its buffer with a destination.
  bool bufferizesToElementwiseAccess(Operation *, const AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return false;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType())) {
        operands.push_back(operand);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
    }
    OperationState kernel(op->getLoc(), op->getName(), operands, TypeRange(),
                          op->getAttrs());
    kernel.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.create(kernel);
    SmallVector<Value> results;
    for (OpOperand &init :
         cast<DestinationStyleOpInterface>(op).getDpsInitsMutable())
      results.push_back(operands[init.getOperandNumber()]);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

template <typename... Ops> void attachModels(MLIRContext *context) {
  (Ops::template attachInterface<KernelModel<Ops>>(*context), ...);
}

} // namespace

void moec::fused::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FusedDialect *) {
    attachModels<AddOp, CacheWriteOp, CombineOp, DispatchOp, GatherRowsOp,
                 GroupedLinearOp, LinearOp, MlaAttentionOp, MlaPrepareOp,
                 QuantizeOp, RmsNormOp, RopeOp, RouterOp, SwigluOp>(context);
  });
}
