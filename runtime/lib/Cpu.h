//===- Cpu.h - Features of this machine's CPU -------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_CPU_H
#define MOEC_RUNTIME_LIB_CPU_H

#include "Manifest.h"

#include <set>

namespace moec::runtime {

using CpuFeatures = std::set<std::string, std::less<>>;

/// The features that this CPU has and whose registers the operating system
/// saves, by the names that manifests use (LLVM's: "avx2", "avx512bf16", ...).
const CpuFeatures &cpuFeatures();

/// The variants that `features` allow, in the order of the list: all, or the
/// one of this name. There is one at least; the failure names the features that
/// are missing.
Expected<std::vector<const Manifest::Variant *>>
usableVariants(const std::vector<Manifest::Variant> &variants,
               const CpuFeatures &features, std::string_view name = {});

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_CPU_H
