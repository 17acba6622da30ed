//===- Parallel.cpp - Threads for a step ----------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"

#include <algorithm>
#include <cstdint>
#include <omp.h>

using namespace moec::runtime;

static void runSerial(void *, int64_t count, moec_task task, void *env) {
  if (count > 0)
    task(env, 0, count);
}

moec_parallel moec::runtime::serialParallel() {
  return {runSerial, /*user=*/nullptr};
}

static void runOpenMP(void *user, int64_t count, moec_task task, void *env) {
  auto threads = static_cast<int64_t>(reinterpret_cast<intptr_t>(user));
  int64_t ranges = std::min(threads, count);
  if (ranges <= 1 || omp_in_parallel())
    return runSerial(nullptr, count, task, env);
  // The first `longer` ranges have one iteration more than the others.
  int64_t length = count / ranges;
  int64_t longer = count % ranges;
  // Nothing may allocate within a step, but libomp does when a thread enters a
  // `parallel for`, and when a team is not as large as the last one.
#pragma omp parallel num_threads(static_cast<int>(threads))
  for (int64_t range = omp_get_thread_num(); range < ranges;
       range += omp_get_num_threads()) {
    int64_t begin = range * length + std::min(range, longer);
    task(env, begin, begin + length + (range < longer));
  }
}

moec_parallel moec::runtime::openMPParallel(int threads) {
  // The number itself is the user pointer, so nothing needs to be kept alive.
  return {runOpenMP, reinterpret_cast<void *>(
                         static_cast<intptr_t>(std::max(threads, 1)))};
}

int moec::runtime::defaultThreads() { return omp_get_max_threads(); }
