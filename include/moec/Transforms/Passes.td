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

def DecomposeFused : Pass<"decompose-fused", "::mlir::func::FuncOp"> {
  let summary = "Replace kernels by their definition in linalg";
  let description = [{
    Every op of the fused dialect has a decomposition to linalg on tensors, which
    defines it. This pass applies it to the kernels that have no tiles, that is to
    those that `lower-fused-to-vector` will not lower itself; with `all` to every
    one, which gives the reference that kernels are compared with.

    Before:
    ```mlir
    %y = fused.swiglu %gate, %up outs(%o) : ...
    ```
    After:
    ```mlir
    %y = linalg.generic {...} ins(%gate, %up) outs(%e) { arith.negf; math.exp; ... }
    ```
  }];
  let options = [Option<"all", "all", "bool", /*default=*/"false",
                        "Decompose kernels that have tiles too">];
  let statistics = [
    Statistic<"numDecomposed", "decomposed", "Number of kernels decomposed">];
  let dependentDialects = ["::moec::fused::FusedDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseEpilogues : Pass<"fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Fuse what follows a linear layer into its kernel";
  let description = [{
    The sums of a linear layer are in registers when the last block is done: gating
    and residual add cost nothing there, and the intermediate tensors and their
    roundings vanish.
    - `swiglu(linear(x, w0), linear(x, w1))` becomes one linear with both weights and
      the epilogue swiglu;
    - `add(linear(x, w), r)` becomes a linear with the residual r;
    - `add(combine(..), s)` and `add(r, combine(..))` become a combine with the
      shared experts' output s and the residual r.

    Only where the intermediate value has no other use.

    Before:
    ```mlir
    %g = fused.linear %x weights(%wg) outs(%o0) : ...
    %u = fused.linear %x weights(%wu) outs(%o1) : ...
    %s = fused.swiglu %g, %u outs(%o2) : ...
    ```
    After:
    ```mlir
    %s = fused.linear %x weights(%wg, %wu) outs(%o2) {epilogue = #fused<epilogue swiglu>} : ...
    ```
  }];
  let statistics = [
    Statistic<"numSwiglu", "swiglu", "Number of gated pairs of linear layers fused">,
    Statistic<"numResidual", "residual", "Number of residual adds fused">];
  let dependentDialects = ["::moec::fused::FusedDialect"];
}

def FuseRmsNorm : Pass<"fuse-rms-norm", "::mlir::func::FuncOp"> {
  let summary = "Fuse the residual add before a norm and the quantisation after it";
  let description = [{
    A row is read once: the norm's kernel adds the residual stream as it reads, and
    quantises while the row is in the cache.
    - `rms_norm(add(a, b))` becomes one rms_norm with the residual b, whose last result
      is the sum (the residual stream goes on with it);
    - `quantize(rms_norm(x))` becomes one rms_norm with `quantize_group`, if the norm's
      own result has no other use.

    It runs behind `fuse-epilogues`, so the adds that are left are those that no
    linear layer takes.

    Before:
    ```mlir
    %s = fused.add %a, %b outs(%o0) : ...
    %y = fused.rms_norm %s, %gain outs(%o1) {eps = 1.0e-06 : f64} : ...
    %q:2 = fused.quantize %y outs(%o2, %o3) {group = 128 : i64} : ...
    ```
    After:
    ```mlir
    %q:3 = fused.rms_norm %a, %gain residual %b outs(%o2, %o3, %o0) {eps = 1.0e-06 : f64, quantize_group = 128 : i64} : ...
    ```
  }];
  let statistics = [
    Statistic<"numResidual", "residual", "Number of residual adds fused">,
    Statistic<"numQuantize", "quantize", "Number of quantisations fused">];
  let dependentDialects = ["::moec::fused::FusedDialect"];
}

def FuseMla : Pass<"fuse-mla", "::mlir::func::FuncOp"> {
  let summary = "Fuse what stands between the projections and attention";
  let description = [{
    The norm of the latents, the rotation of keys and queries and the write into the
    paged cache work on the same rows and are small: one kernel does all, and the
    normalised latents and rotated keys go straight into the cache. Only where
    queries and keys are rotated alike and the intermediate values have no other use.

    Before:
    ```mlir
    %q = fused.rope %qr, %cos, %sin outs(%o0) {interleaved} : ...
    %l = fused.rms_norm %latent, %gain outs(%o1) {eps = 1.0e-06 : f64} : ...
    %k = fused.rope %kr, %cos, %sin outs(%o2) {interleaved} : ...
    fused.cache_write %l, %k, %cache, %table, %seq, %pos, %layer : ...
    %y = fused.mla_attention %qn, %q, %cache, %table, %seq, %pos, %layer weights(%w) outs(%o) ...
    ```
    After:
    ```mlir
    %q = fused.mla_prepare %latent, %gain, %kr, %qr, %cos, %sin, %cache, %table, %seq, %pos, %layer outs(%o0) {eps = 1.0e-06 : f64, interleaved} : ...
    %y = fused.mla_attention %qn, %q, %cache, %table, %seq, %pos, %layer weights(%w) outs(%o) ...
    ```
  }];
  let statistics = [
    Statistic<"numPrepared", "prepared", "Number of attentions whose preparation was fused">];
  let dependentDialects = ["::moec::fused::FusedDialect"];
}

def FuseMoEDispatch : Pass<"fuse-moe-dispatch", "::mlir::func::FuncOp"> {
  let summary = "Run all experts in grouped kernels";
  let description = [{
    `fused.experts` runs its body for one expert after another: a parallel region
    for each linear layer of each expert, and rows that are copied together first.
    Where the body is the family's expert, `down(swiglu(gate(x), up(x)))`, two
    grouped kernels do the same for all experts: the first gathers its rows as it
    reads them, and the tasks of both are (piece of work, column tile) pairs of all
    experts, so that every core is busy whatever the routing.

    Before: `%y = fused.experts %x, %offsets, %tokens outs(%o) { gate; up; swiglu; down } {experts = 384}`

    After:
    ```mlir
    %s = fused.grouped_linear %x tokens %tokens offsets %offsets work %w, %p step %step slots(%g, %u) outs(%t) {epilogue = #fused<epilogue swiglu>, ...}
    %y = fused.grouped_linear %s offsets %offsets work %w, %p step %step slots(%d) outs(%o) {...}
    ```
    A body of another form stays as it is. With quantised activations the rows that
    go into `down` are quantised by a kernel between the two.
  }];
  let statistics = [
    Statistic<"numFused", "fused", "Number of expert loops turned into kernels">];
  let dependentDialects = ["::moec::fused::FusedDialect"];
}

def ChooseFP8Tiles : Pass<"choose-fp8-tiles", "::mlir::func::FuncOp"> {
  let summary = "Choose how linear kernels are cut into tiles";
  let description = [{
    Gives `fused.linear`, `fused.grouped_linear` and `fused.mla_attention` the
    attribute `tiles` where the CPU has a kernel for them. Of linear layers: 64 columns share the 128x128 block's scale and fit
    the first-level cache decoded (16 KB in bf16, 32 KB in f32); `rows` bounds the
    partial sums of a task (256 x 64 f32 is 64 KB, in the second-level cache);
    register rows times four vectors fill the register file of the target
    (6 x 4 + 4 + 1 of 32 with AVX-512, 2 x 4 + 4 + 1 of 16 with AVX2); with up to
    `stream_rows` rows the kernel is bound by reading the weights, and decoding
    into registers is cheapest.

    Absorbed attention takes splits of 512 tokens: enough work for a task to be
    worth its combination (about 2 % of it), few enough for several threads from
    1024 tokens of context on.

    An op that already has tiles keeps them; options override the choice. Ops
    without tiles go the way of their decomposition: weights in f16, fewer output
    features than a group of 16, blocks that are no multiple of 16.

    Before: `fused.linear %x weights(%w) ...`

    After: `fused.linear %x weights(%w) ... {tiles = #fused.tiles<columns = 64, rows = 256, register_rows = 6, stream_rows = 8>}`
  }];
  let options = [
    Option<"columns", "columns", "int64_t", /*default=*/"0",
           "Columns of a tile, a multiple of 16 (0: choose)">,
    Option<"rows", "rows", "int64_t", /*default=*/"0",
           "Rows of a tile (0: choose)">,
    Option<"registerRows", "register-rows", "int64_t", /*default=*/"0",
           "Rows kept in registers (0: choose for the lanes)">,
    Option<"streamRows", "stream-rows", "int64_t", /*default=*/"-1",
           "Most rows of the streaming form (-1: choose)">,
    Option<"split", "split", "int64_t", /*default=*/"0",
           "Tokens of context of a task of attention (0: choose)">,
    Option<"slots", "slots", "int64_t", /*default=*/"0",
           "Tasks of attention at a time (0: choose)">];
  let statistics = [
    Statistic<"numTiled", "tiled", "Number of kernels given tiles">,
    Statistic<"numLeft", "left", "Number of linear layers left to linalg">];
  let dependentDialects = ["::moec::fused::FusedDialect"];
}

def LowerFusedToVector : Pass<"lower-fused-to-vector", "::mlir::ModuleOp"> {
  let summary = "Lower linear and attention kernels to loops of vectors (CPU)";
  let description = [{
    Runs on buffers. Each `fused.linear` and `fused.grouped_linear` with tiles
    becomes one `rt.parallel` whose tasks are column tiles (times pieces of work or
    of rows), in a function of its own: kernels that are equal but for the values of
    their operands share it.

    A vector of L lanes holds L / 4 output features of 4 chains each (see
    fused.linear for the order of the sum): the codes of a row's 16 bytes fill one
    128-bit lane, so weights are read as the checkpoint stores them, without a
    shuffle of their order, and x is read through 128-bit broadcasts. At the end of
    a block the chains of four vectors are added up by two rounds of shuffles.

    Up to `stream_rows` rows: groups of few features run over all of K at once,
    decoding into registers, while the weights of the next group are prefetched in
    the order of memory. More rows: a tile's columns are decoded, block by block,
    into a scratch that stays in the first-level cache, and multiplied with
    `register_rows` rows at a time.

    With `dot-product`, bf16 activations are multiplied by vdpbf16ps; codes become
    bf16 by two table look-ups (VBMI). Else all arithmetic is FMA in f32; codes
    become f16 by shifts and f32 by conversion, NaN included.

    `fused.mla_attention` with tiles becomes a region that pulls the queries through
    kv_b, one that attends to the splits of all rows' contexts, one that combines
    them, and one that pulls the latents through kv_b. The lanes of a vector are
    heads: the latents of the cache, as they lie in their pages, are only broadcast,
    and the softmax needs no sum across lanes. With `dot-product` and a cache in bf16
    the queries and the softmax's weights are rounded to bf16.

    After (streaming form, one row):
    ```mlir
    rt.parallel %step %tasks { ... scf.for %block ... iter_args(%total) {
      scf.for %piece = 0 to 8 iter_args(%acc0, %acc1) {
        vector.load (codes); llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"; x86vector.avx512.dot } ...
    ```
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"16",
           "Lanes of a vector (32-bit elements)">,
    Option<"dotProduct", "dot-product", "bool", /*default=*/"false",
           "Use AVX512-BF16 dot products and VBMI table look-ups">];
  let statistics = [
    Statistic<"numLowered", "lowered", "Number of different kernels lowered">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::x86vector::X86VectorDialect",
    "::moec::rt::RuntimeDialect"];
}

def AddProbe : Pass<"add-probe", "::mlir::ModuleOp"> {
  let summary = "Add a function that measures a variant's arithmetic";
  let description = [{
    `moec_probe(iterations)` does `iterations` times 12 independent vector
    multiply-adds of the kind that the variant's kernels are made of, in registers.
    Of the variants that a CPU can run, the runtime takes the one whose probe does
    most in a second: dot products are twice as fast as FMA on some cores and half
    as fast on others, and no feature flag says which.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"16",
           "Lanes of a vector (32-bit elements)">,
    Option<"dotProduct", "dot-product", "bool", /*default=*/"false",
           "Measure AVX512-BF16 dot products instead of FMA">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::mlir::x86vector::X86VectorDialect"];
}

#endif // MOEC_TRANSFORMS_PASSES_TD
