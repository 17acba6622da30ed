//===- RuntimeOps.cpp - The rt dialect -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Runtime/RuntimeOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace moec::rt;

#include "dialects/Runtime/RuntimeDialect.cpp.inc"
#include "dialects/Runtime/RuntimeEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Runtime/RuntimeAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Runtime/RuntimeOps.cpp.inc"

void RuntimeDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Runtime/RuntimeAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Runtime/RuntimeOps.cpp.inc"
      >();
}

LogicalResult BufferOp::verify() {
  auto type = cast<MemRefType>(getMemref().getType());
  if (!type.getLayout().isIdentity())
    return emitOpError("expects a dense row-major memref, found ") << type;
  int64_t dynamic = type.getNumDynamicDims();
  int64_t sizes = getSizes().size();
  if (sizes != dynamic)
    return emitOpError("expects a size for each of the ")
           << dynamic << " dynamic dimensions, found " << sizes;
  return success();
}

LogicalResult WeightOp::verify() {
  auto type = cast<MemRefType>(getMemref().getType());
  if (!type.getLayout().isIdentity())
    return emitOpError("expects a dense row-major memref, found ") << type;
  return success();
}

LogicalResult ParallelOp::verifyRegions() {
  Region &body = getBody();
  if (body.getNumArguments() != 2 ||
      !llvm::all_of(body.getArgumentTypes(),
                    [](Type type) { return type.isInteger(64); }))
    return emitOpError("expects the body's arguments to be (i64, i64), found ")
           << body.getArgumentTypes();
  return success();
}
