//===- CApi.cpp - The functions of moec_runtime.h -------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Parallel.h"

#include <exception>
#include <new>

using namespace moec::runtime;

struct moec_artifact {
  std::unique_ptr<Artifact> value;
};
struct moec_weights {
  std::unique_ptr<Weights> value;
};
struct moec_context {
  std::unique_ptr<Context> value;
};

static moec_code deliver(const Status &status, moec_error *error) {
  if (status.ok())
    return MOEC_OK;
  return report(error, status.code(), "%s", status.message().c_str());
}

/// Runs `body`, which returns a Status; exceptions end here.
template <typename Body>
static moec_code guarded(moec_error *error, Body body) {
  try {
    return deliver(body(), error);
  } catch (const std::bad_alloc &) {
    return report(error, MOEC_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &exception) {
    return report(error, MOEC_INVALID_ARGUMENT, "%s", exception.what());
  }
}

static Status nullArgument(const char *name) {
  return Status::invalidArgument(std::string(name) + " is a null pointer");
}

/// Moves a value into a new handle, or passes the failure on.
template <typename Handle, typename Value>
static Status handOver(Expected<std::unique_ptr<Value>> made, Handle **handle) {
  if (!made)
    return made.status();
  *handle = new Handle{*std::move(made)};
  return Status();
}

moec_code moec_artifact_open(const char *path, moec_artifact **artifact,
                             moec_error *error) {
  return guarded(error, [&]() -> Status {
    if (!artifact)
      return nullArgument("artifact");
    *artifact = nullptr;
    if (!path)
      return nullArgument("path");
    return handOver(Artifact::open(path), artifact);
  });
}

void moec_artifact_close(moec_artifact *artifact) { delete artifact; }

void moec_artifact_plan(const moec_artifact *artifact, moec_plan *plan) {
  *plan = artifact->value->plan();
}

moec_code moec_weights_open(const moec_artifact *artifact, const char *folder,
                            moec_weights **weights, moec_error *error) {
  return guarded(error, [&]() -> Status {
    if (!weights)
      return nullArgument("weights");
    *weights = nullptr;
    if (!artifact || !folder)
      return nullArgument(artifact ? "folder" : "artifact");
    return handOver(Weights::open(artifact->value->manifest(), folder),
                    weights);
  });
}

void moec_weights_close(moec_weights *weights) { delete weights; }

moec_code moec_context_create(const moec_context_options *options,
                              moec_context **context, moec_error *error) {
  return guarded(error, [&]() -> Status {
    if (!context)
      return nullArgument("context");
    *context = nullptr;
    if (!options)
      return nullArgument("options");
    if (!options->artifact || !options->weights)
      return nullArgument(options->artifact ? "options->weights"
                                            : "options->artifact");
    ContextOptions converted;
    converted.variant = options->variant ? options->variant : "";
    converted.cache = options->cache;
    converted.cachePages = options->cache_pages;
    converted.workspace = options->workspace;
    converted.workspaceBytes = options->workspace_bytes;
    converted.parallel =
        options->parallel ? *options->parallel : serialParallel();
    return handOver(Context::create(*options->artifact->value,
                                    *options->weights->value, converted),
                    context);
  });
}

void moec_context_destroy(moec_context *context) { delete context; }

moec_code moec_context_step(moec_context *context, const moec_batch *batch,
                            float *logits, void *taps, moec_error *error) {
  if (!context || !batch)
    return report(error, MOEC_INVALID_ARGUMENT, "%s is a null pointer",
                  context ? "batch" : "context");
  return context->value->step(*batch, logits, taps, error);
}
