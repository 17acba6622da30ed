//===- Passes.td - Transformation passes ------------------*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TRANSFORMS_PASSES_TD
#define MOEC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VectorizeLinalg : Pass<"vectorize-linalg", "::mlir::func::FuncOp"> {
  let summary = "Turn linalg ops on memrefs into parallel loops of vectors";
  let description = [{
    Every `linalg` op becomes a loop nest with one dimension along the lanes of
    vectors. That dimension is chosen by how the operands are accessed: it must
    be contiguous, uniform, or a fixed shuffle within the last dimension of each
    operand (see LanePattern.h), and the one with most contiguous operands wins.

    Upstream's vectoriser is not used here for three reasons: it takes only
    projected permutations, but a block scale is read through
    `(o, k) -> (o floordiv 128, k floordiv 128)`; it leaves the order of a
    reduction to tile sizes and to LLVM, but moec promises that a row's bits do
    not depend on the number of rows; and it masks dynamic dimensions as a whole,
    where this pass has a loop over full blocks and one over the rest.

    Reductions along the lanes keep one vector of partial sums per result over
    the whole dimension, which is added up at its end in a fixed tree; other
    reductions run in order. Dimensions that some vector operand does not depend
    on are blocked, so that a decoded weight serves several rows. Blocks and
    their remainder compute each result by the same sequence of operations.

    Outside of parallel regions the outer dimensions become an `rt.parallel`.

    Before:
    ```mlir
    linalg.generic {indexing_maps = [(n, o, k) -> (n, k), (n, o, k) -> (o, k),
                                     (n, o, k) -> (n, o)], ...}
        ins(%x, %w) outs(%y) { arith.mulf; arith.addf }
    ```
    After (lanes along k, blocks of 4 rows n and 4 columns o):
    ```mlir
    rt.parallel %step %blocks { scf.for %n ... { scf.for %k ... iter_args(16 vectors) {
      vector.load; math.fma ... } tree sums; memref.store } }
    ```
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"16",
           "Lanes of a vector (32-bit elements)">,
    Option<"blockRows", "block", "int64_t", /*default=*/"4",
           "Block size of dimensions that reuse a vector operand">];
  let statistics = [
    Statistic<"numVectorized", "vectorized", "Number of ops vectorised">,
    Statistic<"numScalar", "scalar", "Number of ops left to scalar loops">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::moec::rt::RuntimeDialect"];
}

def ConvertForallToParallel
    : Pass<"convert-forall-to-parallel", "::mlir::func::FuncOp"> {
  let summary = "Turn scf.forall on memrefs into rt.parallel";
  let description = [{
    The iteration space is flattened; each range of it becomes an `scf.for` in
    the body of `rt.parallel`. A forall inside a parallel region becomes nested
    loops. Buffers that the body allocates (their size must be static) move to
    the stack, in front of the loop.

    Before: `scf.forall (%n, %h) in (%tokens, 16) { %t = memref.alloc() ... }`

    After:
    ```mlir
    rt.parallel %step %count {
    ^bb0(%begin: i64, %end: i64):
      %t = memref.alloca()
      scf.for %i = %begin to %end { %n, %h = affine.delinearize_index %i ... }
    }
    ```
  }];
  let options = [Option<"maxStackBytes", "max-stack-bytes", "int64_t",
                        /*default=*/"524288",
                        "Largest stack of a parallel body">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::moec::rt::RuntimeDialect"];
}

def PlanWorkspace : Pass<"plan-workspace", "::mlir::func::FuncOp"> {
  let summary = "Place every buffer of a step in the workspace";
  let description = [{
    Nothing may allocate inside a step. Each `memref.alloc` whose size is static
    or linear in the number of tokens (`rt.extent num_tokens`) gets a place in the
    workspace that the caller owns. Buffers whose lives do not overlap share it;
    a life is the span of operations, in the block of the allocation, that touch
    the buffer or a view of it.

    A place is `fixed + N * per_token` bytes behind the workspace's begin, 64-byte
    aligned for every N. The function's attributes `moec.workspace_bytes_fixed` and
    `moec.workspace_bytes_per_token` say what the caller has to provide.

    Before: `%a = memref.alloc(%n) : memref<?x7168xf32>`

    After: `%a = rt.buffer %step workspace offset %o [%n] : ... -> memref<?x7168xf32>`
  }];
  let statistics = [Statistic<"numPlaced", "placed", "Number of buffers placed">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::moec::rt::RuntimeDialect"];
}

def ExpandFloat8 : Pass<"expand-float8"> {
  let summary = "Compute with f8E4M3FN in integer and f16/f32 arithmetic";
  let description = [{
    Neither the arith lowerings nor LLVM's x86 back end know f8E4M3FN. Widening
    shifts a code's bits into an f16, whose exponent bias differs by 8, widens
    that exactly (subnormals included) and multiplies by 2^8; codes 0x7f and 0xff
    give NaN. Narrowing rounds to nearest even; magnitudes above 448, infinities
    and NaN give NaN, as the format has no infinity.

    Before: `%f = arith.extf %c : vector<16xf8E4M3FN> to vector<16xf32>`

    After: bitcast, extsi, shli, andi, bitcast to f16, extf, mulf, select.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandMath : Pass<"expand-math"> {
  let summary = "Replace exp, sin and cos by polynomials";
  let description = [{
    `math.exp` on f32 becomes upstream's polynomial approximation (within an ulp
    for arguments up to 88, 4 ulps at 88.7); left alone it would become one library call per lane.
    `math.sin` and `math.cos` on f32 reduce their argument in f64, so that they
    stay correct to an ulp for the angles of positions beyond 100000.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // MOEC_TRANSFORMS_PASSES_TD
