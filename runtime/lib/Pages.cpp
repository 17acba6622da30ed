//===- Pages.cpp - Pages of the latent cache ------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pages.h"

#include <algorithm>
#include <cassert>
#include <random>

using namespace moec::runtime;

PageAllocator::PageAllocator(int32_t count, std::optional<uint64_t> shuffleSeed)
    : freePages(count) {
  for (int32_t page = 0; page < count; ++page)
    freePages[page] = count - 1 - page;
  if (shuffleSeed)
    std::shuffle(freePages.begin(), freePages.end(),
                 std::mt19937_64(*shuffleSeed));
}

int32_t PageAllocator::allocate() {
  assert(!freePages.empty() && "the caller checks numFree()");
  int32_t page = freePages.back();
  freePages.pop_back();
  return page;
}
