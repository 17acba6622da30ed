//===- Context.cpp - An artifact ready to step ----------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "Checked.h"
#include "Text.h"
#include "moec/manifest.h"

#include <algorithm>

using namespace moec;
using namespace moec::runtime;

Context::Context(const Artifact &artifact, const Weights &weights,
                 const ContextOptions &options, Artifact::Code code,
                 int64_t maxTokens)
    : weights(weights), options(options), code(code),
      needsTaps(!artifact.manifest().taps.empty()),
      checker(artifact.plan(), options.cachePages, maxTokens) {}

static Status checkMemory(const moec_plan &plan,
                          const ContextOptions &options) {
  if (!options.cache || options.cachePages < 1)
    return Status::invalidArgument(
        concat("cache of ", options.cachePages, " pages",
               options.cache ? "" : " at a null pointer",
               ", expected at least 1 page"));
  if (!checkedMultiply(options.cachePages, plan.cache_bytes_per_page))
    return Status::invalidArgument(concat("cache_pages ", options.cachePages,
                                          " x ", plan.cache_bytes_per_page,
                                          " bytes overflows"));
  auto address = reinterpret_cast<uintptr_t>(options.workspace);
  if (!options.workspace || address % workspaceAlignment != 0)
    return Status::invalidArgument(concat("the workspace is not aligned to ",
                                          workspaceAlignment, " bytes"));
  if (!options.parallel.run)
    return Status::invalidArgument("parallel has no function `run`");
  return Status();
}

Expected<std::unique_ptr<Context>>
Context::create(const Artifact &artifact, const Weights &weights,
                const ContextOptions &options) {
  moec_plan plan = artifact.plan();
  if (&weights.manifest() != &artifact.manifest())
    return Status::invalidArgument(
        "the weights were opened for another artifact");
  if (Status status = checkMemory(plan, options); !status)
    return status;
  std::optional<int64_t> forOne =
      checkedAdd(plan.workspace_bytes_fixed, plan.workspace_bytes_per_token);
  if (!forOne || options.workspaceBytes < *forOne)
    return Status::invalidArgument(
        concat("the workspace has ", options.workspaceBytes,
               " bytes, one token needs ", plan.workspace_bytes_fixed, " + ",
               plan.workspace_bytes_per_token));
  // Rows of a batch are numbered with 32 bits.
  int64_t maxTokens =
      std::min<int64_t>((options.workspaceBytes - plan.workspace_bytes_fixed) /
                            plan.workspace_bytes_per_token,
                        int64_t(1) << 24);
  Expected<Artifact::Code> code = artifact.code(options.variant);
  if (!code)
    return code.status();
  return std::unique_ptr<Context>(
      new Context(artifact, weights, options, *code, maxTokens));
}

moec_code Context::step(const moec_batch &batch, float *logits, void *taps,
                        moec_error *error) {
  if (moec_code failed = checker.check(batch, error); failed != MOEC_OK)
    return failed;
  if (batch.num_logits > 0 && !logits)
    return report(error, MOEC_INVALID_ARGUMENT, "logits is a null pointer");
  if (needsTaps && !taps)
    return report(error, MOEC_INVALID_ARGUMENT,
                  "taps is a null pointer, but the artifact was compiled with "
                  "--taps");
  moec_step_args args = {};
  args.num_tokens = batch.num_tokens;
  args.num_sequences = batch.num_sequences;
  args.num_logits = batch.num_logits;
  args.token_ids = batch.token_ids;
  args.positions = batch.positions;
  args.sequences = batch.sequences;
  args.page_table = batch.page_table;
  args.page_table_stride = batch.page_table_stride;
  args.logit_rows = batch.logit_rows;
  args.weights = weights.table();
  args.cache = options.cache;
  args.cache_pages = options.cachePages;
  args.workspace = options.workspace;
  args.logits = logits;
  args.taps = needsTaps ? taps : nullptr;
  args.parallel = &options.parallel;
  code.step(&args);
  return MOEC_OK;
}
