//===- Batch.cpp - Checks of a ragged batch -------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

using namespace moec::runtime;

moec_code moec::runtime::report(moec_error *error, moec_code code,
                                const char *format, ...) {
  if (error) {
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
  }
  return code;
}

BatchChecker::BatchChecker(const moec_plan &plan, int64_t cachePages,
                           int64_t maxTokens)
    : plan(plan), cachePages(cachePages), tokenLimit(maxTokens),
      table(std::bit_ceil(2 * static_cast<std::size_t>(maxTokens))) {}

BatchChecker::Seen &BatchChecker::seen(int32_t sequence) {
  // Fibonacci hashing spreads the usual small consecutive numbers.
  std::size_t at =
      static_cast<uint32_t>(sequence) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  while (table[at & mask].sequence != sequence &&
         table[at & mask].sequence != -1)
    ++at;
  return table[at & mask];
}

moec_code BatchChecker::checkSizes(const moec_batch &batch,
                                   moec_error *error) const {
  if (batch.num_tokens < 1)
    return report(error, MOEC_INVALID_ARGUMENT,
                  "the batch has %" PRId64 " tokens, expected at least 1",
                  batch.num_tokens);
  if (batch.num_tokens > tokenLimit)
    return report(error, MOEC_INVALID_ARGUMENT,
                  "the batch has %" PRId64
                  " tokens, the workspace is large enough for %" PRId64,
                  batch.num_tokens, tokenLimit);
  if (batch.num_sequences < 1)
    return report(error, MOEC_INVALID_ARGUMENT,
                  "the batch has %" PRId64 " sequences, expected at least 1",
                  batch.num_sequences);
  if (batch.num_logits < 0)
    return report(error, MOEC_INVALID_ARGUMENT,
                  "num_logits is %" PRId64 ", expected 0 or more",
                  batch.num_logits);
  if (batch.page_table_stride < 1)
    return report(error, MOEC_INVALID_ARGUMENT,
                  "page_table_stride is %" PRId64 ", expected at least 1",
                  batch.page_table_stride);
  int64_t entries;
  if (__builtin_mul_overflow(batch.num_sequences, batch.page_table_stride,
                             &entries))
    return report(error, MOEC_INVALID_ARGUMENT,
                  "num_sequences %" PRId64 " x page_table_stride %" PRId64
                  " overflows",
                  batch.num_sequences, batch.page_table_stride);
  if (!batch.token_ids || !batch.positions || !batch.sequences ||
      !batch.page_table || (batch.num_logits > 0 && !batch.logit_rows))
    return report(error, MOEC_INVALID_ARGUMENT,
                  "an array of the batch is a null pointer");
  return MOEC_OK;
}

moec_code BatchChecker::checkPages(const moec_batch &batch, int64_t row,
                                   int64_t firstPage, moec_error *error) const {
  int64_t sequence = batch.sequences[row];
  int64_t lastPage = batch.positions[row] / plan.page_size;
  if (lastPage >= batch.page_table_stride)
    return report(error, MOEC_OUT_OF_RANGE,
                  "row %" PRId64 ": position %d needs %" PRId64
                  " pages, the page table has %" PRId64 " per sequence",
                  row, batch.positions[row], lastPage + 1,
                  batch.page_table_stride);
  const int32_t *pages = batch.page_table + sequence * batch.page_table_stride;
  for (int64_t entry = firstPage; entry <= lastPage; ++entry)
    if (pages[entry] < 0 || pages[entry] >= cachePages)
      return report(error, MOEC_OUT_OF_RANGE,
                    "sequence %" PRId64 ": entry %" PRId64
                    " of its page table is %d, expected 0 to %" PRId64,
                    sequence, entry, pages[entry], cachePages - 1);
  return MOEC_OK;
}

moec_code BatchChecker::checkRow(const moec_batch &batch, int64_t row,
                                 moec_error *error) {
  int32_t id = batch.token_ids[row];
  if (id < 0 || id >= plan.vocab_size)
    return report(error, MOEC_OUT_OF_RANGE,
                  "row %" PRId64 " (position %d): token id %d is outside the "
                  "vocabulary, expected 0 to %" PRId64,
                  row, batch.positions[row], id, plan.vocab_size - 1);
  int32_t sequence = batch.sequences[row];
  if (sequence < 0 || sequence >= batch.num_sequences)
    return report(error, MOEC_OUT_OF_RANGE,
                  "row %" PRId64 ": sequence %d, expected 0 to %" PRId64, row,
                  sequence, batch.num_sequences - 1);
  int32_t position = batch.positions[row];
  if (position < 0 || position >= plan.max_context)
    return report(error, MOEC_OUT_OF_RANGE,
                  "row %" PRId64 ": position %d is outside the context, "
                  "expected 0 to %" PRId64,
                  row, position, plan.max_context - 1);
  Seen &last = seen(sequence);
  bool first = last.sequence == -1;
  if (!first && position != last.position + 1)
    return report(error, MOEC_INVALID_ARGUMENT,
                  "row %" PRId64 ": position %d of sequence %d follows "
                  "position %d, expected %d",
                  row, position, sequence, last.position, last.position + 1);
  // Of later rows only pages that no earlier row has reached are new.
  int64_t firstPage = first ? 0 : position / plan.page_size;
  last = {sequence, position};
  return checkPages(batch, row, firstPage, error);
}

moec_code BatchChecker::check(const moec_batch &batch, moec_error *error) {
  if (moec_code code = checkSizes(batch, error); code != MOEC_OK)
    return code;
  mask = std::bit_ceil(2 * static_cast<std::size_t>(batch.num_tokens)) - 1;
  std::fill(table.begin(), table.begin() + mask + 1, Seen());
  for (int64_t row = 0; row < batch.num_tokens; ++row)
    if (moec_code code = checkRow(batch, row, error); code != MOEC_OK)
      return code;
  for (int64_t index = 0; index < batch.num_logits; ++index) {
    int32_t row = batch.logit_rows[index];
    if (row < 0 || row >= batch.num_tokens)
      return report(error, MOEC_OUT_OF_RANGE,
                    "logit_rows[%" PRId64 "] is %d, expected 0 to %" PRId64,
                    index, row, batch.num_tokens - 1);
  }
  return MOEC_OK;
}
