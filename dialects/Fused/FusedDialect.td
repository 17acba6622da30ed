//===- FusedDialect.td - The fused dialect -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_FUSED_FUSEDDIALECT_TD
#define MOEC_DIALECTS_FUSED_FUSEDDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Fused_Dialect : Dialect {
  let name = "fused";
  let cppNamespace = "::moec::fused";
  let summary = "What one kernel does";
  let description = [{
    One op of the `fused` dialect is one kernel: one parallel region on a CPU, one
    launch on a GPU. Its ops work on the rows of a ragged batch (N tokens, whatever
    sequences they belong to) and write into destinations that they are given, so
    that bufferization has nothing to copy.

    `convert-transformer-to-fused` makes one op of each op of the transformer
    dialect; the `fuse-*` passes merge those that one kernel can do in one go;
    `choose-fp8-tiles` says how each is cut into tiles. An op's definition is its
    decomposition to linalg (`decompose-fused`), which is also what it becomes where
    a target has no kernel for it. What it costs is asked of the op itself
    (KernelOpInterface::getCost).

    Letters in the descriptions: N rows (tokens), H hidden size, A heads,
    R kv_lora_rank, P qk_rope_head_dim, V v_head_dim, E experts, K experts per
    token.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::moec::rt::RuntimeDialect"];
  let useDefaultAttributePrinterParser = 1;
}

#endif // MOEC_DIALECTS_FUSED_FUSEDDIALECT_TD
