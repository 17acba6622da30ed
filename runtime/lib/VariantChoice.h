//===- VariantChoice.h - Which code variant is the fastest ------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a CPU can do says little of how fast it does it: BF16 dot products are
// twice as fast as multiply-adds of F32 on some cores and half as fast on
// others. So a variant's own probe is timed.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_VARIANTCHOICE_H
#define MOEC_RUNTIME_LIB_VARIANTCHOICE_H

#include "Manifest.h"

#include <span>

namespace moec::runtime {

/// A probe of an artifact's code.
using ProbeFunction = int64_t (*)(int64_t iterations);

/// Multiply-adds per second of a probe of `macs` per iteration, on `threads`
/// threads at once: the best of several runs, which together take some 2 ms.
double measureProbe(ProbeFunction probe, int64_t macs, int threads = 1);

/// A variant that this machine can run, and how fast its arithmetic is.
struct VariantRate {
  const Manifest::Variant *variant;
  double macsPerSecond;
};

/// The fastest. Of those within 10% of it the last: the list is in the order of
/// preference, and a choice between equals must not depend on noise.
const Manifest::Variant *fastest(std::span<const VariantRate> rates);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_VARIANTCHOICE_H
