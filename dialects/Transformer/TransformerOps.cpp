//===- TransformerOps.cpp - Verifiers, folders, assembly -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Transformer/TransformerOps.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace moec::transformer;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// `[1, 61)`: a half-open range of layers.
static ParseResult parseLayerRange(OpAsmParser &parser, IntegerAttr &begin,
                                   IntegerAttr &end) {
  int64_t first = 0, last = 0;
  if (parser.parseLSquare() || parser.parseInteger(first) ||
      parser.parseComma() || parser.parseInteger(last) || parser.parseRParen())
    return failure();
  begin = parser.getBuilder().getI64IntegerAttr(first);
  end = parser.getBuilder().getI64IntegerAttr(last);
  return success();
}

static void printLayerRange(OpAsmPrinter &printer, Operation *,
                            IntegerAttr begin, IntegerAttr end) {
  printer << "[" << begin.getInt() << ", " << end.getInt() << ")";
}

/// Initial values and results have the same types, which stand once.
static ParseResult parseCarriedTypes(OpAsmParser &parser,
                                     SmallVectorImpl<Type> &inits,
                                     SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(inits))
    return failure();
  results.assign(inits.begin(), inits.end());
  return success();
}

static void printCarriedTypes(OpAsmPrinter &printer, Operation *,
                              TypeRange inits, TypeRange) {
  llvm::interleaveComma(inits, printer);
}

#define GET_OP_CLASSES
#include "dialects/Transformer/TransformerOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static RankedTensorType getTensor(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static ArrayRef<int64_t> getShape(Type type) {
  if (auto scaled = dyn_cast<BlockScaledType>(type))
    return scaled.getShape();
  return cast<RankedTensorType>(type).getShape();
}

static bool isF32Tensor(Type type) {
  return cast<RankedTensorType>(type).getElementType().isF32();
}

/// Checks the rank of a tensor called `name` in the message.
static LogicalResult verifyRank(Operation *op, StringRef name, Type type,
                                size_t rank, StringRef form) {
  if (getShape(type).size() == rank)
    return success();
  return op->emitOpError("expects ")
         << name << " " << form << ", found " << type;
}

static LogicalResult verifySize(Operation *op, StringRef what, int64_t found,
                                StringRef expectedWhat, int64_t expected) {
  if (found == expected)
    return success();
  return op->emitOpError("expects ")
         << what << " (" << found << ") = " << expectedWhat << " (" << expected
         << ")";
}

/// Rows of features: [rows, D] or [B, T, D].
static LogicalResult verifyRows(Operation *op, StringRef name, Type type,
                                size_t maxRank = 3) {
  ArrayRef<int64_t> shape = getShape(type);
  if (shape.size() < 2 || shape.size() > maxRank)
    return op->emitOpError("expects ")
           << name << " of rank 2 to " << maxRank << ", found " << type;
  if (ShapedType::isDynamic(shape.back()))
    return op->emitOpError("expects a static last size of ")
           << name << ", found " << type;
  return success();
}

static LogicalResult verifyFinite(Operation *op, StringRef name,
                                  const APFloat &value) {
  if (value.isFinite())
    return success();
  return op->emitOpError("expects a finite ")
         << name << ", found " << value.convertToDouble();
}

/// The first `count` dimensions (B and T) agree; a dynamic one agrees with any.
static LogicalResult verifyLeading(Operation *op, StringRef name, Type type,
                                   StringRef otherName, Type other,
                                   size_t count) {
  ArrayRef<int64_t> found = getShape(type), expected = getShape(other);
  if (found.size() >= count && expected.size() >= count &&
      succeeded(verifyCompatibleShape(found.take_front(count),
                                      expected.take_front(count))))
    return success();
  return op->emitOpError("expects ")
         << name << " and " << otherName << " to agree in the first " << count
         << " dimensions, found " << type << " and " << other;
}

