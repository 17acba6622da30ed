//===- CPU.h - The CPU target -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TARGET_CPU_H
#define MOEC_TARGET_CPU_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace moec {

/// A kind of x86-64 CPU that code is compiled for. An artifact holds the code
/// of several, and the runtime takes the last one that the machine can run.
struct CPUVariant {
  llvm::StringRef name;  ///< as in the manifest
  llvm::StringRef entry; ///< symbol of the entry point
  llvm::StringRef probe; ///< symbol of the function that measures arithmetic
  int64_t lanes;         ///< 32-bit elements of a vector
  int64_t block;         ///< rows and columns of a block of results
  bool dotProduct;       ///< AVX512-BF16 and VBMI
  llvm::StringRef cpu;   ///< LLVM's -mcpu
  llvm::StringRef flags; ///< and -mattr
  /// What the machine must have, in the names of /proc/cpuinfo.
  llvm::SmallVector<llvm::StringRef> features;
};

/// Independent vectors of sums in a variant's probe: enough to hide the latency
/// of a multiply-add, few enough for the registers of AVX2.
constexpr int64_t probeChains = 12;

/// All variants, in the order of preference: the last is the best.
llvm::ArrayRef<CPUVariant> getCPUVariants();

/// The variant of that name, or null.
const CPUVariant *findCPUVariant(llvm::StringRef name);

/// Translates a module in the LLVM dialect and compiles it for a variant.
/// Position-independent; needs no symbol of a library.
mlir::FailureOr<llvm::SmallVector<char, 0>>
emitObject(mlir::ModuleOp module, const CPUVariant &variant);

/// The module's assembly, as text.
mlir::FailureOr<std::string> printAssembly(mlir::ModuleOp module,
                                           const CPUVariant &variant);

/// Links object files into one shared object, by lld inside this process.
/// Undefined symbols are an error, reported at `location`.
mlir::LogicalResult
linkSharedObject(mlir::Location location,
                 llvm::ArrayRef<llvm::SmallVector<char, 0>> objects,
                 llvm::StringRef path);

} // namespace moec

#endif // MOEC_TARGET_CPU_H
