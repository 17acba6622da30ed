//===- CountStepAllocations.cpp - What steps of a compiled model allocate -===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// count-step-allocations NAME.moec WEIGHTS: runs three steps of the artifact
// (a chunk of a prompt, a decode token, both mixed) through the C header, on
// the caller's thread, and prints the allocations of each. Exits with 1 if
// there are any.
//
//===----------------------------------------------------------------------===//

#include "AllocationCounter.h"
#include "moec/moec_runtime.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

/// Two sequences of one page each.
struct Model {
  bool open(const char *artifactPath, const char *weightsPath);
  int64_t step(const std::vector<int32_t> &positions,
               const std::vector<int32_t> &sequences);

  static constexpr int64_t maxTokens = 16;
  moec_artifact *artifact = nullptr;
  moec_weights *weights = nullptr;
  moec_context *context = nullptr;
  moec_plan plan = {};
  moec_error error = {};
  std::vector<char> cache;
  std::vector<char> taps;
  std::vector<float> logits;
};

} // namespace

bool Model::open(const char *artifactPath, const char *weightsPath) {
  if (moec_artifact_open(artifactPath, &artifact, &error) != MOEC_OK ||
      moec_weights_open(artifact, weightsPath, &weights, &error) != MOEC_OK)
    return false;
  moec_artifact_plan(artifact, &plan);
  cache.resize(2 * plan.cache_bytes_per_page);
  taps.resize(maxTokens * plan.tap_bytes_per_token);
  logits.resize(maxTokens * plan.vocab_size);
  moec_context_options options = {};
  options.artifact = artifact;
  options.weights = weights;
  options.cache = cache.data();
  options.cache_pages = 2;
  int64_t bytes =
      plan.workspace_bytes_fixed + maxTokens * plan.workspace_bytes_per_token;
  options.workspace_bytes = (bytes + 63) / 64 * 64;
  options.workspace = std::aligned_alloc(64, options.workspace_bytes);
  return moec_context_create(&options, &context, &error) == MOEC_OK;
}

/// The allocations of a step, or -1 if it fails.
int64_t Model::step(const std::vector<int32_t> &positions,
                    const std::vector<int32_t> &sequences) {
  std::vector<int32_t> ids(positions.size(), 1);
  std::vector<int32_t> pageTable = {1, 0};
  std::vector<int32_t> rows = {static_cast<int32_t>(positions.size() - 1)};
  moec_batch batch = {};
  batch.num_tokens = static_cast<int64_t>(positions.size());
  batch.num_sequences = 2;
  batch.num_logits = 1;
  batch.token_ids = ids.data();
  batch.positions = positions.data();
  batch.sequences = sequences.data();
  batch.page_table = pageTable.data();
  batch.page_table_stride = 1;
  batch.logit_rows = rows.data();
  int64_t before = numAllocations;
  moec_code code =
      moec_context_step(context, &batch, logits.data(),
                        taps.empty() ? nullptr : taps.data(), &error);
  return code == MOEC_OK ? numAllocations - before : -1;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s NAME.moec WEIGHTS\n", argv[0]);
    return 2;
  }
  Model model;
  if (!model.open(argv[1], argv[2])) {
    std::fprintf(stderr, "error: %s\n", model.error.message);
    return 1;
  }
  int64_t counts[] = {
      model.step({0, 1, 2, 3, 4}, {0, 0, 0, 0, 0}),
      model.step({5}, {0}),
      model.step({6, 0, 1, 2}, {0, 1, 1, 1}),
  };
  bool none = true;
  for (int64_t count : counts) {
    std::printf("%lld allocations\n", static_cast<long long>(count));
    none = none && count == 0;
  }
  if (model.error.code != MOEC_OK)
    std::fprintf(stderr, "error: %s\n", model.error.message);
  return none ? 0 : 1;
}
