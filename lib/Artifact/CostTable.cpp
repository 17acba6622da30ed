//===- CostTable.cpp - What each kernel of a step costs -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"
#include "moec/Artifact/Manifest.h"

using namespace mlir;
using namespace moec;

/// The name that a location carries, of a parameter as a rule.
static StringRef getName(Location location) {
  StringRef name;
  location->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part)) {
      name = named.getName();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

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

static DictionaryAttr describe(fused::KernelOpInterface op) {
  fused::KernelCost cost = op.getCost();
  // A kernel in an expert's body runs on the pairs of that expert.
  if (auto experts = op->getParentOfType<fused::ExpertsOp>()) {
    cost.rows = fused::RowKind::pairs;
    cost.experts = experts.getExperts();
    cost.weightBytesPerExpert = std::exchange(cost.weightBytes, 0);
  }
  Builder b(op.getContext());
  StringRef kernel = op->getName().getStringRef();
  StringRef name = getName(op.getLoc());
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
  SmallVector<Attribute> entries;
  module.walk([&](fused::KernelOpInterface op) {
    if (!isa<fused::ExpertsOp>(op) && getRuns(op) > 0)
      entries.push_back(describe(op));
  });
  return ArrayAttr::get(module.getContext(), entries);
}
