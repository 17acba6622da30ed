//===- RuntimeDialect.td - The rt dialect -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_RUNTIME_RUNTIMEDIALECT_TD
#define MOEC_DIALECTS_RUNTIME_RUNTIMEDIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Runtime_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::moec::rt";
  let summary = "What compiled code asks of its caller";
  let description = [{
    The `rt` dialect is the compiled side of `struct moec_step_args` in
    `runtime/include/moec/moec_runtime.h`: the extents of the batch, the buffers
    that the caller owns (batch, weights, cache, workspace, logits, taps) and the
    parallel-for that it supplies. It stands from the linalg level, where buffers
    enter as memrefs of static or dynamic shape, to the last step before LLVM IR.

    Every op takes the step, an `!llvm.ptr` to the struct. The order of the enum
    cases below is the order of the struct's fields: each has 8 bytes, so a
    field's offset is 8 times its number.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let useDefaultAttributePrinterParser = 1;
}

#endif // MOEC_DIALECTS_RUNTIME_RUNTIMEDIALECT_TD
