//===- FusedOps.cpp - The fused dialect -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/FusedOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace moec;
using namespace moec::fused;

#include "dialects/Fused/FusedDialect.cpp.inc"
#include "dialects/Fused/FusedEnums.cpp.inc"

#include "dialects/Fused/FusedInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Fused/FusedAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Fused/FusedOps.cpp.inc"

void FusedDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Fused/FusedAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Fused/FusedOps.cpp.inc"
      >();
}

LogicalResult TilesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t columns, int64_t rows,
                                int64_t registerRows, int64_t streamRows) {
  if (columns < 1 || columns % 16 != 0)
    return emitError() << "expects columns to be a positive multiple of 16, "
                          "found "
                       << columns;
  if (rows < 1 || registerRows < 1 || streamRows < 0)
    return emitError() << "expects positive rows and register_rows and "
                          "stream_rows >= 0, found "
                       << rows << ", " << registerRows << " and " << streamRows;
  return success();
}

LogicalResult
AttentionTilesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t split, int64_t slots) {
  if (split < 8 || split % 8 != 0 || slots < 1)
    return emitError() << "expects split to be a positive multiple of 8 and "
                          "positive slots, found "
                       << split << " and " << slots;
  return success();
}

int64_t fused::getTokenBlock(int64_t pageSize) {
  return std::gcd<int64_t>(pageSize, 64);
}

int64_t fused::getPaddedHeads(int64_t heads) {
  return llvm::alignTo(heads, 16);
}

AttentionScratch fused::getAttentionScratch(MlaAttentionOp op,
                                            AttentionTilesAttr tiles) {
  auto shapeOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  int64_t heads = getPaddedHeads(shapeOf(op.getQNope())[1]);
  int64_t rank = shapeOf(op.getKvB())[1], width = shapeOf(op.getCache())[3];
  // Sums, maxima and divisors; a slot has its factors and its task besides.
  int64_t result = (rank + 2) * heads;
  return {4 * (width * heads + result),
          4 * tiles.getSlots() * (result + 2 * heads + 2)};
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

static bool isWrittenCache(Operation *op, Value memory) {
  if (auto write = dyn_cast<CacheWriteOp>(op))
    return memory == write.getCache();
  auto prepare = dyn_cast<MlaPrepareOp>(op);
  return prepare && memory == prepare.getCache();
}

/// On memrefs a kernel reads its inputs and writes its destinations; on tensors
/// it only reads the memrefs that stand for memory even there (the cache).
static void
getKernelEffects(DestinationStyleOpInterface op,
                 SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    MemoryEffects::Effect *effect = MemoryEffects::Read::get();
    if (op.isDpsInit(&operand) || isWrittenCache(op, operand.get()))
      effect = MemoryEffects::Write::get();
    effects.emplace_back(effect, &operand);
  }
}

#define MOEC_KERNEL_EFFECTS(Op)                                                \
  void Op::getEffects(                                                         \
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>      \
          &effects) {                                                          \
    getKernelEffects(*this, effects);                                          \
  }
MOEC_KERNEL_EFFECTS(AddOp)
MOEC_KERNEL_EFFECTS(CacheWriteOp)
MOEC_KERNEL_EFFECTS(CombineOp)
MOEC_KERNEL_EFFECTS(DispatchOp)
MOEC_KERNEL_EFFECTS(ExpertsOp)
MOEC_KERNEL_EFFECTS(GatherRowsOp)
MOEC_KERNEL_EFFECTS(GroupedLinearOp)
MOEC_KERNEL_EFFECTS(LinearOp)
MOEC_KERNEL_EFFECTS(MlaAttentionOp)
MOEC_KERNEL_EFFECTS(MlaPrepareOp)
MOEC_KERNEL_EFFECTS(QuantizeOp)
MOEC_KERNEL_EFFECTS(RmsNormOp)
MOEC_KERNEL_EFFECTS(RopeOp)
MOEC_KERNEL_EFFECTS(RouterOp)
MOEC_KERNEL_EFFECTS(SwigluOp)
#undef MOEC_KERNEL_EFFECTS

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static ShapedType shapedType(Value value) {
  return cast<ShapedType>(value.getType());
}

