//===- StepLayout.h - Where a step finds weights and taps -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_CONVERSION_STEPLAYOUT_H
#define MOEC_CONVERSION_STEPLAYOUT_H

#include "dialects/Transformer/TransformerOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace moec {

/// Where the values of a `transformer.tap` lie in the tap buffer, in values per
/// token (docs/artifact-format.md, "Taps").
struct TapPlace {
  int64_t offset; ///< of the first layer
  int64_t stride; ///< from layer to layer; 0 outside of `layers`
  int64_t width;  ///< values per token
};

/// The numbering of weight slots and taps. The code that a module is lowered to
/// and the manifest that describes it both come from here.
class StepLayout {
public:
  explicit StepLayout(mlir::ModuleOp module);

  /// First slot of a parameter; its layers and experts follow in order.
  int64_t getSlot(llvm::StringRef parameter) const {
    return slots.lookup(parameter);
  }
  int64_t getNumSlots() const { return numSlots; }

  TapPlace getTap(transformer::TapOp tap) const { return taps.lookup(tap); }
  llvm::ArrayRef<transformer::TapOp> getTaps() const { return tapOrder; }
  /// 4-byte values per token in all.
  int64_t getTapValues() const { return tapValues; }

private:
  llvm::StringMap<int64_t> slots;
  llvm::DenseMap<mlir::Operation *, TapPlace> taps;
  llvm::SmallVector<transformer::TapOp> tapOrder;
  int64_t numSlots = 0, tapValues = 0;
};

} // namespace moec

#endif // MOEC_CONVERSION_STEPLAYOUT_H
