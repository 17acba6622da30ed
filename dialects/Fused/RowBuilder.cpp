//===- RowBuilder.cpp - linalg on tensors of rows -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Fused/RowBuilder.h"

#include "dialects/Transformer/TransformerOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace moec;

RankedTensorType moec::collapseRows(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2 || !ShapedType::isDynamic(shape[0]) ||
      !ShapedType::isDynamic(shape[1]))
    return type;
  return RankedTensorType::get(shape.drop_front(), type.getElementType());
}

Value RowBuilder::getStep() {
  return op->getParentOfType<func::FuncOp>().getArgument(0);
}

Value RowBuilder::getExtent(rt::Extent extent) {
  return create<rt::ExtentOp>(getIndexType(), getStep(), extent);
}

Value RowBuilder::getRows(Type original, Value tensor) {
  ArrayRef<int64_t> shape;
  if (auto type = dyn_cast<RankedTensorType>(original))
    shape = type.getShape();
  else
    shape = cast<transformer::BlockScaledType>(original).getShape();
  if (shape.size() > 1 && ShapedType::isDynamic(shape[1]))
    return getExtent(rt::Extent::num_tokens);
  return createOrFold<tensor::DimOp>(tensor, 0);
}

Value RowBuilder::getRows(Value tensor) {
  return createOrFold<tensor::DimOp>(tensor, 0);
}

Value RowBuilder::index(int64_t value) {
  return create<arith::ConstantIndexOp>(value);
}

Value RowBuilder::f32(double value) {
  return create<arith::ConstantOp>(getF32FloatAttr(value));
}

Value RowBuilder::toIndex(Value integer) {
  return create<arith::IndexCastOp>(getIndexType(), integer);
}

Value RowBuilder::empty(ArrayRef<OpFoldResult> sizes, Type element) {
  return create<tensor::EmptyOp>(sizes, element);
}

Value RowBuilder::filled(ArrayRef<OpFoldResult> sizes, Value value) {
  Value tensor = empty(sizes, value.getType());
  return create<linalg::FillOp>(value, tensor).getResult(0);
}

Value RowBuilder::zeros(ArrayRef<OpFoldResult> sizes) {
  return filled(sizes, f32(0.0));
}

RowBuilder::Access RowBuilder::plain(Value tensor) {
  Access access{tensor, {}};
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  for (int64_t position = 0; position < rank; ++position)
    access.indices.push_back(dim(position));
  return access;
}

Value RowBuilder::compute(unsigned numDims, ArrayRef<Access> inputs, Access out,
                          ScalarBody body) {
  SmallVector<AffineMap> maps;
  SmallVector<Value> tensors;
  for (const Access &input : inputs) {
    maps.push_back(AffineMap::get(numDims, 0, input.indices, getContext()));
    tensors.push_back(input.tensor);
  }
  maps.push_back(AffineMap::get(numDims, 0, out.indices, getContext()));
  SmallVector<utils::IteratorType> iterators(numDims,
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : out.indices)
    if (auto plainDim = dyn_cast<AffineDimExpr>(expr))
      iterators[plainDim.getPosition()] = utils::IteratorType::parallel;
  bool reduces = llvm::is_contained(iterators, utils::IteratorType::reduction);

  auto generic = create<linalg::GenericOp>(
      out.tensor.getType(), tensors, out.tensor, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder b(loc, nested);
        SmallVector<Value> values;
        for (Value argument : reduces ? arguments : arguments.drop_back()) {
          auto type = dyn_cast<FloatType>(argument.getType());
          values.push_back(
              type && type.getWidth() < 32
                  ? b.create<arith::ExtFOp>(b.getF32Type(), argument)
                  : argument);
        }
        Value result = body(b, values);
        Type element = getElementTypeOrSelf(out.tensor);
        if (result.getType() != element)
          result = b.create<arith::TruncFOp>(element, result);
        b.create<linalg::YieldOp>(result);
      });
  return generic.getResult(0);
}

Value RowBuilder::map(ArrayRef<Access> inputs, ArrayRef<OpFoldResult> sizes,
                      Type element, ScalarBody body) {
  return compute(sizes.size(), inputs, plain(empty(sizes, element)), body);
}

SmallVector<OpFoldResult> RowBuilder::sizesOf(RankedTensorType type,
                                              Value rows) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t extent : type.getShape())
    sizes.push_back(ShapedType::isDynamic(extent)
                        ? OpFoldResult(rows)
                        : OpFoldResult(getIndexAttr(extent)));
  return sizes;
}

Value RowBuilder::convert(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == element)
    return tensor;
  Value rows =
      type.getRank() > 0 ? createOrFold<tensor::DimOp>(tensor, 0) : Value();
  return map(
      {plain(tensor)}, sizesOf(type, rows), element,
      [](ImplicitLocOpBuilder &, ValueRange values) { return values[0]; });
}

/// Offsets, sizes and strides of row `position` of a tensor.
static void getRowSlice(OpBuilder &b, RankedTensorType type, Value position,
                        SmallVector<OpFoldResult> &offsets,
                        SmallVector<OpFoldResult> &sizes,
                        SmallVector<OpFoldResult> &strides) {
  offsets.assign(type.getRank(), b.getIndexAttr(0));
  strides.assign(type.getRank(), b.getIndexAttr(1));
  offsets[0] = position;
  sizes.assign(1, b.getIndexAttr(1));
  for (int64_t extent : type.getShape().drop_front())
    sizes.push_back(b.getIndexAttr(extent));
}

Value RowBuilder::row(Value tensor, Value position) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  getRowSlice(*this, type, position, offsets, sizes, strides);
  auto rowType = RankedTensorType::get(type.getShape().drop_front(),
                                       type.getElementType());
  return create<tensor::ExtractSliceOp>(rowType, tensor, offsets, sizes,
                                        strides);
}

SmallVector<Value> RowBuilder::forEachRow(Value count, ValueRange outs,
                                          RowBody body) {
  SmallVector<OpFoldResult> upper{count};
  auto forall = create<scf::ForallOp>(
      upper, outs, std::nullopt,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        RowBuilder b(op, nested);
        Value number = arguments.front();
        ValueRange shared = arguments.drop_front();
        SmallVector<Value> rows;
        for (Value out : shared)
          rows.push_back(b.row(out, number));
        SmallVector<Value> results = body(b, number, rows);
        auto terminator = b.create<scf::InParallelOp>();
        b.setInsertionPointToStart(terminator.getBody());
        for (auto [result, out] : llvm::zip(results, shared)) {
          SmallVector<OpFoldResult> offsets, sizes, strides;
          getRowSlice(b, cast<RankedTensorType>(out.getType()), number, offsets,
                      sizes, strides);
          b.create<tensor::ParallelInsertSliceOp>(result, out, offsets, sizes,
                                                  strides);
        }
      });
  return SmallVector<Value>(forall.getResults());
}

SmallVector<Value> RowBuilder::loop(Value begin, Value end, ValueRange inits,
                                    LoopBody body) {
  auto forOp = create<scf::ForOp>(
      begin, end, index(1), inits,
      [&](OpBuilder &nested, Location loc, Value number, ValueRange carried) {
        RowBuilder b(op, nested);
        SmallVector<Value> results = body(b, number, carried);
        b.create<scf::YieldOp>(results);
      });
  return SmallVector<Value>(forOp.getResults());
}
