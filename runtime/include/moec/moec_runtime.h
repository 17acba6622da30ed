//===- moec_runtime.h - The public C interface of moec --------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one header that compiled artifacts, the runtime and programs that embed
// it have in common. Two parts:
//
//   1. the entry points of an artifact's code (`moec_step_args`): what the
//      compiler emits and the runtime calls;
//   2. the runtime's functions: open an artifact, map a checkpoint, create a
//      context over memory that the caller owns, step ragged batches.
//
// Sizes and offsets are 64-bit. No function throws. Letters in the shapes:
// N tokens of the batch, S sequences of the batch, R = kv_lora_rank,
// P = qk_rope_head_dim, V = vocab_size.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_MOEC_RUNTIME_H
#define MOEC_MOEC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Version of `moec_step_args` and of the meaning of its fields. The manifest
/// repeats it (`code.abi`); the runtime refuses code of another version.
#define MOEC_ABI_VERSION 1

//===----------------------------------------------------------------------===//
// 1. What an artifact's code is called with
//===----------------------------------------------------------------------===//

/// Works on the iterations [begin, end) of a parallel loop.
typedef void (*moec_task)(void *env, int64_t begin, int64_t end);

/// A parallel-for that the caller supplies. `run` calls `task` on ranges that
/// are disjoint and together cover [0, count), on any threads, and returns
/// when all have ended. Results do not depend on how the ranges are cut.
typedef struct moec_parallel {
  void (*run)(void *user, int64_t count, moec_task task, void *env);
  void *user;
} moec_parallel;

/// One step over a ragged batch: prefill chunks and decode tokens mixed, the
/// rows of a sequence in the order of their positions.
/// The order and the sizes of these fields are the binary interface: the
/// compiler emits loads at these offsets (every field has 8 bytes).
typedef struct moec_step_args {
  int64_t num_tokens;         ///< N, >= 1
  int64_t num_sequences;      ///< S, >= 1
  int64_t num_logits;         ///< rows of `logits`, >= 0
  const int32_t *token_ids;   ///< [N], in [0, vocab_size)
  const int32_t *positions;   ///< [N], position of each row in its sequence
  const int32_t *sequences;   ///< [N], row of `page_table` of each token
  const int32_t *page_table;  ///< [S, page_table_stride], pages of the cache
  int64_t page_table_stride;  ///< entries per sequence
  const int32_t *logit_rows;  ///< [num_logits], rows in [0, N)
  const void *const *weights; ///< two pointers per slot: payload, scales
  void *cache;                ///< [layers, cache_pages, page_size, R + P]
  int64_t cache_pages;        ///< pages per layer
  void *workspace;            ///< 64-byte aligned; size: see the manifest
  float *logits;              ///< [num_logits, V]
  void *taps;                 ///< 4 bytes per value; null without --taps
  const moec_parallel *parallel;
} moec_step_args;

/// Entry point of a code variant. Allocates nothing.
typedef void (*moec_step_function)(const moec_step_args *args);

//===----------------------------------------------------------------------===//
// 2. The runtime
//===----------------------------------------------------------------------===//

typedef enum moec_code {
  MOEC_OK = 0,
  MOEC_INVALID_ARGUMENT = 1, ///< a call's own arguments are wrong
  MOEC_INVALID_FILE = 2,     ///< a file is missing, damaged or does not fit
  MOEC_UNSUPPORTED = 3,      ///< version, target or CPU feature not available
  MOEC_OUT_OF_RANGE = 4,     ///< token, position, page or context out of range
  MOEC_OUT_OF_MEMORY = 5
} moec_code;

/// Why a call failed. The caller owns it; a null pointer is allowed wherever
/// one is taken. `message` names the file, tensor or index, what was found and
/// what was expected; it is cut at the end of the array.
typedef struct moec_error {
  moec_code code;
  char message[4088];
} moec_error;

typedef struct moec_artifact moec_artifact; ///< a compiled model, read-only
typedef struct moec_weights moec_weights;   ///< a mapped checkpoint, read-only
typedef struct moec_context moec_context;   ///< an artifact ready to step

/// Opens the folder NAME.moec: checks the manifest, the files' hashes, and
/// that this machine has the features of at least one code variant.
moec_code moec_artifact_open(const char *path, moec_artifact **artifact,
                             moec_error *error);
void moec_artifact_close(moec_artifact *artifact);

/// What a caller needs to allocate memory for an artifact.
typedef struct moec_plan {
  int64_t num_layers;
  int64_t vocab_size;
  int64_t max_context;               ///< positions per sequence
  int64_t page_size;                 ///< tokens per page of the cache
  int64_t cache_bytes_per_page;      ///< over all layers
  int64_t workspace_bytes_fixed;     ///< workspace for N tokens:
  int64_t workspace_bytes_per_token; ///<   fixed + N * per_token
  int64_t tap_bytes_per_token;       ///< 0 without --taps
} moec_plan;
void moec_artifact_plan(const moec_artifact *artifact, moec_plan *plan);

/// Maps the checkpoint in a folder (model.safetensors, or the shards of
/// model.safetensors.index.json) and checks every parameter of the artifact
/// against it. The artifact must outlive the weights.
moec_code moec_weights_open(const moec_artifact *artifact, const char *folder,
                            moec_weights **weights, moec_error *error);
void moec_weights_close(moec_weights *weights);

/// Memory and threads of a context. Artifact, weights, cache, workspace and
/// parallel must outlive it.
typedef struct moec_context_options {
  const moec_artifact *artifact;
  const moec_weights *weights;
  const char *variant; ///< code variant, or null: the best of this CPU
  void *cache;         ///< cache_pages * plan.cache_bytes_per_page bytes
  int64_t cache_pages;
  void *workspace; ///< 64-byte aligned
  int64_t workspace_bytes;
  const moec_parallel *parallel; ///< null: one thread, the caller's
} moec_context_options;

moec_code moec_context_create(const moec_context_options *options,
                              moec_context **context, moec_error *error);
void moec_context_destroy(moec_context *context);

/// A ragged batch; fields as in moec_step_args.
typedef struct moec_batch {
  int64_t num_tokens;
  int64_t num_sequences;
  int64_t num_logits;
  const int32_t *token_ids;
  const int32_t *positions;
  const int32_t *sequences;
  const int32_t *page_table;
  int64_t page_table_stride;
  const int32_t *logit_rows;
} moec_batch;

/// Checks the batch (ids, positions, pages, workspace size) and runs one step.
/// `logits` is [num_logits, vocab_size]; `taps` may be null unless the artifact
/// was compiled with --taps. Allocates nothing.
moec_code moec_context_step(moec_context *context, const moec_batch *batch,
                            float *logits, void *taps, moec_error *error);

#ifdef __cplusplus
}
#endif

#endif // MOEC_MOEC_RUNTIME_H
