//===- RuntimeOps.td - Ops of the rt dialect -*- tablegen -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_DIALECTS_RUNTIME_RUNTIMEOPS_TD
#define MOEC_DIALECTS_RUNTIME_RUNTIMEOPS_TD

include "dialects/Runtime/RuntimeDialect.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Runtime_Op<string mnemonic, list<Trait> traits = []>
    : Op<Runtime_Dialect, mnemonic, traits>;

def Runtime_Extent : I32Enum<"Extent", "a size in moec_step_args", [
    I32EnumCase<"num_tokens", 0>,
    I32EnumCase<"num_sequences", 1>,
    I32EnumCase<"num_logits", 2>,
    I32EnumCase<"page_table_stride", 7>,
    I32EnumCase<"cache_pages", 11>]> {
  let cppNamespace = "::moec::rt";
}
def Runtime_ExtentAttr : EnumAttr<Runtime_Dialect, Runtime_Extent, "extent">;

def Runtime_Buffer : I32Enum<"Buffer", "a buffer in moec_step_args", [
    I32EnumCase<"token_ids", 3>,
    I32EnumCase<"positions", 4>,
    I32EnumCase<"sequences", 5>,
    I32EnumCase<"page_table", 6>,
    I32EnumCase<"logit_rows", 8>,
    I32EnumCase<"cache", 10>,
    I32EnumCase<"workspace", 12>,
    I32EnumCase<"logits", 13>,
    I32EnumCase<"taps", 14>]> {
  let cppNamespace = "::moec::rt";
}
def Runtime_BufferAttr : EnumAttr<Runtime_Dialect, Runtime_Buffer, "buffer">;

def Runtime_WeightPart : I32Enum<"WeightPart", "a pointer of a weight slot", [
    I32EnumCase<"payload", 0>, I32EnumCase<"scales", 1>]> {
  let cppNamespace = "::moec::rt";
}
def Runtime_WeightPartAttr
    : EnumAttr<Runtime_Dialect, Runtime_WeightPart, "weight_part">;

def Runtime_ExtentOp : Runtime_Op<"extent", [Pure]> {
  let summary = "A size of the batch or of the cache";
  let description = [{
    Example: `%n = rt.extent %step num_tokens : !llvm.ptr`.
  }];
  let arguments = (ins LLVM_AnyPointer:$step, Runtime_ExtentAttr:$extent);
  let results = (outs Index:$size);
  let assemblyFormat = "$step `` $extent attr-dict `:` type($step)";
}

def Runtime_BufferOp : Runtime_Op<"buffer", [Pure, AttrSizedOperandSegments]> {
  let summary = "A buffer that the caller owns, as a memref";
  let description = [{
    The memref begins `offset` elements behind the buffer's pointer (behind its
    first byte if there is no offset), is dense and row-major; `sizes` are its
    dynamic extents. Reads and writes go through the memref, so the op itself
    has no side effect.

    Example:
    ```mlir
    %ids = rt.buffer %step token_ids[%n] : !llvm.ptr -> memref<?xi32>
    %tmp = rt.buffer %step workspace offset %o [%n] : !llvm.ptr -> memref<?x7168xf32>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$step, Runtime_BufferAttr:$buffer,
                       Optional<Index>:$offset, Variadic<Index>:$sizes);
  let results = (outs AnyMemRef:$memref);
  let assemblyFormat = [{
    $step `` $buffer (`offset` $offset^)? (`[` $sizes^ `]`)? attr-dict
    `:` type($step) `->` type($memref)
  }];
  let hasVerifier = 1;
}

def Runtime_WeightOp : Runtime_Op<"weight", [Pure]> {
  let summary = "A tensor of the checkpoint, as it lies in the mapped file";
  let description = [{
    `weights[2 * slot]` is the payload, `weights[2 * slot + 1]` the block scales.
    The memref is dense, row-major and aligned to nothing: a safetensors file may
    place a tensor at any byte.

    Example:
    ```mlir
    %w = rt.weight %step payload[%slot] : !llvm.ptr -> memref<1536x7168xf8E4M3FN>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$step, Runtime_WeightPartAttr:$part,
                       Index:$slot);
  let results = (outs AnyStaticShapeMemRef:$memref);
  let assemblyFormat = [{
    $step `` $part `[` $slot `]` attr-dict `:` type($step) `->` type($memref)
  }];
  let hasVerifier = 1;
}

def Runtime_ParallelOp : Runtime_Op<"parallel", [AutomaticAllocationScope]> {
  let summary = "A loop that the caller's parallel-for runs";
  let description = [{
    Calls the body on disjoint ranges `[begin, end)` that together cover
    `[0, count)`, on any threads. The body is outlined into a function of its own
    at the end of the pipeline; what it uses from outside is passed through a
    struct on the stack of the step.

    The region's arguments are `i64`, so that the op needs no type conversion on
    the way to LLVM.

    Example:
    ```mlir
    rt.parallel %step %count : !llvm.ptr {
    ^bb0(%begin: i64, %end: i64):
      ...
      rt.yield
    }
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$step, I64:$count);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "$step $count `:` type($step) $body attr-dict";
  let hasRegionVerifier = 1;
}

def Runtime_YieldOp : Runtime_Op<"yield",
    [Pure, Terminator, ReturnLike, ParentOneOf<["ParallelOp"]>]> {
  let summary = "Ends the body of rt.parallel";
  let assemblyFormat = "attr-dict";
}

#endif // MOEC_DIALECTS_RUNTIME_RUNTIMEOPS_TD
