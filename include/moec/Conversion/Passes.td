//===- Passes.td - Conversion passes -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_CONVERSION_PASSES_TD
#define MOEC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTransformerToLinalg
    : Pass<"convert-transformer-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower the transformer dialect to linalg on tensors";
  let description = [{
    `@forward`, which is over [B, T] tensors, becomes `@moec_step(!llvm.ptr)`, which
    is over the rows of a ragged batch: B and T are collapsed into N rows, each with
    its sequence and its position. Parameters become `rt.weight`, the batch
    `rt.buffer`, the latent cache a memref that `cache_update` writes and
    `attention` reads page by page; `layers` and `experts` become `scf.for`, so the
    size of the IR does not depend on their numbers.

    Attention has two forms. `absorbed` pulls queries and outputs through
    kv_b_proj and works on the latent cache itself; `expanded` applies kv_b_proj
    to each page of the cache. Both combine the pages in order with an online
    softmax, so a row's result depends on nothing but its own sequence.

    Before: `%y = transformer.linear %x, %w : (tensor<?x?x7168xbf16>,
             !transformer.block_scaled<1536x7168, f8E4M3FN, f32, [128, 128]>) -> ...`

    After: a `linalg.generic` over (n, o, k) whose body widens the code, multiplies
    it by the scale read through (o floordiv 128, k floordiv 128), multiplies by x
    and adds up in f32; then one that rounds to bf16.
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
    "::moec::rt::RuntimeDialect"];
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
    struct on the stack of the step; constants are copied into the body.

    After: `llvm.call %run(%user, %count, @moec_step_task_0, %env)`.
  }];
  let statistics = [Statistic<"numOutlined", "outlined",
                              "Number of parallel bodies outlined">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // MOEC_CONVERSION_PASSES_TD