/// The text `text` of a shape, as in types.
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(
      shape, out,
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          out << '?';
        else
          out << extent;
      },
      "x");
  return text;
}

/// Checks a shape; dynamic extents fit anything.
static LogicalResult expectShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> found = shapedType(value).getShape();
  bool fits = found.size() == expected.size() &&
              llvm::all_of(llvm::zip(found, expected), [](auto pair) {
                auto [left, right] = pair;
                return ShapedType::isDynamic(left) ||
                       ShapedType::isDynamic(right) || left == right;
              });
  if (fits)
    return success();
  return op->emitOpError("expects ")
         << name << " of the shape " << shapeText(expected) << ", found "
         << shapeText(found);
}

static LogicalResult expectOuts(Operation *op, size_t found, size_t expected) {
  if (found == expected)
    return success();
  return op->emitOpError("expects ")
         << expected << " destinations, found " << found;
}

constexpr int64_t dynamic = ShapedType::kDynamic;

/// Checks what linear and grouped_linear have in common: the weights' shape
/// against x, scales and outs.
static LogicalResult verifyProduct(Operation *op, Value x, Value xScales,
                                   ShapedType weight, ShapedType scale,
                                   std::optional<ArrayRef<int64_t>> block,
                                   ValueRange outs) {
  if (weight.getRank() != 2 || !weight.hasStaticShape())
    return op->emitOpError("expects weights of the static shape [OUT, IN], "
                           "found ")
           << weight;
  int64_t out = weight.getDimSize(0), in = weight.getDimSize(1);
  if (failed(expectShape(op, "x", x, {dynamic, in})) ||
      failed(expectOuts(op, outs.size(), outs.size() == 2 ? 2 : 1)) ||
      failed(expectShape(op, "a destination", outs[0], {dynamic, out})))
    return failure();
  if (outs.size() == 2 && !shapedType(outs[1]).getElementType().isInteger(8))
    return op->emitOpError(
               "expects scratch of i8 as second destination, found ")
           << outs[1].getType();
  bool codes = isa<Float8E4M3FNType>(weight.getElementType());
  if (codes != static_cast<bool>(scale) || codes != block.has_value())
    return op->emitOpError("expects weight scales and a block exactly with "
                           "weights in f8E4M3FN, found weights ")
           << weight;
  if (block) {
    if (block->size() != 2 || (*block)[0] < 1 || (*block)[1] < 1)
      return op->emitOpError("expects a block of two positive sizes");
    SmallVector<int64_t> expected{
        static_cast<int64_t>(llvm::divideCeil(out, (*block)[0])),
        static_cast<int64_t>(llvm::divideCeil(in, (*block)[1]))};
    if (scale.getShape() != ArrayRef<int64_t>(expected))
      return op->emitOpError("expects weight scales of the shape ")
             << shapeText(expected) << ", found "
             << shapeText(scale.getShape());
  }
  bool xCodes = isa<Float8E4M3FNType>(shapedType(x).getElementType());
  if (xCodes != static_cast<bool>(xScales))
    return op->emitOpError("expects scales of x exactly with x in f8E4M3FN, "
                           "found x ")
           << x.getType();
  if (!xScales)
    return success();
  if (!block)
    return op->emitOpError("expects block-scaled weights with quantised x");
  int64_t groups = llvm::divideCeil(in, (*block)[1]);
  return expectShape(op, "scales of x", xScales, {dynamic, groups});
}

static size_t numWeights(Epilogue epilogue) {
  return epilogue == Epilogue::swiglu ? 2 : 1;
}

