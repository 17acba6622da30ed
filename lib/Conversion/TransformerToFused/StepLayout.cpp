//===- StepLayout.cpp - Where a step finds weights and taps -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Conversion/StepLayout.h"

using namespace mlir;
using namespace moec;

/// Values per token of a tapped tensor: its static dimensions.
static int64_t getWidth(transformer::TapOp tap) {
  int64_t width = 1;
  for (int64_t extent : cast<RankedTensorType>(tap.getX().getType()).getShape())
    if (!ShapedType::isDynamic(extent))
      width *= extent;
  return width;
}

StepLayout::StepLayout(ModuleOp module) {
  for (auto parameter : module.getOps<transformer::ParameterOp>()) {
    slots[parameter.getSymName()] = numSlots;
    int64_t layers = parameter.getLayerEnd().value_or(1) -
                     parameter.getLayerBegin().value_or(0);
    numSlots += layers * parameter.getExperts().value_or(1);
  }
  module.walk([&](transformer::TapOp tap) { tapOrder.push_back(tap); });

  for (transformer::TapOp tap : tapOrder)
    if (!tap->getParentOfType<transformer::LayersOp>()) {
      taps[tap] = {tapValues, 0, getWidth(tap)};
      tapValues += getWidth(tap);
    }
  // The taps of a layer lie side by side, the layers one after the other.
  module.walk([&](transformer::LayersOp layers) {
    int64_t stride = 0;
    SmallVector<transformer::TapOp> inside;
    layers.walk([&](transformer::TapOp tap) {
      taps[tap] = {tapValues + stride, 0, getWidth(tap)};
      stride += getWidth(tap);
      inside.push_back(tap);
    });
    for (transformer::TapOp tap : inside)
      taps[tap].stride = stride;
    tapValues += stride * (layers.getLayerEnd() - layers.getLayerBegin());
  });
}
