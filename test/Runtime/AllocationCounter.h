//===- AllocationCounter.h - Counts allocations of the whole program -*- C++
//-*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included by one source of a program. Counts every malloc, calloc, realloc
// and aligned allocation, those of operator new and of libraries among them.
// Sanitizers have allocators of their own, which call a hook.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TEST_RUNTIME_ALLOCATIONCOUNTER_H
#define MOEC_TEST_RUNTIME_ALLOCATIONCOUNTER_H

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

static std::atomic<int64_t> numAllocations{0};

#if __has_feature(address_sanitizer)

#include <sanitizer/allocator_interface.h>

static const int allocationHooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void *, std::size_t) { ++numAllocations; },
    [](const volatile void *) {});

#else

// What glibc's own malloc is called underneath.
extern "C" {
void *__libc_malloc(std::size_t size);
void *__libc_calloc(std::size_t count, std::size_t size);
void *__libc_realloc(void *block, std::size_t size);
void *__libc_memalign(std::size_t alignment, std::size_t size);

void *malloc(std::size_t size) {
  ++numAllocations;
  return __libc_malloc(size);
}
void *calloc(std::size_t count, std::size_t size) {
  ++numAllocations;
  return __libc_calloc(count, size);
}
void *realloc(void *block, std::size_t size) {
  ++numAllocations;
  return __libc_realloc(block, size);
}
void *aligned_alloc(std::size_t alignment, std::size_t size) {
  ++numAllocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **block, std::size_t alignment, std::size_t size) {
  ++numAllocations;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
}

#endif

#endif // MOEC_TEST_RUNTIME_ALLOCATIONCOUNTER_H
