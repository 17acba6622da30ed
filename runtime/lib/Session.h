//===- Session.h - Sequences over a paged cache -----------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session owns what the C header leaves to its caller: the latent cache, the
// workspace, the pages of each sequence. A step takes new tokens for any of
// its sequences, prefill chunks and decode tokens mixed:
//
//   int32_t first = *session->addSequence();
//   int32_t second = *session->addSequence();
//   SequenceRows batch[] = {{first, promptChunk, LogitRows::none},
//                           {second, nextToken, LogitRows::last}};
//   Status status = session->step(batch);
//   session->logits(0); // of `second`
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_SESSION_H
#define MOEC_RUNTIME_LIB_SESSION_H

#include "Context.h"
#include "Memory.h"
#include "Pages.h"

#include <span>

namespace moec::runtime {

struct SessionOptions {
  std::string variant;    ///< empty: the best of this CPU
  int threads = 0;        ///< 0: as many as OpenMP would use
  int64_t maxContext = 0; ///< tokens per sequence; 0: the model's maximum
  int64_t maxSequences = 1;
  int64_t maxTokens = 512; ///< per step
  int64_t cachePages = 0;  ///< 0: enough for all sequences at full length
  std::optional<uint64_t> shufflePages; ///< seed of the order of pages
  std::byte cacheFill{0};               ///< what the cache holds at the start
};

/// The tokens of a step for which logits are wanted.
enum class LogitRows { none, last, all };

/// What a step appends to one sequence.
struct SequenceRows {
  int32_t sequence;
  std::span<const int32_t> ids;
  LogitRows logits = LogitRows::last;
};

class Session {
public:
  /// Artifact and weights must outlive the session.
  static Expected<std::unique_ptr<Session>>
  create(const Artifact &artifact, const Weights &weights,
         const SessionOptions &options);

  /// A new empty sequence.
  Expected<int32_t> addSequence();
  /// Gives its pages back.
  void releaseSequence(int32_t sequence);
  /// Forgets all but the first tokens of a sequence; gives their pages back.
  void truncate(int32_t sequence, int64_t length);
  /// Tokens of a sequence so far.
  int64_t length(int32_t sequence) const;

  int64_t maxContext() const { return contextLimit; }
  int64_t maxTokens() const { return context->maxTokens(); }
  const Context &stepContext() const { return *context; }

  /// Appends tokens to sequences. A failure leaves all lengths as they were.
  Status step(std::span<const SequenceRows> batch);

  // Of the last step, in the order of its rows:
  int64_t numTokens() const;
  int64_t numLogits() const;
  std::span<const float> logits(int64_t row) const;
  const std::byte *taps() const { return tapBuffer.data(); }

private:
  struct Sequence {
    bool alive = false;
    int64_t length = 0;
    int64_t numPages = 0; ///< valid entries of its row of the page table
  };

  Session(const Artifact &artifact, int64_t contextLimit,
          const SessionOptions &options, int32_t cachePages);
  Status allocate(const Artifact &artifact, const Weights &weights,
                  const SessionOptions &options, int64_t cachePages);
  Status checkBatch(std::span<const SequenceRows> batch) const;
  void takePages(const SequenceRows &rows);
  void addRows(const SequenceRows &rows);
  bool isAlive(int32_t sequence) const;

  moec_plan plan;
  int64_t contextLimit;
  int64_t pagesPerSequence;
  PageAllocator pages;
  std::vector<Sequence> sequences;
  std::vector<int32_t> pageTable; ///< [sequences, pagesPerSequence]
  Memory cache;
  Memory workspace;
  Memory tapBuffer;
  std::unique_ptr<Context> context;

  // The arrays of the current batch.
  std::vector<int32_t> ids;
  std::vector<int32_t> positions;
  std::vector<int32_t> rowSequences;
  std::vector<int32_t> logitRows;
  std::vector<float> logitValues;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_SESSION_H
