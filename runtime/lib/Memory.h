//===- Memory.h - Anonymous memory ------------------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_MEMORY_H
#define MOEC_RUNTIME_LIB_MEMORY_H

#include "Status.h"

#include <cstddef>
#include <cstdint>

namespace moec::runtime {

/// Owns zeroed memory, aligned to a page of the system. It takes physical
/// memory only where it is touched, so a cache may be sized for the longest
/// context.
class Memory {
public:
  static Expected<Memory> allocate(int64_t bytes, const char *purpose);

  Memory() = default;
  Memory(Memory &&other) noexcept;
  Memory &operator=(Memory &&other) noexcept;
  ~Memory();

  std::byte *data() const { return start; }
  int64_t bytes() const { return size; }

private:
  Memory(std::byte *start, int64_t size) : start(start), size(size) {}

  std::byte *start = nullptr;
  int64_t size = 0;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_MEMORY_H
