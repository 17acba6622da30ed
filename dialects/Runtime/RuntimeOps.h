//===- RuntimeOps.h - The rt dialect -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_RUNTIME_RUNTIMEOPS_H
#define MOEC_DIALECTS_RUNTIME_RUNTIMEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Runtime/RuntimeDialect.h.inc"
#include "dialects/Runtime/RuntimeEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Runtime/RuntimeAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Runtime/RuntimeOps.h.inc"

#endif // MOEC_DIALECTS_RUNTIME_RUNTIMEOPS_H