static LogicalResult verifySameRows(Operation *op, Type left, Type right) {
  if (getShape(left).empty() || getShape(right).empty())
    return op->emitOpError("expects tensors with a last dimension, found ")
           << left << " and " << right;
  if (getShape(left).drop_back() == getShape(right).drop_back())
    return success();
  return op->emitOpError("expects equal dimensions before the last, found ")
         << left << " and " << right;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The transformer.layers whose layer `value` is: its body's first argument.
/// The other arguments are carried values.
static LayersOp getLayersOf(Value value) {
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  if (!argument || argument.getArgNumber() != 0)
    return {};
  return dyn_cast_or_null<LayersOp>(argument.getOwner()->getParentOp());
}

LogicalResult ParameterOp::verify() {
  bool hasLayer = getTensorName().contains("{layer}");
  if (getLayerBegin().has_value() != getLayerEnd().has_value())
    return emitOpError("expects both ends of the layer range or none");
  if (hasLayer != getLayerBegin().has_value())
    return emitOpError("expects {layer} in the tensor name if and only if a "
                       "layer range is given, found '")
           << getTensorName() << "'";
  // Larger numbers could not be told apart from damage, and their product with
  // the experts has to fit 64 bits.
  constexpr int64_t maxCount = int64_t(1) << 31;
  int64_t begin = getLayerBegin().value_or(0), end = getLayerEnd().value_or(1);
  if (end > maxCount)
    return emitOpError("expects a layer range that ends at ")
           << maxCount << " or before, found [" << begin << ", " << end << ")";
  if (begin < 0 || begin >= end)
    return emitOpError("expects a layer range that is not empty, found [")
           << begin << ", " << end << ")";
  if (getTensorName().contains("{expert}") != getExperts().has_value())
    return emitOpError("expects {expert} in the tensor name if and only if a "
                       "number of experts is given, found '")
           << getTensorName() << "'";
  int64_t experts = getExperts().value_or(1);
  if (experts < 1)
    return emitOpError("expects at least 1 expert, found ") << experts;
  if (experts > maxCount)
    return emitOpError("expects at most ")
           << maxCount << " experts, found " << experts;
  bool scaled = isa<BlockScaledType>(getType());
  if (!scaled && !isa<RankedTensorType>(getType()))
    return emitOpError("expects a tensor or a block-scaled type, found ")
           << getType();
  if (getShape(getType()).empty() ||
      llvm::any_of(getShape(getType()),
                   [](int64_t extent) { return extent < 1; }))
    return emitOpError("expects a static shape, found ") << getType();
  if (scaled != getScaleName().has_value())
    return emitOpError(
               "expects the scales' tensor name if and only if the type "
               "is block-scaled, found ")
           << getType();
  if (getWidened() && (scaled || !isF32Tensor(getType())))
    return emitOpError("expects a widened parameter to be a tensor of f32, "
                       "found ")
           << getType();
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError("expects a transformer.parameter named ")
           << getParameterAttr();
  auto note = [&](InFlightDiagnostic diagnostic) {
    diagnostic.attachNote(parameter.getLoc()) << "the parameter is here";
    return diagnostic;
  };
  if (parameter.getType() != getResult().getType())
    return note(emitOpError("expects the parameter's type ")
                << parameter.getType() << ", found " << getResult().getType());
  // The layer is the argument of an enclosing transformer.layers; a layer that
  // the parameter does not have would be another parameter's.
  LayersOp layers = getLayersOf(getLayer());
  if (layers && parameter.getLayerBegin() &&
      (layers.getLayerBegin() < *parameter.getLayerBegin() ||
       layers.getLayerEnd() > *parameter.getLayerEnd()))
    return note(emitOpError("expects the layers [")
                << layers.getLayerBegin() << ", " << layers.getLayerEnd()
                << ") to be in the parameter's range");
  auto number = dyn_cast_or_null<BlockArgument>(getExpert());
  auto experts = number ? dyn_cast<ExpertsOp>(number.getOwner()->getParentOp())
                        : ExpertsOp();
  if (experts && parameter.getExperts() &&
      experts.getExperts() > *parameter.getExperts())
    return note(emitOpError("expects the experts (")
                << experts.getExperts() << ") to be the parameter's");
  if (parameter.getLayerBegin().has_value() != !!getLayer())
    return note(
        emitOpError("expects a layer if and only if the parameter has a "
                    "range of layers"));
  if (parameter.getExperts().has_value() != !!getExpert())
    return note(
        emitOpError("expects an expert if and only if the parameter has "
                    "experts"));
  return success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  RankedTensorType ids = getTensor(getIds()), table = getTensor(getTable());
  auto result = cast<RankedTensorType>(getType());
  if (failed(verifyRank(*this, "ids", ids, 2, "[B, T]")) ||
      failed(verifyRank(*this, "table", table, 2, "[vocab_size, H]")) ||
      failed(verifyRank(*this, "the result", result, 3, "[B, T, H]")))
    return failure();
  if (failed(verifyLeading(*this, "the result", result, "ids", ids, 2)))
    return failure();
  return verifySize(*this, "the result's last size", result.getDimSize(2),
                    "the table's", table.getDimSize(1));
}

LogicalResult GatherRowsOp::verify() {
  RankedTensorType x = getTensor(getX()), rows = getTensor(getRows());
  auto result = cast<RankedTensorType>(getType());
  if (failed(verifyRank(*this, "x", x, 3, "[B, T, H]")) ||
      failed(verifyRank(*this, "rows", rows, 1, "of rank 1")) ||
      failed(verifyRank(*this, "the result", result, 2, "[rows, H]")))
    return failure();
  if (failed(verifyLeading(*this, "the result", result, "rows", rows, 1)))
    return failure();
  if (result.getElementType() != x.getElementType())
    return emitOpError("expects a result of ")
           << x.getElementType() << ", found " << result;
  return verifySize(*this, "the result's last size", result.getDimSize(1),
                    "that of x", x.getDimSize(2));
}

LogicalResult TapOp::verify() {
  if (getName().contains("{layer}") != !!getLayer())
    return emitOpError("expects {layer} in the name if and only if a layer is "
                       "given, found '")
           << getName() << "'";
  if ((*this)->getParentOfType<ExpertsOp>())
    return emitOpError("cannot stand in transformer.experts, whose rows are no "
                       "tokens of the batch");
  bool inLayers = !!(*this)->getParentOfType<LayersOp>();
  if (inLayers != !!getLayer())
    return emitOpError("expects a layer if and only if it stands in "
                       "transformer.layers");
  return success();
}

LogicalResult RmsNormOp::verify() {
  RankedTensorType x = getTensor(getX()), gain = getTensor(getGain());
  if (failed(verifyRank(*this, "gain", gain, 1, "of rank 1")) ||
      failed(verifyRows(*this, "x", x)) ||
      failed(verifyFinite(*this, "eps", getEps())))
    return failure();
  if (failed(verifySize(*this, "the gain's size", gain.getDimSize(0),
                        "the last size of x", x.getShape().back())))
    return failure();
  if (!(getEps().convertToDouble() > 0))
    return emitOpError("expects eps above 0, found ")
           << getEps().convertToDouble();
  return success();
}

LogicalResult SplitOp::verify() {
  RankedTensorType x = getTensor(getX());
  if (failed(verifyRows(*this, "x", x, /*maxRank=*/4)))
    return failure();
  if (getSizes().size() != getNumResults())
    return emitOpError("expects a result for each of the ")
           << getSizes().size() << " sizes, found " << getNumResults();
  int64_t sum = 0;
  for (auto [size, result] : llvm::zip(getSizes(), getResults())) {
    if (size < 1)
      return emitOpError("expects positive sizes, found ") << size;
    auto type = cast<RankedTensorType>(result.getType());
    if (failed(verifySameRows(*this, x, type)) ||
        failed(verifySize(*this, "a result's last size", type.getShape().back(),
                          "its size", size)))
      return failure();
    if (type.getElementType() != x.getElementType())
      return emitOpError("expects results of ")
             << x.getElementType() << ", found " << type;
    if (llvm::AddOverflow(sum, size, sum))
      return emitOpError("expects sizes whose sum fits 64 bits");
  }
  return verifySize(*this, "the sum of the sizes", sum, "the last size of x",
                    x.getShape().back());
}

LogicalResult SplitOp::fold(FoldAdaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  if (getNumResults() != 1 || getResult(0).getType() != getX().getType())
    return failure();
  results.push_back(getX());
  return success();
}

/// The two forms of heads: merged [B, T, A D] and split [B, T, A, D].
static LogicalResult verifyHeads(Operation *op, Type merged, Type split) {
  if (failed(verifyRank(op, "merged heads", merged, 3, "[B, T, A D]")) ||
      failed(verifyRank(op, "split heads", split, 4, "[B, T, A, D]")))
    return failure();
  ArrayRef<int64_t> shape = getShape(split);
  if (getElementTypeOrSelf(merged) != getElementTypeOrSelf(split))
    return op->emitOpError("expects equal element types, found ")
           << merged << " and " << split;
  int64_t product = 0;
  if (ShapedType::isDynamic(shape[2]) || ShapedType::isDynamic(shape[3]) ||
      ShapedType::isDynamic(getShape(merged)[2]) ||
      llvm::MulOverflow(shape[2], shape[3], product))
    return op->emitOpError("expects static sizes of heads, found ")
           << merged << " and " << split;
  return verifySize(op, "A * D", product, "the merged size",
                    getShape(merged)[2]);
}

LogicalResult SplitHeadsOp::verify() {
  return verifyHeads(*this, getX().getType(), getType());
}

OpFoldResult SplitHeadsOp::fold(FoldAdaptor) {
  auto merge = getX().getDefiningOp<MergeHeadsOp>();
  if (merge && merge.getX().getType() == getType())
    return merge.getX();
  return {};
}

LogicalResult MergeHeadsOp::verify() {
  return verifyHeads(*this, getType(), getX().getType());
}

OpFoldResult MergeHeadsOp::fold(FoldAdaptor) {
  auto split = getX().getDefiningOp<SplitHeadsOp>();
  if (split && split.getX().getType() == getType())
    return split.getX();
  return {};
}

//===----------------------------------------------------------------------===//
// Linear layers
//===----------------------------------------------------------------------===//

LogicalResult QuantizeOp::verify() {
  RankedTensorType x = getTensor(getX());
  auto result = cast<BlockScaledType>(getType());
  if (failed(verifyRows(*this, "x", x)))
    return failure();
  if (x.getShape() != result.getShape())
    return emitOpError("expects the result to have the shape of ")
           << x << ", found " << result;
  if (llvm::any_of(result.getBlock().drop_back(),
                   [](int64_t size) { return size != 1; }))
    return emitOpError("expects blocks along the last dimension only, found ")
           << result;
  return success();
}

LogicalResult LinearOp::verify() {
  ArrayRef<int64_t> x = getShape(getX().getType());
  ArrayRef<int64_t> w = getShape(getW().getType());
  auto result = cast<RankedTensorType>(getType());
  if (failed(verifyRank(*this, "w", getW().getType(), 2, "[OUT, IN]")) ||
      failed(verifyRows(*this, "x", getX().getType())) ||
      failed(verifySameRows(*this, getX().getType(), result)))
    return failure();
  if (failed(verifySize(*this, "the last size of x", x.back(),
                        "the input size of w", w[1])))
    return failure();
  return verifySize(*this, "the result's last size", result.getShape().back(),
                    "the output size of w", w[0]);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult RopeTableOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>,
                                            RopeTableOp::Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto positions = cast<RankedTensorType>(adaptor.getPositions().getType());
  SmallVector<int64_t> shape(positions.getShape());
  shape.push_back(adaptor.getRope().getDim() / 2);
  types.assign(2, RankedTensorType::get(shape, Float32Type::get(context)));
  return success();
}

LogicalResult RopeOp::verify() {
  RankedTensorType x = getTensor(getX()), cos = getTensor(getCos());
  if (x.getRank() != 3 && x.getRank() != 4)
    return emitOpError("expects x [B, T, P] or [B, T, A, P], found ") << x;
  if (failed(verifyRank(*this, "cos", cos, 3, "[B, T, P/2]")))
    return failure();
  if (x.getShape().back() % 2 != 0)
    return emitOpError("expects an even last size of x, found ")
           << x.getShape().back();
  if (failed(verifyLeading(*this, "x", x, "cos", cos, 2)))
    return failure();
  return verifySize(*this, "the last size of cos", cos.getShape().back(),
                    "half of that of x", x.getShape().back() / 2);
}

/// The layers that `layer` runs over must be layers of the cache.
static LogicalResult verifyCacheLayer(Operation *op, Value layer,
                                      LatentCacheType cache) {
  LayersOp layers = getLayersOf(layer);
  if (!layers ||
      static_cast<int64_t>(layers.getLayerEnd()) <= cache.getLayers())
    return success();
  return op->emitOpError("expects the layers' end (")
         << layers.getLayerEnd() << ") <= the cache's layers ("
         << cache.getLayers() << ")";
}

LogicalResult CacheUpdateOp::verify() {
  auto cache = cast<LatentCacheType>(getCache().getType());
  if (failed(verifyCacheLayer(*this, getLayer(), cache)))
    return failure();
  RankedTensorType latent = getTensor(getLatent()),
                   kRope = getTensor(getKRope());
  if (failed(verifyRank(*this, "latent", latent, 3, "[B, T, R]")) ||
      failed(verifyRank(*this, "k_rope", kRope, 3, "[B, T, P]")) ||
      failed(verifyRank(*this, "positions", getPositions().getType(), 2,
                        "[B, T]")) ||
      failed(verifyLeading(*this, "k_rope", kRope, "latent", latent, 2)) ||
      failed(verifyLeading(*this, "positions", getPositions().getType(),
                           "latent", latent, 2)) ||
      failed(verifySize(*this, "the latent's last size", latent.getDimSize(2),
                        "kv_lora_rank", cache.getKvLoraRank())) ||
      failed(verifySize(*this, "the rope key's last size", kRope.getDimSize(2),
                        "the cache's rope", cache.getQkRopeHeadDim())))
    return failure();
  for (RankedTensorType type : {latent, kRope})
    if (type.getElementType() != cache.getElementType())
      return emitOpError("expects values of the cache's ")
             << cache.getElementType() << ", found " << type;
  return success();
}

LogicalResult AttentionOp::verify() {
  auto cache = cast<LatentCacheType>(getCache().getType());
  if (failed(verifyCacheLayer(*this, getLayer(), cache)))
    return failure();
  RankedTensorType qNope = getTensor(getQNope()), qRope = getTensor(getQRope());
  auto result = cast<RankedTensorType>(getType());
  if (failed(verifyRank(*this, "q_nope", qNope, 4, "[B, T, A, N]")) ||
      failed(verifyRank(*this, "q_rope", qRope, 4, "[B, T, A, P]")) ||
      failed(verifyRank(*this, "the result", result, 4, "[B, T, A, V]")) ||
      failed(
          verifyRank(*this, "kv_b", getKvB().getType(), 2, "[A (N + V), R]")) ||
      failed(verifyRank(*this, "positions", getPositions().getType(), 2,
                        "[B, T]")) ||
      failed(verifyLeading(*this, "q_rope", qRope, "q_nope", qNope, 2)) ||
      failed(verifyLeading(*this, "the result", result, "q_nope", qNope, 2)) ||
      failed(verifyLeading(*this, "positions", getPositions().getType(),
                           "q_nope", qNope, 2)))
    return failure();
  int64_t heads = qNope.getDimSize(2);
  ArrayRef<int64_t> kvB = getShape(getKvB().getType());
  if (failed(verifySize(*this, "the heads of q_rope", qRope.getDimSize(2),
                        "those of q_nope", heads)) ||
      failed(verifySize(*this, "the heads of the result", result.getDimSize(2),
                        "those of q_nope", heads)) ||
      failed(verifySize(*this, "the last size of q_rope", qRope.getDimSize(3),
                        "the cache's rope", cache.getQkRopeHeadDim())))
    return failure();
  int64_t nope = qNope.getDimSize(3), value = result.getDimSize(3), rows = 0;
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(nope) ||
      ShapedType::isDynamic(value) || llvm::AddOverflow(nope, value, rows) ||
      llvm::MulOverflow(heads, rows, rows))
    return emitOpError("expects static sizes of heads, found ")
           << qNope << " and " << result;
  if (failed(verifySize(*this, "the rows of kv_b", kvB[0], "A (N + V)", rows)))
    return failure();
  if (failed(verifySize(*this, "the columns of kv_b", kvB[1], "kv_lora_rank",
                        cache.getKvLoraRank())) ||
      failed(verifyFinite(*this, "scale", getScale())))
    return failure();
  if (getQuantizeLatent() && !isa<BlockScaledType>(getKvB().getType()))
    return emitOpError(
               "expects a block-scaled kv_b with quantize_latent, found ")
           << getKvB().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

LogicalResult RouteOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> location,
                                        RouteOp::Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto logits = cast<RankedTensorType>(adaptor.getLogits().getType());
  // The verifier runs after this and has not looked at the rank yet.
  if (logits.getRank() == 0)
    return emitOptionalError(location,
                             "'transformer.route' op expects logits of rank 2 "
                             "to 3, found ",
                             logits);
  SmallVector<int64_t> shape(logits.getShape());
  shape.back() = adaptor.getTopK();
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  types.push_back(RankedTensorType::get(shape, Float32Type::get(context)));
  return success();
}