LogicalResult LinearOp::verify() {
  size_t expected = numWeights(getEpilogue());
  if (getWeights().size() != expected)
    return emitOpError("expects ") << expected << " weights with epilogue "
                                   << stringifyEpilogue(getEpilogue())
                                   << ", found " << getWeights().size();
  bool codes =
      isa<Float8E4M3FNType>(shapedType(getWeights()[0]).getElementType());
  if (getWeightScales().size() != (codes ? expected : 0))
    return emitOpError("expects ")
           << (codes ? expected : 0) << " tensors of weight scales, found "
           << getWeightScales().size();
  for (Value weight : getWeights().drop_front())
    if (weight.getType() != getWeights()[0].getType())
      return emitOpError("expects weights of one type, found ")
             << getWeights()[0].getType() << " and " << weight.getType();
  ShapedType scale = codes ? shapedType(getWeightScales()[0]) : ShapedType();
  if (failed(verifyProduct(*this, getX(), getXScales(),
                           shapedType(getWeights()[0]), scale, getBlock(),
                           getOuts())))
    return failure();
  if (Value residual = getResidual())
    return expectShape(*this, "the residual", residual,
                       shapedType(getOuts()[0]).getShape());
  return success();
}

LogicalResult GroupedLinearOp::verify() {
  size_t expected = numWeights(getEpilogue());
  if (getSlots().size() != expected)
    return emitOpError("expects ") << expected << " slots with epilogue "
                                   << stringifyEpilogue(getEpilogue())
                                   << ", found " << getSlots().size();
  auto weight = dyn_cast<MemRefType>(getWeightType());
  auto scale = dyn_cast_or_null<MemRefType>(getScaleType().value_or(Type()));
  if (!weight || (getScaleType() && !scale))
    return emitOpError("expects weight_type and scale_type to be memrefs");
  if (getExperts() < 1)
    return emitOpError("expects a positive number of experts, found ")
           << getExperts();
  if (failed(expectShape(*this, "work", getWork(), {dynamic, 3})) ||
      failed(expectShape(*this, "pieces", getPieces(), {1})))
    return failure();
  return verifyProduct(*this, getX(), getXScales(), weight, scale, getBlock(),
                       getOuts());
}

LogicalResult DispatchOp::verify() {
  if (failed(expectOuts(*this, getOuts().size(), 5)))
    return failure();
  auto indices = shapedType(getIndices());
  if (indices.getRank() != 2 || getExperts() < 1 || getRowsPerPiece() < 1)
    return emitOpError("expects indices [N, K] and positive experts and "
                       "rows_per_piece, found ")
           << indices << ", " << getExperts() << " and " << getRowsPerPiece();
  return success(
      succeeded(expectShape(*this, "offsets", getOuts()[0],
                            {static_cast<int64_t>(getExperts()) + 1})) &&
      succeeded(expectShape(*this, "tokens", getOuts()[1], {dynamic})) &&
      succeeded(expectShape(*this, "rows", getOuts()[2], indices.getShape())) &&
      succeeded(expectShape(*this, "work", getOuts()[3], {dynamic, 3})) &&
      succeeded(expectShape(*this, "pieces", getOuts()[4], {1})));
}

LogicalResult CombineOp::verify() {
  if (failed(expectOuts(*this, getOuts().size(), 1)) ||
      failed(expectShape(*this, "weights", getWeights(),
                         shapedType(getRows()).getShape())))
    return failure();
  ArrayRef<int64_t> shape = shapedType(getOuts()[0]).getShape();
  if (failed(expectShape(*this, "y", getY(), shape)))
    return failure();
  if (getShared() &&
      failed(expectShape(*this, "the shared output", getShared(), shape)))
    return failure();
  if (getResidual())
    return expectShape(*this, "the residual", getResidual(), shape);
  return success();
}

