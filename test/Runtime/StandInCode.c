//===- StandInCode.c - Code of an artifact whose results can be foretold --===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A "model" that adds: a token's cache row holds its id, the logits of a token
// are 1 at (sum of the ids of its sequence up to it) mod V, and 0 elsewhere. So
// a result is right only if every earlier token was found through the page
// table. Its one tap is [N, 2] I32: id and position.
//
//===----------------------------------------------------------------------===//

#include "moec/moec_runtime.h"

#include <string.h>

enum { vocabSize = 10, pageSize = 4 };

/// The arguments of the last step, for tests to read.
moec_step_args standInLastArgs;
int64_t standInNumSteps;

static float *cacheRow(const moec_step_args *args, int64_t sequence,
                       int64_t position) {
  const int32_t *pages = args->page_table + sequence * args->page_table_stride;
  float *layer = (float *)args->cache; // Width 1; the first of the layers.
  return layer + (int64_t)pages[position / pageSize] * pageSize +
         position % pageSize;
}

static void writeRows(void *env, int64_t begin, int64_t end) {
  const moec_step_args *args = env;
  int32_t *taps = args->taps;
  for (int64_t row = begin; row < end; ++row) {
    int32_t id = args->token_ids[row];
    *cacheRow(args, args->sequences[row], args->positions[row]) = (float)id;
    if (taps) {
      taps[2 * row] = id;
      taps[2 * row + 1] = args->positions[row];
    }
  }
}

static void addRows(void *env, int64_t begin, int64_t end) {
  const moec_step_args *args = env;
  for (int64_t index = begin; index < end; ++index) {
    int32_t row = args->logit_rows[index];
    int64_t sum = 0;
    for (int64_t position = 0; position <= args->positions[row]; ++position)
      sum += (int64_t)*cacheRow(args, args->sequences[row], position);
    float *logits = args->logits + index * vocabSize;
    memset(logits, 0, vocabSize * sizeof(float));
    logits[sum % vocabSize] = 1;
  }
}

/// Calls of the probes.
int64_t standInNumProbes;

static int64_t count(int64_t iterations, int64_t perIteration) {
  ++standInNumProbes;
  volatile int64_t sum = 0;
  for (int64_t index = 0; index < iterations * perIteration; ++index)
    sum += index;
  return sum;
}

int64_t stand_in_probe(int64_t iterations) { return count(iterations, 1); }

/// Four times as slow.
int64_t stand_in_slow_probe(int64_t iterations) { return count(iterations, 4); }

void stand_in_step(const moec_step_args *args) {
  standInLastArgs = *args;
  ++standInNumSteps;
  const moec_parallel *parallel = args->parallel;
  parallel->run(parallel->user, args->num_tokens, writeRows, (void *)args);
  parallel->run(parallel->user, args->num_logits, addRows, (void *)args);
}
