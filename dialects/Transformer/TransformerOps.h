//===- TransformerOps.h - The transformer dialect -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_TRANSFORMER_TRANSFORMEROPS_H
#define MOEC_DIALECTS_TRANSFORMER_TRANSFORMEROPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Transformer/TransformerDialect.h.inc"
#include "dialects/Transformer/TransformerEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Transformer/TransformerAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Transformer/TransformerTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Transformer/TransformerOps.h.inc"

#endif // MOEC_DIALECTS_TRANSFORMER_TRANSFORMEROPS_H