LogicalResult RouteOp::verify() {
  RankedTensorType logits = getTensor(getLogits());
  if (failed(verifyRows(*this, "logits", logits)) ||
      failed(verifyFinite(*this, "routed_scaling_factor",
                          getRoutedScalingFactor())))
    return failure();
  int64_t experts = logits.getShape().back();
  int64_t topK = getTopK(), groups = getNGroup(), topGroups = getTopkGroup();
  if (topK < 1 || topK > experts)
    return emitOpError("expects 1 <= top_k (")
           << topK << ") <= experts (" << experts << ")";
  if (groups < 1 || experts % groups != 0)
    return emitOpError("expects n_group (")
           << groups << ") to divide the experts (" << experts << ")";
  if (topGroups < 1 || topGroups > groups)
    return emitOpError("expects 1 <= topk_group (")
           << topGroups << ") <= n_group (" << groups << ")";
  int64_t groupSize = experts / groups;
  if (getMethod() != TopkMethod::greedy && topK > topGroups * groupSize)
    return emitOpError("expects top_k (")
           << topK << ") <= the experts of topk_group groups ("
           << topGroups * groupSize << ")";
  if (getMethod() == TopkMethod::noaux_tc && groups > 1 && groupSize < 2)
    return emitOpError("expects at least 2 experts per group with noaux_tc, "
                       "found ")
           << groupSize;
  if ((getMethod() == TopkMethod::noaux_tc) != !!getBias())
    return emitOpError("expects a bias if and only if the method is noaux_tc");
  if (getBias() &&
      getTensor(getBias()).getShape() != ArrayRef<int64_t>{experts})
    return emitOpError("expects a bias for each of the ")
           << experts << " experts, found " << getBias().getType();
  return success();
}

