//===- Batch.h - Checks of a ragged batch -----------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch comes from the caller of each step. Everything that the code will
// index with is checked here, without allocating.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_BATCH_H
#define MOEC_RUNTIME_LIB_BATCH_H

#include "moec/moec_runtime.h"

#include <cstdint>
#include <vector>

namespace moec::runtime {

/// Checks batches against the sizes of an artifact and its cache.
class BatchChecker {
public:
  /// Batches may have up to `maxTokens` tokens.
  BatchChecker(const moec_plan &plan, int64_t cachePages, int64_t maxTokens);

  /// MOEC_OK, or a code with `error` (if any) filled in.
  moec_code check(const moec_batch &batch, moec_error *error);

  int64_t maxTokens() const { return tokenLimit; }

private:
  /// The last row seen of a sequence.
  struct Seen {
    int32_t sequence = -1;
    int32_t position = -1;
  };

  moec_code checkSizes(const moec_batch &batch, moec_error *error) const;
  moec_code checkRow(const moec_batch &batch, int64_t row, moec_error *error);
  moec_code checkPages(const moec_batch &batch, int64_t row, int64_t firstPage,
                       moec_error *error) const;
  Seen &seen(int32_t sequence);

  moec_plan plan;
  int64_t cachePages;
  int64_t tokenLimit;
  /// Hash table by sequence: a power of two of at least twice the tokens.
  std::vector<Seen> table;
  std::size_t mask = 0; ///< of the part in use for the current batch
};

/// Fills in `error`, if there is one, and returns `code`.
[[gnu::format(printf, 3, 4)]] moec_code
report(moec_error *error, moec_code code, const char *format, ...);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_BATCH_H
