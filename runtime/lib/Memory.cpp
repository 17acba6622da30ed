//===- Memory.cpp - Anonymous memory --------------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include "Text.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace moec::runtime;

Expected<Memory> Memory::allocate(int64_t bytes, const char *purpose) {
  void *address =
      mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return Status::outOfMemory(concat("no memory for ", bytes, " bytes of ",
                                      purpose, ": ", std::strerror(errno)));
  return Memory(static_cast<std::byte *>(address), bytes);
}

Memory::Memory(Memory &&other) noexcept
    : start(std::exchange(other.start, nullptr)),
      size(std::exchange(other.size, 0)) {}

Memory &Memory::operator=(Memory &&other) noexcept {
  std::swap(start, other.start);
  std::swap(size, other.size);
  return *this;
}

Memory::~Memory() {
  if (start)
    munmap(start, static_cast<std::size_t>(size));
}
