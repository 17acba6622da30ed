//===- TransformerDialect.cpp - Types and attributes -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Transformer/TransformerOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace moec::transformer;

#include "dialects/Transformer/TransformerDialect.cpp.inc"
#include "dialects/Transformer/TransformerEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Transformer/TransformerAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Transformer/TransformerTypes.cpp.inc"

void TransformerDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Transformer/TransformerAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Transformer/TransformerTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Transformer/TransformerOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// BlockScaledType
//===----------------------------------------------------------------------===//

Type BlockScaledType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, block;
  FloatType payload, scale;
  // The payload's type ends the dimension list, as in a tensor type.
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true,
                                /*withTrailingX=*/false) ||
      parser.parseComma() || parser.parseType(payload) || parser.parseComma() ||
      parser.parseType(scale) || parser.parseComma() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(block.emplace_back()); }) ||
      parser.parseGreater())
    return Type();
  return parser.getChecked<BlockScaledType>(parser.getContext(), shape, payload,
                                            scale, block);
}

void BlockScaledType::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleave(
      getShape(), printer.getStream(),
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          printer << "?";
        else
          printer << extent;
      },
      "x");
  printer << ", " << getPayload() << ", " << getScale() << ", [";
  llvm::interleaveComma(getBlock(), printer);
  printer << "]>";
}

LogicalResult
BlockScaledType::verify(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<int64_t> shape, FloatType payload,
                        FloatType scale, ArrayRef<int64_t> block) {
  if (shape.size() < 2)
    return emitError() << "expects at least 2 dimensions, found "
                       << shape.size();
  if (shape.size() != block.size())
    return emitError() << "expects a block size for each of the "
                       << shape.size() << " dimensions, found " << block.size();
  if (!isa<Float8E4M3FNType>(payload))
    return emitError() << "expects a payload of f8E4M3FN, found " << payload;
  if (!scale.isF32())
    return emitError() << "expects scales of f32, found " << scale;
  for (auto [extent, size] : llvm::zip(shape, block)) {
    if (size < 1)
      return emitError() << "expects positive block sizes, found " << size;
    if (ShapedType::isDynamic(extent) && size != 1)
      return emitError() << "expects a block of 1 along a dynamic dimension, "
                            "found "
                         << size;
  }
  return success();
}

SmallVector<int64_t> BlockScaledType::getScaleShape() const {
  SmallVector<int64_t> scales;
  for (auto [extent, size] : llvm::zip(getShape(), getBlock()))
    scales.push_back(ShapedType::isDynamic(extent)
                         ? extent
                         : llvm::divideCeil(extent, size));
  return scales;
}

LogicalResult
LatentCacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t layers, int64_t kvLoraRank,
                        int64_t qkRopeHeadDim, FloatType elementType) {
  if (layers < 1 || kvLoraRank < 1 || qkRopeHeadDim < 1)
    return emitError() << "expects positive sizes, found layers = " << layers
                       << ", kv_lora_rank = " << kvLoraRank
                       << ", rope = " << qkRopeHeadDim;
  if (!elementType.isF32() && !elementType.isBF16())
    return emitError() << "expects elements of f32 or bf16, found "
                       << elementType;
  return success();
}

//===----------------------------------------------------------------------===//
// RopeAttr
//===----------------------------------------------------------------------===//

LogicalResult YarnAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               FloatAttr factor, FloatAttr betaFast,
                               FloatAttr betaSlow, FloatAttr mscale,
                               FloatAttr mscaleAllDim, int64_t length) {
  for (FloatAttr number : {factor, betaFast, betaSlow, mscale, mscaleAllDim})
    if (!number.getValue().isFinite())
      return emitError() << "expects finite numbers, found " << number;
  for (FloatAttr number : {factor, betaFast, betaSlow, mscale, mscaleAllDim})
    if (!number.getType().isF64())
      return emitError() << "expects numbers of f64, found " << number;
  if (factor.getValueAsDouble() < 1)
    return emitError() << "expects factor >= 1, found " << factor;
  if (betaFast.getValueAsDouble() <= 0 || betaSlow.getValueAsDouble() <= 0)
    return emitError() << "expects beta_fast and beta_slow above 0, found "
                       << betaFast << " and " << betaSlow;
  if (length < 1)
    return emitError()
           << "expects original_max_position_embeddings >= 1, found " << length;
  return success();
}

LogicalResult RopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               FloatAttr theta, int64_t dim, YarnAttr yarn) {
  if (!theta.getType().isF64())
    return emitError() << "expects theta of f64, found " << theta;
  if (!theta.getValue().isFinite() || !(theta.getValueAsDouble() > 1))
    return emitError() << "expects theta above 1, found "
                       << theta.getValueAsDouble();
  constexpr int64_t maxDim = 65536;
  if (dim < 2 || dim % 2 != 0 || dim > maxDim)
    return emitError() << "expects an even dim from 2 to " << maxDim
                       << ", found " << dim;
  return success();
}

/// get_mscale of the YaRN modelling code.
static double getMscale(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

SmallVector<float> RopeAttr::getInverseFrequencies() const {
  int64_t dim = getDim();
  double theta = getTheta().getValueAsDouble();
  SmallVector<float> frequencies;
  double low = 0, high = 0;
  if (YarnAttr yarn = getYarn()) {
    // The dimension that turns `rotations` times over the original length.
    double length = yarn.getOriginalMaxPositionEmbeddings();
    auto getDimension = [&](FloatAttr rotations) {
      return dim *
             std::log(length / (rotations.getValueAsDouble() * 2 * M_PI)) /
             (2 * std::log(theta));
    };
    // Both ends within [0, dim - 1]: an end at infinity would make the ramp
    // NaN.
    low = std::clamp(std::floor(getDimension(yarn.getBetaFast())), 0.0,
                     dim - 1.0);
    high =
        std::clamp(std::ceil(getDimension(yarn.getBetaSlow())), 0.0, dim - 1.0);
    if (low == high)
      high += 0.001;
  }
  for (int64_t pair = 0; pair < dim / 2; ++pair) {
    double frequency = std::pow(theta, -2.0 * pair / dim);
    if (YarnAttr yarn = getYarn()) {
      double ramp = std::clamp((pair - low) / (high - low), 0.0, 1.0);
      frequency = frequency / yarn.getFactor().getValueAsDouble() * ramp +
                  frequency * (1 - ramp);
    }
    frequencies.push_back(frequency);
  }
  return frequencies;
}

double RopeAttr::getCosSinScale() const {
  YarnAttr yarn = getYarn();
  if (!yarn)
    return 1.0;
  double factor = yarn.getFactor().getValueAsDouble();
  return getMscale(factor, yarn.getMscale().getValueAsDouble()) /
         getMscale(factor, yarn.getMscaleAllDim().getValueAsDouble());
}

double RopeAttr::getSoftmaxScaleFactor() const {
  YarnAttr yarn = getYarn();
  if (!yarn || yarn.getMscaleAllDim().getValueAsDouble() == 0)
    return 1.0;
  double mscale = getMscale(yarn.getFactor().getValueAsDouble(),
                            yarn.getMscaleAllDim().getValueAsDouble());
  return mscale * mscale;
}
