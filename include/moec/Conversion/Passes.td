//===- Passes.td - Conversion passes -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_CONVERSION_PASSES_TD
#define MOEC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTransformerToFused
    : Pass<"convert-transformer-to-fused", "::mlir::ModuleOp"> {
  let summary = "Lower the transformer dialect to kernels on rows";
  let description = [{
    `@forward`, which is over [B, T] tensors, becomes `@moec_step(!llvm.ptr)`, which
    is over the rows of a ragged batch: B and T are collapsed into N rows, each with
    its sequence and its position. Parameters become `rt.weight`, the batch
    `rt.buffer`, the latent cache a memref that `cache_update` writes and
    `attention` reads page by page; `layers` becomes `scf.for`, so the size of the
    IR does not depend on their number.

    Each op that computes becomes one op of the fused dialect, with a destination;
    `experts` becomes three: dispatch, experts, combine. The `fuse-*` passes merge
    them from here on. What only moves or reads rows (embedding, splits, rope
    tables, the router's top-k) becomes linalg at once.

    Before: `%y = transformer.linear %x, %w : (tensor<?x?x7168xbf16>,
             !transformer.block_scaled<1536x7168, f8E4M3FN, f32, [128, 128]>) -> ...`

    After:
    ```mlir
    %o = tensor.empty(%n) : tensor<?x1536xbf16>
    %y = fused.linear %x weights(%codes) weight_scales(%scales) outs(%o) {block = array<i64: 128, 128>} : ...
    ```
  }];
  let options = [
    Option<"attention", "attention", "std::string", /*default=*/"\"absorbed\"",
           "Form of attention: absorbed or expanded">,
    Option<"pageSize", "page-size", "int64_t", /*default=*/"64",
           "Tokens per page of the cache">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::LLVM::LLVMDialect",
    "::moec::fused::FusedDialect", "::moec::rt::RuntimeDialect"];
}

def ConvertRuntimeToLLVM : Pass<"convert-runtime-to-llvm"> {
  let summary = "Lower the step's extents, buffers and weights to LLVM";
  let description = [{
    Extents and pointers are loaded from `moec_step_args`; a buffer becomes a
    memref descriptor around its pointer. `rt.parallel` stays: its body can only be
    outlined when everything that it uses has an LLVM type (`outline-parallel`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def OutlineParallel : Pass<"outline-parallel", "::mlir::ModuleOp"> {
  let summary = "Outline the bodies of rt.parallel into functions";
  let description = [{
    Runs last, on the LLVM dialect. What a body uses from outside goes through a
    struct on the stack of the step; constants are copied into the body. Bodies that
    are equal then (the layers have most kernels in common) become one function.

    After: `llvm.call %run(%user, %count, @moec_step_task_0, %env)`.
  }];
  let statistics = [
    Statistic<"numOutlined", "outlined", "Number of parallel bodies outlined">,
    Statistic<"numShared", "shared",
              "Number of bodies that are the same as another">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // MOEC_CONVERSION_PASSES_TD
