//===- Session.cpp - Sequences over a paged cache -------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "Checked.h"
#include "Parallel.h"
#include "Text.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

using namespace moec::runtime;

Session::Session(const Artifact &artifact, int64_t contextLimit,
                 const SessionOptions &options, int32_t cachePages)
    : plan(artifact.plan()), contextLimit(contextLimit),
      pagesPerSequence(ceilDivide(contextLimit, plan.page_size)),
      pages(cachePages, options.shufflePages), sequences(options.maxSequences),
      // Entries without a page are -1, which no step accepts.
      pageTable(options.maxSequences * pagesPerSequence, -1) {
  ids.reserve(options.maxTokens);
  positions.reserve(options.maxTokens);
  rowSequences.reserve(options.maxTokens);
  logitRows.reserve(options.maxTokens);
}

Status Session::allocate(const Artifact &artifact, const Weights &weights,
                         const SessionOptions &options, int64_t cachePages) {
  std::optional<int64_t> cacheBytes =
      checkedMultiply(cachePages, plan.cache_bytes_per_page);
  std::optional<int64_t> workspaceBytes =
      checkedLinear(plan.workspace_bytes_fixed, options.maxTokens,
                    plan.workspace_bytes_per_token);
  std::optional<int64_t> tapBytes =
      checkedMultiply(options.maxTokens, plan.tap_bytes_per_token);
  if (!cacheBytes || !workspaceBytes || !tapBytes)
    return Status::outOfMemory(concat("the memory for ", cachePages,
                                      " cache pages and ", options.maxTokens,
                                      " tokens per step overflows 63 bits"));
  Expected<Memory> memory = Memory::allocate(*cacheBytes, "cache");
  if (!memory)
    return memory.status();
  cache = *std::move(memory);
  if (options.cacheFill != std::byte(0))
    std::memset(cache.data(), std::to_integer<int>(options.cacheFill),
                cache.bytes());
  if (!(memory = Memory::allocate(*workspaceBytes, "workspace")))
    return memory.status();
  workspace = *std::move(memory);
  if (*tapBytes > 0) {
    if (!(memory = Memory::allocate(*tapBytes, "taps")))
      return memory.status();
    tapBuffer = *std::move(memory);
  }

  ContextOptions contextOptions;
  contextOptions.variant = options.variant;
  contextOptions.cache = cache.data();
  contextOptions.cachePages = cachePages;
  contextOptions.workspace = workspace.data();
  contextOptions.workspaceBytes = workspace.bytes();
  contextOptions.parallel =
      openMPParallel(options.threads > 0 ? options.threads : defaultThreads());
  Expected<std::unique_ptr<Context>> created =
      Context::create(artifact, weights, contextOptions);
  if (!created)
    return created.status();
  context = *std::move(created);
  return Status();
}

Expected<std::unique_ptr<Session>>
Session::create(const Artifact &artifact, const Weights &weights,
                const SessionOptions &options) {
  moec_plan plan = artifact.plan();
  int64_t contextLimit =
      options.maxContext == 0 ? plan.max_context : options.maxContext;
  if (contextLimit < 1 || contextLimit > plan.max_context)
    return Status::outOfRange(concat("a context of ", contextLimit,
                                     " tokens, the model has 1 to ",
                                     plan.max_context));
  constexpr int64_t limit = int64_t(1) << 24;
  if (options.maxTokens < 1 || options.maxTokens > limit ||
      options.maxSequences < 1 || options.maxSequences > limit)
    return Status::invalidArgument(
        concat(options.maxTokens, " tokens per step and ", options.maxSequences,
               " sequences, expected 1 to ", limit, " of each"));
  if (options.threads < 0 || options.threads > maxThreads)
    return Status::invalidArgument(concat(options.threads,
                                          " threads, expected 1 to ",
                                          maxThreads, ", or 0 for all"));
  int64_t cachePages = options.cachePages;
  if (cachePages == 0) // At most 31 + 24 bits.
    cachePages =
        options.maxSequences * ceilDivide(contextLimit, plan.page_size);
  if (cachePages < 1 || cachePages > std::numeric_limits<int32_t>::max())
    return Status::invalidArgument(concat("a cache of ", cachePages,
                                          " pages, expected 1 to ",
                                          std::numeric_limits<int32_t>::max()));
  std::unique_ptr<Session> session(new Session(
      artifact, contextLimit, options, static_cast<int32_t>(cachePages)));
  if (Status status = session->allocate(artifact, weights, options, cachePages);
      !status)
    return status;
  return session;
}

bool Session::isAlive(int32_t sequence) const {
  return sequence >= 0 && sequence < static_cast<int64_t>(sequences.size()) &&
         sequences[sequence].alive;
}

Expected<int32_t> Session::addSequence() {
  for (std::size_t index = 0; index < sequences.size(); ++index)
    if (!sequences[index].alive) {
      sequences[index] = {/*alive=*/true, /*length=*/0, /*numPages=*/0};
      return static_cast<int32_t>(index);
    }
  return Status::outOfRange(
      concat("all ", sequences.size(), " sequences of the session are in use"));
}

