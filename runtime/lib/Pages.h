//===- Pages.h - Pages of the latent cache ----------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_PAGES_H
#define MOEC_RUNTIME_LIB_PAGES_H

#include <cstdint>
#include <optional>
#include <vector>

namespace moec::runtime {

/// Hands out the numbers of free pages, [0, count) at the start.
class PageAllocator {
public:
  /// With a seed the pages come in an order that it decides: results must not
  /// depend on where pages lie.
  PageAllocator(int32_t count, std::optional<uint64_t> shuffleSeed);

  int64_t numFree() const { return static_cast<int64_t>(freePages.size()); }
  /// A free page; there must be one.
  int32_t allocate();
  void release(int32_t page) { freePages.push_back(page); }

private:
  std::vector<int32_t> freePages; ///< taken from the end
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_PAGES_H
