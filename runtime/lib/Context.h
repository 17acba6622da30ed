//===- Context.h - An artifact ready to step --------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_CONTEXT_H
#define MOEC_RUNTIME_LIB_CONTEXT_H

#include "Artifact.h"
#include "Batch.h"
#include "Weights.h"

namespace moec::runtime {

/// Memory and threads, which belong to the caller.
struct ContextOptions {
  std::string_view variant; ///< empty: the best of this CPU
  void *cache = nullptr;
  int64_t cachePages = 0;
  void *workspace = nullptr;
  int64_t workspaceBytes = 0;
  moec_parallel parallel = {};
};

class Context {
public:
  /// Artifact and weights must outlive the context.
  static Expected<std::unique_ptr<Context>>
  create(const Artifact &artifact, const Weights &weights,
         const ContextOptions &options);

  /// Checks the batch and runs one step. Allocates nothing.
  moec_code step(const moec_batch &batch, float *logits, void *taps,
                 moec_error *error);

  /// Tokens that the workspace is large enough for.
  int64_t maxTokens() const { return checker.maxTokens(); }
  const Manifest::Variant &variant() const { return *code.variant; }

private:
  Context(const Artifact &artifact, const Weights &weights,
          const ContextOptions &options, Artifact::Code code,
          int64_t maxTokens);

  const Weights &weights;
  ContextOptions options;
  Artifact::Code code;
  bool needsTaps;
  BatchChecker checker;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_CONTEXT_H
