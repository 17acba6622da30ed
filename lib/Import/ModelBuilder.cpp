//===- ModelBuilder.cpp - Parameters, locations, small steps -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

using namespace mlir;
using namespace moec;
namespace tf = moec::transformer;

ModelBuilder::ModelBuilder(OpBuilder &b, ModuleOp module,
                           const ModelConfig &config,
                           const ImportOptions &options)
    : b(b), config(config), options(options),
      element(options.activations == Activations::f32 || options.residualF32
                  ? Type(b.getF32Type())
                  : Type(b.getBF16Type())),
      loc(b.getUnknownLoc()), module(module) {}

//===----------------------------------------------------------------------===//
// Evidence
//===----------------------------------------------------------------------===//

void ModelBuilder::at(StringRef moduleName, ArrayRef<StringRef> keys,
                      StringRef modelingClass) {
  SmallVector<Location> evidence;
  for (StringRef key : keys)
    llvm::append_range(evidence, config.locationsOf(key));
  auto found = config.modelingClasses.find(modelingClass);
  if (found != config.modelingClasses.end())
    evidence.push_back(found->second.loc);
  std::string name = config.tensor_prefix;
  if (range) {
    name += "model.layers.{layer}";
    if (!moduleName.empty())
      name += "." + moduleName.str();
  } else {
    name += moduleName.str();
  }
  loc = NameLoc::get(b.getStringAttr(name), b.getFusedLoc(evidence));
}

void ModelBuilder::enterLayers(const LayerRange &layers) { range = layers; }

