//===- FusedInterfaces.td - What every kernel can be asked -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_FUSED_FUSEDINTERFACES_TD
#define MOEC_DIALECTS_FUSED_FUSEDINTERFACES_TD

include "mlir/IR/OpBase.td"

def Fused_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::moec::fused";
  let description = [{
    An op that one kernel does.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds, at the builder's position, linalg on tensors that computes what the
      op does, and returns what replaces its results. This is the op's
      definition.
    }], "::mlir::SmallVector<::mlir::Value>", "decompose",
    (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<[{
      FLOPs and bytes of one run, as functions of the numbers of rows and of the
      context's length.
    }], "::moec::fused::KernelCost", "getCost">
  ];
}

#endif // MOEC_DIALECTS_FUSED_FUSEDINTERFACES_TD
