//===- PlanWorkspace.cpp - Place buffers in the workspace -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "llvm/Support/MathExtras.h"

namespace moec {
#define GEN_PASS_DEF_PLANWORKSPACE
#include "moec/Transforms/Passes.h.inc"
} // namespace moec

using namespace mlir;
using namespace moec;

namespace {

constexpr int64_t alignment = 64; // a cache line, and the widest vector

/// A buffer, its life and its place.
struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes; ///< in all, or per token
  bool perToken; ///< whether the size grows with the tokens
  int64_t begin; ///< number of the allocation
  int64_t end;   ///< number of the last operation that may touch it
  int64_t place = 0;
};

/// `value`, or a bound of it, as a multiple of the number of tokens. The rows
/// whose logits are wanted count as the tokens: the runtime takes no more of
/// them.
std::optional<int64_t> getMultipleOfTokens(Value value) {
  if (auto extent = value.getDefiningOp<rt::ExtentOp>()) {
    bool rows = extent.getExtent() == rt::Extent::num_tokens ||
                extent.getExtent() == rt::Extent::num_logits;
    return rows ? std::optional<int64_t>(1) : std::nullopt;
  }
  // The extent of a buffer that was itself made for so many rows.
  if (auto extent = value.getDefiningOp<memref::DimOp>()) {
    auto buffer = extent.getSource().getDefiningOp<rt::BufferOp>();
    auto dim = extent.getConstantIndex();
    if (buffer && dim == 0 && buffer.getSizes().size() == 1)
      return getMultipleOfTokens(buffer.getSizes().front());
    return std::nullopt;
  }
  // A minimum is bounded by either side.
  if (auto minimum = value.getDefiningOp<arith::MinUIOp>()) {
    auto bound = getMultipleOfTokens(minimum.getLhs());
    return bound ? bound : getMultipleOfTokens(minimum.getRhs());
  }
  auto product = value.getDefiningOp<arith::MulIOp>();
  if (!product)
    return std::nullopt;
  for (auto [factor, other] : {std::pair(product.getLhs(), product.getRhs()),
                               std::pair(product.getRhs(), product.getLhs())}) {
    auto constant = getConstantIntValue(factor);
    auto multiple = getMultipleOfTokens(other);
    if (constant && multiple)
      return *constant * *multiple;
  }
  return std::nullopt;
}

struct PlanWorkspace : moec::impl::PlanWorkspaceBase<PlanWorkspace> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    numberOperations(function);
    BufferViewFlowAnalysis views(function);
    SmallVector<Buffer> buffers;
    WalkResult result = function.walk([&](memref::AllocOp alloc) {
      if (alloc->getParentOfType<rt::ParallelOp>() ||
          alloc->getParentOfType<scf::ForallOp>())
        return WalkResult::advance(); // goes to the stack
      FailureOr<Buffer> buffer = describe(alloc, views);
      if (failed(buffer))
        return WalkResult::interrupt();
      buffers.push_back(*buffer);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (!buffers.empty() && !getStep()) {
      function.emitOpError(
          "expects the step (!llvm.ptr) as an argument to take buffers from");
      return signalPassFailure();
    }

    int64_t fixed = place(buffers, /*perToken=*/false);
    int64_t perToken = place(buffers, /*perToken=*/true);
    for (Buffer &buffer : buffers)
      replace(buffer, fixed);
    numPlaced += buffers.size();
    OpBuilder b(&getContext());
    function->setAttr("moec.workspace_bytes_fixed", b.getI64IntegerAttr(fixed));
    function->setAttr("moec.workspace_bytes_per_token",
                      b.getI64IntegerAttr(perToken));
  }

private:
  Value getStep() {
    for (BlockArgument argument : getOperation().getArguments())
      if (isa<LLVM::LLVMPointerType>(argument.getType()))
        return argument;
    return Value();
  }

  void numberOperations(func::FuncOp function) {
    int64_t number = 0;
    function.walk<WalkOrder::PreOrder>(
        [&](Operation *op) { first[op] = number++; });
    function.walk([&](Operation *op) {
      int64_t end = first[op];
      for (Region &region : op->getRegions())
        for (Operation &inner : region.getOps())
          end = std::max(end, last[&inner]);
      last[op] = end;
    });
  }

  FailureOr<Buffer> describe(memref::AllocOp alloc,
                             BufferViewFlowAnalysis &views) {
    MemRefType type = alloc.getType();
    if (!type.getLayout().isIdentity())
      return alloc.emitOpError("expects a dense row-major buffer, found ")
             << type;
    Buffer buffer{alloc, 0, false, first[alloc], first[alloc]};
    buffer.bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    for (int64_t extent : type.getShape())
      buffer.bytes *= ShapedType::isDynamic(extent) ? 1 : extent;
    for (Value size : alloc.getDynamicSizes()) {
      auto multiple = getMultipleOfTokens(size);
      if (!multiple || buffer.perToken)
        return alloc.emitOpError("expects a size that is static or linear in "
                                 "the number of tokens");
      buffer.bytes *= *multiple;
      buffer.perToken = true;
    }
    buffer.bytes = llvm::alignTo(buffer.bytes, alignment);

    Block *block = alloc->getBlock();
    for (Value view : views.resolve(alloc.getResult()))
      for (Operation *user : view.getUsers()) {
        Operation *ancestor = block->findAncestorOpInBlock(*user);
        if (!ancestor || ancestor == block->getTerminator())
          return alloc.emitOpError("expects a buffer that does not outlive its "
                                   "block");
        buffer.end = std::max(buffer.end, last[ancestor]);
      }
    return buffer;
  }

  /// First fit in the order of the program. Returns the bytes in all.
  int64_t place(MutableArrayRef<Buffer> buffers, bool perToken) {
    int64_t total = 0;
    SmallVector<Buffer *> placed;
    for (Buffer &buffer : buffers) {
      if (buffer.perToken != perToken)
        continue;
      SmallVector<Buffer *> alive;
      for (Buffer *other : placed)
        if (other->end >= buffer.begin && other->begin <= buffer.end)
          alive.push_back(other);
      llvm::sort(alive, [](Buffer *left, Buffer *right) {
        return left->place < right->place;
      });
      buffer.place = 0;
      for (Buffer *other : alive) {
        if (buffer.place + buffer.bytes <= other->place)
          break;
        buffer.place = std::max(buffer.place, other->place + other->bytes);
      }
      total = std::max(total, buffer.place + buffer.bytes);
      placed.push_back(&buffer);
    }
    return total;
  }

  void replace(Buffer &buffer, int64_t fixedBytes) {
    OpBuilder b(buffer.alloc);
    Location loc = buffer.alloc.getLoc();
    Value step = getStep();
    MemRefType type = buffer.alloc.getType();
    // In elements: places are multiples of 64 bytes, elements of 1 to 8.
    int64_t elementBytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    Value offset = arith::ConstantIndexOp::create(
        b, loc, (buffer.perToken ? fixedBytes : buffer.place) / elementBytes);
    if (buffer.perToken) {
      Value tokens = rt::ExtentOp::create(b, loc, b.getIndexType(), step,
                                          rt::Extent::num_tokens);
      Value stride =
          arith::ConstantIndexOp::create(b, loc, buffer.place / elementBytes);
      Value behind = arith::MulIOp::create(b, loc, tokens, stride);
      offset = arith::AddIOp::create(b, loc, offset, behind);
    }
    Value view = rt::BufferOp::create(b, loc, type, step, rt::Buffer::workspace,
                                      offset, buffer.alloc.getDynamicSizes());
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }

  llvm::DenseMap<Operation *, int64_t> first, last;
};

} // namespace