void ModelBuilder::leaveLayers() {
  range.reset();
  layer = Value();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

RankedTensorType ModelBuilder::activation(ArrayRef<int64_t> shape) const {
  return RankedTensorType::get(shape, element);
}

tf::RopeAttr ModelBuilder::getRope() const {
  tf::YarnAttr yarn;
  if (config.yarn) {
    auto number = [&](double value) { return b.getF64FloatAttr(value); };
    yarn = tf::YarnAttr::get(
        b.getContext(), number(config.yarn->factor),
        number(config.yarn->beta_fast), number(config.yarn->beta_slow),
        number(config.yarn->mscale), number(config.yarn->mscale_all_dim),
        config.yarn->original_max_position_embeddings);
  }
  return tf::RopeAttr::get(b.getContext(), b.getF64FloatAttr(config.rope_theta),
                           config.qk_rope_head_dim, yarn);
}

Type ModelBuilder::getWeightElement() const {
  switch (config.weightType) {
  case WeightType::BF16:
    return b.getBF16Type();
  case WeightType::F16:
    return b.getF16Type();
  case WeightType::F32:
    return b.getF32Type();
  }
  llvm_unreachable("every weight type has an element type");
}

bool ModelBuilder::isFP8(StringRef moduleName) const {
  // Router, embedding and head stay as they are in the family's checkpoints.
  return config.fp8 && range && moduleName != "mlp.gate" &&
         config.fp8->converts(range->begin, moduleName);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Value ModelBuilder::getParameter(StringRef tensor, Type type, Value expert,
                                 bool isWidened) {
  std::string name = config.tensor_prefix, symbol;
  if (range) {
    name += "model.layers.{layer}.";
    // Two ranges of layers have parameters of their own, with one name.
    symbol = "layers." + std::to_string(range->begin) + ".";
  }
  StringRef experts = "experts.";
  std::string inLayer = tensor.str();
  if (expert) {
    size_t end = inLayer.find(experts.str()) + experts.size();
    inLayer.insert(end, "{expert}.");
  }
  name += inLayer;
  symbol += tensor.str();
  if (!SymbolTable::lookupSymbolIn(module, symbol)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(&module.getBody()->back());
    auto optional = [&](bool given, int64_t value) {
      return given ? b.getI64IntegerAttr(value) : IntegerAttr();
    };
    bool scaled = isa<tf::BlockScaledType>(type);
    tf::ParameterOp::create(
        b, loc, b.getStringAttr(symbol), b.getStringAttr(name),
        scaled ? b.getStringAttr(name + "_scale_inv") : StringAttr(),
        optional(range.has_value(), range ? range->begin : 0),
        optional(range.has_value(), range ? range->end : 0),
        optional(!!expert, config.n_routed_experts),
        isWidened ? b.getUnitAttr() : UnitAttr(), TypeAttr::get(type));
  }
  return tf::WeightOp::create(b, loc, type,
                              FlatSymbolRefAttr::get(b.getContext(), symbol),
                              range ? layer : Value(), expert);
}

Value ModelBuilder::weight(StringRef moduleName, int64_t out, int64_t in,
                           Value expert) {
  Type type = RankedTensorType::get({out, in}, getWeightElement());
  if (isFP8(moduleName))
    type = tf::BlockScaledType::get(
        b.getContext(), {out, in}, Float8E4M3FNType::get(b.getContext()),
        b.getF32Type(), {config.fp8->rows, config.fp8->cols});
  return getParameter((moduleName + ".weight").str(), type, expert,
                      /*isWidened=*/false);
}

Value ModelBuilder::plainWeight(StringRef tensor, int64_t out, int64_t in) {
  return getParameter(tensor,
                      RankedTensorType::get({out, in}, getWeightElement()),
                      Value(), /*isWidened=*/false);
}

Value ModelBuilder::widened(StringRef tensor, int64_t size) {
  return getParameter(tensor, RankedTensorType::get({size}, b.getF32Type()),
                      Value(), /*isWidened=*/true);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value ModelBuilder::norm(Value x, StringRef moduleName, double eps) {
  int64_t size = cast<RankedTensorType>(x.getType()).getShape().back();
  Value gain = widened((moduleName + ".weight").str(), size);
  return tf::RmsNormOp::create(b, loc, x.getType(), x, gain,
                               b.getF64FloatAttr(eps));
}

Value ModelBuilder::finalNorm(Value x) {
  return norm(x, "model.norm", config.rms_norm_eps);
}

Value ModelBuilder::quantizeFor(Value x, StringRef moduleName) {
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (!type || options.activations != Activations::fp8 || !isFP8(moduleName))
    return x;
  Value &codes = quantized[x];
  if (codes)
    return codes;
  SmallVector<int64_t> block(type.getRank(), 1);
  block.back() = config.fp8->cols;
  codes = tf::QuantizeOp::create(
      b, loc,
      tf::BlockScaledType::get(b.getContext(), type.getShape(),
                               Float8E4M3FNType::get(b.getContext()),
                               b.getF32Type(), block),
      x);
  return codes;
}

Value ModelBuilder::linear(Value x, StringRef moduleName, int64_t out,
                           Value expert, Type resultElement) {
  Value input = quantizeFor(x, moduleName);
  SmallVector<int64_t> shape;
  if (auto type = dyn_cast<tf::BlockScaledType>(input.getType()))
    shape.assign(type.getShape().begin(), type.getShape().end());
  else
    llvm::append_range(shape,
                       cast<RankedTensorType>(input.getType()).getShape());
  Value w = weight(moduleName, out, shape.back(), expert);
  shape.back() = out;
  auto type =
      RankedTensorType::get(shape, resultElement ? resultElement : element);
  return tf::LinearOp::create(b, loc, type, input, w);
}

Value ModelBuilder::rotate(Value x, Value cos, Value sin) {
  return tf::RopeOp::create(b, loc, x.getType(), x, cos, sin,
                            config.rope_interleave ? b.getUnitAttr()
                                                   : UnitAttr());
}

void ModelBuilder::tap(Value x, StringRef name) {
  if (!options.taps)
    return;
  std::string full = range ? "layers.{layer}." + name.str() : name.str();
  tf::TapOp::create(b, loc, x, full, range ? layer : Value());
}
