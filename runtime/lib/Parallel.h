//===- Parallel.h - Threads for a step --------------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_PARALLEL_H
#define MOEC_RUNTIME_LIB_PARALLEL_H

#include "moec/moec_runtime.h"

namespace moec::runtime {

/// More than any machine has; a bound for what callers ask for.
inline constexpr int maxThreads = 4096;

/// The caller's own thread.
moec_parallel serialParallel();

/// A parallel-for on OpenMP's threads: the iterations are cut into at most
/// `threads` ranges of nearly equal length. A loop of one iteration, and one
/// inside another parallel region, stays on its thread.
moec_parallel openMPParallel(int threads);

/// The number of threads OpenMP would use by itself.
int defaultThreads();

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_PARALLEL_H