LogicalResult RmsNormOp::verify() {
  auto x = shapedType(getX());
  size_t expected = (getQuantizeGroup() ? 2 : 1) + (getResidual() ? 1 : 0);
  if (failed(expectOuts(*this, getOuts().size(), expected)))
    return failure();
  if (x.getRank() != 2)
    return emitOpError("expects x [N, H], found ") << x;
  if (failed(expectShape(*this, "the gain", getGain(), {x.getDimSize(1)})) ||
      failed(expectShape(*this, "a destination", getOuts()[0], x.getShape())))
    return failure();
  if (Value residual = getResidual())
    return expectShape(*this, "the residual", residual, x.getShape());
  return success();
}

LogicalResult MlaAttentionOp::verify() {
  auto nope = shapedType(getQNope()), rope = shapedType(getQRope());
  auto cache = shapedType(getCache()), kvB = shapedType(getKvB());
  if (failed(expectOuts(*this, getOuts().size(), getTiles() ? 3 : 1)))
    return failure();
  auto out = shapedType(getOuts()[0]);
  if (nope.getRank() != 3 || rope.getRank() != 3 || out.getRank() != 3 ||
      cache.getRank() != 4 || kvB.getRank() != 2)
    return emitOpError("expects q_nope, q_rope and a destination of rank 3, "
                       "the cache of rank 4 and kv_b of rank 2");
  int64_t heads = nope.getDimSize(1);
  int64_t rank = kvB.getDimSize(1);
  if (failed(expectShape(*this, "q_rope", getQRope(),
                         {dynamic, heads, rope.getDimSize(2)})) ||
      failed(expectShape(*this, "a destination", getOuts()[0],
                         {dynamic, heads, out.getDimSize(2)})))
    return failure();
  if (kvB.getDimSize(0) != heads * (nope.getDimSize(2) + out.getDimSize(2)))
    return emitOpError("expects kv_b with ")
           << heads * (nope.getDimSize(2) + out.getDimSize(2))
           << " rows, found " << kvB;
  if (cache.getDimSize(3) != rank + rope.getDimSize(2))
    return emitOpError("expects a cache of kv_lora_rank + qk_rope_head_dim (")
           << rank + rope.getDimSize(2) << ") values per token, found "
           << cache.getDimSize(3);
  if (getBlock().has_value() != static_cast<bool>(getKvBScales()))
    return emitOpError("expects a block exactly with scales of kv_b");
  if (!getTiles())
    return success();
  if (getForm() != AttentionForm::absorbed)
    return emitOpError("expects tiles in the absorbed form only");
  int64_t tokenBlock = getTokenBlock(cache.getDimSize(2));
  if (getTiles()->getSplit() % tokenBlock != 0)
    return emitOpError("expects splits of whole blocks of ")
           << tokenBlock << " tokens, found " << getTiles()->getSplit();
  AttentionScratch scratch = getAttentionScratch(*this, *getTiles());
  for (Value out : getOuts().drop_front())
    if (!shapedType(out).getElementType().isInteger(8))
      return emitOpError("expects scratch of i8, found ") << out.getType();
  return success(succeeded(expectShape(*this, "the rows' scratch", getOuts()[1],
                                       {dynamic, scratch.bytesPerRow})) &&
                 succeeded(expectShape(*this, "the slots' scratch",
                                       getOuts()[2], {scratch.bytesFixed})));
}

LogicalResult GatherRowsOp::verify() {
  auto table = shapedType(getTable());
  if (failed(expectOuts(*this, getOuts().size(), 1)))
    return failure();
  if (table.getRank() != 2)
    return emitOpError("expects a table [V, H], found ") << table;
  int64_t rows = shapedType(getNumbers()).getDimSize(0);
  return success(
      succeeded(expectShape(*this, "numbers", getNumbers(), {dynamic})) &&
      succeeded(expectShape(*this, "a destination", getOuts()[0],
                            {rows, table.getDimSize(1)})));
}

