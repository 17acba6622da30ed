//===- OutlineParallel.cpp - Parallel bodies to functions -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Conversion/Passes.h"
#include "moec/moec_runtime.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace moec {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "moec/Conversion/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

struct OutlineParallel : moec::impl::OutlineParallelBase<OutlineParallel> {
  void runOnOperation() override {
    for (auto function :
         llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>())) {
      SmallVector<rt::ParallelOp> parallels;
      function.walk([&](rt::ParallelOp op) { parallels.push_back(op); });
      for (auto [number, op] : llvm::enumerate(parallels))
        if (failed(outline(op, function, number)))
          return signalPassFailure();
    }
    shareEqualTasks();
  }

private:
  /// Dense and mixture-of-experts layers have many kernels in common. Equal
  /// tasks are compiled once.
  void shareEqualTasks() {
    llvm::DenseMap<llvm::hash_code, SmallVector<LLVM::LLVMFuncOp>> tasks;
    for (auto task : llvm::make_early_inc_range(
             getOperation().getOps<LLVM::LLVMFuncOp>())) {
      if (task.getLinkage() != LLVM::Linkage::Internal)
        continue;
      llvm::hash_code hash(0);
      task.walk([&](Operation *op) {
        hash = llvm::hash_combine(hash, op->getName(), op->getNumOperands());
      });
      SmallVector<LLVM::LLVMFuncOp> &same = tasks[hash];
      LLVM::LLVMFuncOp *equal =
          llvm::find_if(same, [&](LLVM::LLVMFuncOp other) {
            return OperationEquivalence::isRegionEquivalentTo(
                &task.getBody(), &other.getBody(),
                OperationEquivalence::IgnoreLocations);
          });
      if (equal == same.end()) {
        same.push_back(task);
        continue;
      }
      if (succeeded(SymbolTable::replaceAllSymbolUses(
              task, equal->getSymNameAttr(), getOperation()))) {
        task.erase();
        ++numShared;
      }
    }
  }

  /// Copies constants into the body, so that they are not passed through
  /// memory.
  void sinkConstants(Region &body) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(body, used);
    OpBuilder b(body);
    for (Value value : used)
      if (Operation *op = value.getDefiningOp();
          op && op->hasTrait<OpTrait::ConstantLike>())
        replaceAllUsesInRegionWith(value, b.clone(*op)->getResult(0), body);
  }

  LogicalResult outline(rt::ParallelOp op, LLVM::LLVMFuncOp parent,
                        unsigned number) {
    sinkConstants(op.getBody());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getBody(), captured);
    SmallVector<Type> types;
    for (Value value : captured) {
      if (!LLVM::isCompatibleType(value.getType()))
        return op.emitOpError("expects LLVM types in its body: lower to the "
                              "LLVM dialect first, found ")
               << value.getType();
      types.push_back(value.getType());
    }
    auto environment = LLVM::LLVMStructType::getLiteral(&getContext(), types);
    LLVM::LLVMFuncOp task =
        createTask(op, parent, number, environment, captured.getArrayRef());
    callTask(op, parent, task, environment, captured.getArrayRef());
    op.erase();
    ++numOutlined;
    return success();
  }

  LLVM::LLVMFuncOp createTask(rt::ParallelOp op, LLVM::LLVMFuncOp parent,
                              unsigned number, LLVM::LLVMStructType environment,
                              ArrayRef<Value> captured) {
    OpBuilder b(parent);
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = b.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(&getContext()), {pointer, i64, i64});
    b.setInsertionPointAfter(parent);
    auto task = LLVM::LLVMFuncOp::create(
        b, op.getLoc(), (parent.getName() + "_task_" + Twine(number)).str(),
        type, LLVM::Linkage::Internal);
    Block *entry = task.addEntryBlock(b);
    b.setInsertionPointToStart(entry);
    Location loc = op.getLoc();
    for (auto [position, value] : llvm::enumerate(captured)) {
      Value address =
          LLVM::GEPOp::create(b, loc, pointer, environment, task.getArgument(0),
                              ArrayRef<LLVM::GEPArg>{0, int32_t(position)});
      Value loaded = LLVM::LoadOp::create(b, loc, value.getType(), address);
      replaceAllUsesInRegionWith(value, loaded, op.getBody());
    }
    Block *body = &op.getBody().front();
    task.getBody().getBlocks().splice(task.getBody().end(),
                                      op.getBody().getBlocks());
    LLVM::BrOp::create(
        b, loc, ValueRange{task.getArgument(1), task.getArgument(2)}, body);
    task.walk([](rt::YieldOp yield) {
      OpBuilder atEnd(yield);
      LLVM::ReturnOp::create(atEnd, yield.getLoc(), ValueRange());
      yield.erase();
    });
    hoistAllocas(task);
    return task;
  }

  /// Allocas of the body's first block belong into the function's entry block.
  void hoistAllocas(LLVM::LLVMFuncOp task) {
    Block *entry = &task.getBody().front();
    for (auto alloca : llvm::to_vector(task.getOps<LLVM::AllocaOp>())) {
      Operation *size = alloca.getArraySize().getDefiningOp();
      if (!size || !size->hasTrait<OpTrait::ConstantLike>())
        continue;
      OpBuilder b(entry, entry->begin());
      alloca.getArraySizeMutable().assign(b.clone(*size)->getResult(0));
      alloca->moveAfter(&entry->front());
    }
  }

  void callTask(rt::ParallelOp op, LLVM::LLVMFuncOp parent,
                LLVM::LLVMFuncOp task, LLVM::LLVMStructType environment,
                ArrayRef<Value> captured) {
    Location loc = op.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    OpBuilder b(&parent.getBody().front(), parent.getBody().front().begin());
    Value one = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    Value env = LLVM::AllocaOp::create(b, loc, pointer, environment, one);
    b.setInsertionPoint(op);
    for (auto [position, value] : llvm::enumerate(captured)) {
      Value address =
          LLVM::GEPOp::create(b, loc, pointer, environment, env,
                              ArrayRef<LLVM::GEPArg>{0, int32_t(position)});
      LLVM::StoreOp::create(b, loc, value, address);
    }
    auto loadField = [&](Value base, size_t offset) -> Value {
      Value address =
          LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                              ArrayRef<LLVM::GEPArg>{int32_t(offset)});
      return LLVM::LoadOp::create(b, loc, pointer, address);
    };
    Value parallel =
        loadField(op.getStep(), offsetof(moec_step_args, parallel));
    Value run = loadField(parallel, offsetof(moec_parallel, run));
    Value user = loadField(parallel, offsetof(moec_parallel, user));
    Value address = LLVM::AddressOfOp::create(b, loc, task);
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(&getContext()),
        {pointer, b.getI64Type(), pointer, pointer});
    LLVM::CallOp::create(b, loc, type,
                         ValueRange{run, user, op.getCount(), address, env});
  }
};

} // namespace