void Session::releaseSequence(int32_t sequence) {
  assert(isAlive(sequence) && "released twice, or never added");
  Sequence &state = sequences[sequence];
  int32_t *entries = pageTable.data() + sequence * pagesPerSequence;
  for (int64_t entry = 0; entry < state.numPages; ++entry)
    pages.release(std::exchange(entries[entry], -1));
  state = Sequence();
}

void Session::truncate(int32_t sequence, int64_t length) {
  assert(isAlive(sequence) && length >= 0);
  Sequence &state = sequences[sequence];
  state.length = std::min(state.length, length);
  int64_t needed = ceilDivide(state.length, plan.page_size);
  int32_t *entries = pageTable.data() + sequence * pagesPerSequence;
  for (; state.numPages > needed; --state.numPages)
    pages.release(std::exchange(entries[state.numPages - 1], -1));
}

int64_t Session::length(int32_t sequence) const {
  assert(isAlive(sequence));
  return sequences[sequence].length;
}

Status Session::checkBatch(std::span<const SequenceRows> batch) const {
  int64_t tokens = 0;
  int64_t newPages = 0;
  for (const SequenceRows &rows : batch) {
    if (!isAlive(rows.sequence))
      return Status::invalidArgument(
          concat("there is no sequence ", rows.sequence));
    if (rows.ids.empty())
      return Status::invalidArgument(
          concat("sequence ", rows.sequence, " has no tokens in this step"));
    auto sameSequence = [&](const SequenceRows &other) {
      return other.sequence == rows.sequence;
    };
    if (std::count_if(batch.begin(), batch.end(), sameSequence) != 1)
      return Status::invalidArgument(
          concat("sequence ", rows.sequence, " stands twice in this step"));
    const Sequence &state = sequences[rows.sequence];
    auto count = static_cast<int64_t>(rows.ids.size());
    if (count > contextLimit - state.length)
      return Status::outOfRange(
          concat("sequence ", rows.sequence, " would have ", state.length,
                 " + ", count, " tokens, the context has ", contextLimit));
    tokens += count;
    int64_t needed = ceilDivide(state.length + count, plan.page_size);
    newPages += std::max<int64_t>(needed - state.numPages, 0);
  }
  if (tokens > maxTokens())
    return Status::invalidArgument(concat(
        "a step of ", tokens, " tokens, the session allows ", maxTokens()));
  if (newPages > pages.numFree())
    return Status::outOfMemory(concat("the step needs ", newPages,
                                      " more pages of the cache, ",
                                      pages.numFree(), " are free"));
  return Status();
}

void Session::takePages(const SequenceRows &rows) {
  Sequence &state = sequences[rows.sequence];
  int64_t needed = ceilDivide(
      state.length + static_cast<int64_t>(rows.ids.size()), plan.page_size);
  int32_t *entries = pageTable.data() + rows.sequence * pagesPerSequence;
  for (; state.numPages < needed; ++state.numPages)
    entries[state.numPages] = pages.allocate();
}

void Session::addRows(const SequenceRows &rows) {
  int64_t position = sequences[rows.sequence].length;
  for (int32_t id : rows.ids) {
    if (rows.logits == LogitRows::all)
      logitRows.push_back(static_cast<int32_t>(ids.size()));
    ids.push_back(id);
    positions.push_back(static_cast<int32_t>(position++));
    rowSequences.push_back(rows.sequence);
  }
  if (rows.logits == LogitRows::last)
    logitRows.push_back(static_cast<int32_t>(ids.size() - 1));
}

Status Session::step(std::span<const SequenceRows> batch) {
  if (Status status = checkBatch(batch); !status)
    return status;
  ids.clear();
  positions.clear();
  rowSequences.clear();
  logitRows.clear();
  for (const SequenceRows &rows : batch) {
    takePages(rows);
    addRows(rows);
  }
  logitValues.resize(logitRows.size() * plan.vocab_size);

  moec_batch arrays = {};
  arrays.num_tokens = numTokens();
  arrays.num_sequences = static_cast<int64_t>(sequences.size());
  arrays.num_logits = numLogits();
  arrays.token_ids = ids.data();
  arrays.positions = positions.data();
  arrays.sequences = rowSequences.data();
  arrays.page_table = pageTable.data();
  arrays.page_table_stride = pagesPerSequence;
  arrays.logit_rows = logitRows.data();
  moec_error error;
  moec_code code =
      context->step(arrays, logitValues.data(), tapBuffer.data(), &error);
  if (code != MOEC_OK)
    return Status(code, error.message);
  for (const SequenceRows &rows : batch)
    sequences[rows.sequence].length += static_cast<int64_t>(rows.ids.size());
  return Status();
}

int64_t Session::numTokens() const { return static_cast<int64_t>(ids.size()); }

int64_t Session::numLogits() const {
  return static_cast<int64_t>(logitRows.size());
}

std::span<const float> Session::logits(int64_t row) const {
  assert(row >= 0 && row < numLogits());
  return std::span(logitValues).subspan(row * plan.vocab_size, plan.vocab_size);
}