LogicalResult RouterOp::verify() {
  auto logits = shapedType(getLogits());
  if (failed(expectOuts(*this, getOuts().size(), 2)))
    return failure();
  if (logits.getRank() != 2 || ShapedType::isDynamic(logits.getDimSize(1)))
    return emitOpError("expects logits [N, E], found ") << logits;
  int64_t experts = logits.getDimSize(1), topK = getTopK();
  int64_t groups = getNGroup(), chosen = getTopkGroup();
  if (topK < 1 || topK > experts)
    return emitOpError("expects top_k from 1 to ")
           << experts << ", found " << topK;
  if (groups < 1 || experts % groups != 0 || chosen < 1 || chosen > groups)
    return emitOpError("expects n_group to divide ")
           << experts << " experts and topk_group from 1 to n_group, found "
           << groups << " and " << chosen;
  if (getBias() && failed(expectShape(*this, "the bias", getBias(), {experts})))
    return failure();
  return success(succeeded(expectShape(*this, "indices", getOuts()[0],
                                       {logits.getDimSize(0), topK})) &&
                 succeeded(expectShape(*this, "weights", getOuts()[1],
                                       {logits.getDimSize(0), topK})));
}

/// cos and sin [N, P / 2] of the last dimension of `x`.
static LogicalResult expectRopeTable(Operation *op, Value x, Value cos,
                                     Value sin) {
  int64_t size = shapedType(x).getShape().back();
  if (ShapedType::isDynamic(size) || size % 2 != 0)
    return op->emitOpError("expects an even number of features, found ")
           << shapedType(x);
  int64_t rows = shapedType(x).getDimSize(0);
  return success(succeeded(expectShape(op, "cos", cos, {rows, size / 2})) &&
                 succeeded(expectShape(op, "sin", sin, {rows, size / 2})));
}

LogicalResult RopeOp::verify() {
  auto x = shapedType(getX());
  if (failed(expectOuts(*this, getOuts().size(), 1)))
    return failure();
  if (x.getRank() != 2 && x.getRank() != 3)
    return emitOpError("expects x [N, P] or [N, A, P], found ") << x;
  if (failed(expectShape(*this, "a destination", getOuts()[0], x.getShape())))
    return failure();
  return expectRopeTable(*this, getX(), getCos(), getSin());
}

/// Latents and rope keys that fill a slot of the cache.
static LogicalResult expectSlot(Operation *op, Value latent, Value kRope,
                                Value cache) {
  auto latents = shapedType(latent), keys = shapedType(kRope);
  auto memory = shapedType(cache);
  if (latents.getRank() != 2 || keys.getRank() != 2 || memory.getRank() != 4)
    return op->emitOpError("expects latents and k_rope of rank 2 and the cache "
                           "of rank 4");
  int64_t width = latents.getDimSize(1) + keys.getDimSize(1);
  if (memory.getDimSize(3) != width)
    return op->emitOpError("expects a cache of kv_lora_rank + "
                           "qk_rope_head_dim (")
           << width << ") values per token, found " << memory.getDimSize(3);
  return success();
}

LogicalResult CacheWriteOp::verify() {
  if (failed(expectOuts(*this, getOuts().size(), 0)))
    return failure();
  return expectSlot(*this, getLatent(), getKRope(), getCache());
}

LogicalResult MlaPrepareOp::verify() {
  if (failed(expectOuts(*this, getOuts().size(), 1)) ||
      failed(expectSlot(*this, getLatent(), getKRope(), getCache())))
    return failure();
  auto queries = shapedType(getQRope());
  if (queries.getRank() != 3)
    return emitOpError("expects q_rope [N, A, P], found ") << queries;
  int64_t rope = shapedType(getKRope()).getDimSize(1);
  return success(
      succeeded(expectShape(*this, "the gain", getGain(),
                            {shapedType(getLatent()).getDimSize(1)})) &&
      succeeded(expectShape(*this, "q_rope", getQRope(),
                            {dynamic, queries.getDimSize(1), rope})) &&
      succeeded(expectShape(*this, "a destination", getOuts()[0],
                            queries.getShape())) &&
      succeeded(expectRopeTable(*this, getKRope(), getCos(), getSin())));
}