LogicalResult ExpertsOp::verify() {
  RankedTensorType indices = getTensor(getIndices());
  if (failed(verifyRank(*this, "x", getX().getType(), 3, "[B, T, H]")) ||
      failed(verifyRank(*this, "indices", indices, 3, "[B, T, K]")) ||
      failed(verifySameRows(*this, getX().getType(), indices)))
    return failure();
  if (static_cast<int64_t>(getExperts()) < 1)
    return emitOpError("expects at least 1 expert, found ") << getExperts();
  if (indices.getShape() != getTensor(getWeights()).getShape())
    return emitOpError("expects indices and weights of one shape, found ")
           << indices << " and " << getWeights().getType();
  return success();
}

LogicalResult ExpertsOp::verifyRegions() {
  RankedTensorType x = getTensor(getX());
  if (x.getRank() == 0)
    return success(); // verify() says so.
  auto rows = RankedTensorType::get({ShapedType::kDynamic, x.getShape().back()},
                                    x.getElementType());
  Block &body = getBody().front();
  if (body.getNumArguments() != 2 || body.getArgument(0).getType() != rows ||
      !body.getArgument(1).getType().isIndex())
    return emitOpError("expects the body's arguments to be (")
           << rows << ", index)";
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 1 || yield->getOperand(0).getType() != rows)
    return emitOpError("expects the body to yield ") << rows;
  return success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult LayersOp::verify() {
  if ((*this)->getParentOfType<LayersOp>())
    return emitOpError("cannot stand in another transformer.layers");
  if (static_cast<int64_t>(getLayerBegin()) < 0 ||
      getLayerEnd() < getLayerBegin())
    return emitOpError("expects a range of layers, found [")
           << static_cast<int64_t>(getLayerBegin()) << ", " << getLayerEnd()
           << ")";
  if (getInits().getTypes() != getResultTypes())
    return emitOpError("expects results of the types of its initial values");
  return success();
}

LogicalResult LayersOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInits().size() + 1 ||
      !body.getArgument(0).getType().isIndex())
    return emitOpError(
        "expects the body's arguments to be the layer (index) and "
        "the carried values");
  if (TypeRange(body.getArgumentTypes()).drop_front() != getInits().getTypes())
    return emitOpError("expects the body's arguments to have the types of the "
                       "initial values");
  if (body.getTerminator()->getOperandTypes() != getInits().getTypes())
    return emitOpError("expects the body to yield values of the types of the "
                       "initial values");
  return success();
}

/// No layers: the values pass through.
LogicalResult LayersOp::fold(FoldAdaptor,
                             SmallVectorImpl<OpFoldResult> &results) {
  if (getLayerBegin() != getLayerEnd())
    return failure();
  llvm::append_range(results, getInits());
  return success();
}
