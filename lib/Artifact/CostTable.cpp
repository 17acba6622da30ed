//===- CostTable.cpp - What each kernel of a step costs -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "dialects/Transformer/TransformerOps.h"
#include "moec/Artifact/Manifest.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace moec;

namespace {

/// The names of the weights by slot, in the order of the parameters.
class WeightNames {
public:
  explicit WeightNames(ModuleOp module) {
    for (auto parameter : module.getOps<transformer::ParameterOp>()) {
      int64_t layers = parameter.getLayerEnd().value_or(1) -
                       parameter.getLayerBegin().value_or(0);
      end += layers * parameter.getExperts().value_or(1);
      ranges.emplace_back(end, parameter.getTensorName());
    }
  }

  /// The name of the first weight that a kernel reads, or nothing.
  StringRef getName(Operation *kernel) const {
    for (Value operand : kernel->getOperands()) {
      // Weights are read as tensors; a grouped kernel is given their slots.
      if (auto tensor = operand.getDefiningOp<bufferization::ToTensorOp>())
        if (auto weight = tensor.getBuffer().getDefiningOp<rt::WeightOp>())
          return find(weight.getSlot());
    }
    auto grouped = dyn_cast<fused::GroupedLinearOp>(kernel);
    return grouped ? find(grouped.getSlots()[0]) : StringRef();
  }

private:
  StringRef find(Value slot) const {
    std::optional<int64_t> number = evaluate(slot);
    for (const auto &[rangeEnd, name] : ranges)
      if (number && *number < rangeEnd)
        return name;
    return {};
  }

  /// A slot's number in the first layer and of the first expert.
  static std::optional<int64_t> evaluate(Value value) {
    if (auto constant = getConstantIntValue(value))
      return constant;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument == loop.getInductionVar())
        return getConstantIntValue(loop.getLowerBound());
      return isa<fused::ExpertsOp>(argument.getOwner()->getParentOp())
                 ? std::optional<int64_t>(0)
                 : std::nullopt;
    }
    Operation *op = value.getDefiningOp();
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      return std::nullopt;
    auto left = evaluate(op->getOperand(0)),
         right = evaluate(op->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return *left + *right;
    return isa<arith::SubIOp>(op) ? *left - *right : *left * *right;
  }

  int64_t end = 0;
  SmallVector<std::pair<int64_t, StringRef>> ranges; ///< end of slots, name
};

} // namespace

/// How often a step runs `op`: once for each layer of its range.
static int64_t getRuns(Operation *op) {
  int64_t runs = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    auto begin = getConstantIntValue(loop.getLowerBound());
    auto end = getConstantIntValue(loop.getUpperBound());
    if (begin && end)
      runs *= std::max<int64_t>(*end - *begin, 0);
  }
  return runs;
}

static StringRef getRowsName(fused::RowKind kind) {
  switch (kind) {
  case fused::RowKind::tokens:
    return "tokens";
  case fused::RowKind::logits:
    return "logits";
  case fused::RowKind::pairs:
    return "pairs";
  }
  llvm_unreachable("every kind has a name");
}

static DictionaryAttr describe(fused::KernelOpInterface op,
                               const WeightNames &names) {
  fused::KernelCost cost = op.getCost();
  // A kernel in an expert's body runs on the pairs of that expert.
  if (auto experts = op->getParentOfType<fused::ExpertsOp>()) {
    cost.rows = fused::RowKind::pairs;
    cost.experts = experts.getExperts();
    cost.weightBytesPerExpert = std::exchange(cost.weightBytes, 0);
  }
  Builder b(op.getContext());
  StringRef kernel = op->getName().getStringRef();
  StringRef name = names.getName(op);
  NamedAttrList entry;
  entry.append("kernel", b.getStringAttr(kernel));
  entry.append("name", b.getStringAttr(name.empty() ? kernel : name));
  entry.append("layers", b.getI64IntegerAttr(getRuns(op)));
  entry.append("rows", b.getStringAttr(getRowsName(cost.rows)));
  std::pair<StringRef, int64_t> numbers[] = {
      {"weight_bytes", cost.weightBytes},
      {"experts", cost.experts},
      {"weight_bytes_per_expert", cost.weightBytesPerExpert},
      {"flops_per_row", cost.flopsPerRow},
      {"activation_bytes_per_row", cost.activationBytesPerRow},
      {"flops_per_row_and_position", cost.flopsPerRowAndPosition},
      {"cache_bytes_per_row_and_position", cost.cacheBytesPerRowAndPosition}};
  for (auto [key, value] : numbers)
    entry.append(key, b.getI64IntegerAttr(value));
  return entry.getDictionary(op.getContext());
}

ArrayAttr moec::describeCost(ModuleOp module) {
  WeightNames names(module);
  SmallVector<Attribute> entries;
  module.walk([&](fused::KernelOpInterface op) {
    if (!isa<fused::ExpertsOp>(op) && getRuns(op) > 0)
      entries.push_back(describe(op, names));
  });
  return ArrayAttr::get(module.getContext(), entries);
}
