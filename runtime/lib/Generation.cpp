//===- Generation.cpp - Text generation, token by token -------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generation.h"

#include "JsonObject.h"
#include "Text.h"

#include <algorithm>
#include <chrono>
#include <limits>

using namespace moec::runtime;

int32_t moec::runtime::argmax(std::span<const float> values) {
  return static_cast<int32_t>(std::max_element(values.begin(), values.end()) -
                              values.begin());
}

/// `eos_token_id` of a configuration: a number, a list, null or absent.
static Expected<std::vector<int32_t>> eosOf(const Json &config,
                                            const std::string &place) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  JsonObject object(config, place);
  std::vector<int64_t> ids;
  if (object.has("eos_token_id") && !config["eos_token_id"].is_null()) {
    if (config["eos_token_id"].is_array())
      ids = object.integers("eos_token_id", 0, most);
    else
      ids.push_back(object.integer("eos_token_id", 0, most));
  }
  if (!object.ok())
    return object.status();
  return std::vector<int32_t>(ids.begin(), ids.end());
}

/// Of the file itself, else of its `text_config`.
static Expected<std::vector<int32_t>>
eosOfFile(const std::filesystem::path &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return std::vector<int32_t>();
  Expected<Json> config = readJsonFile(path);
  if (!config)
    return config.status();
  Expected<std::vector<int32_t>> ids = eosOf(*config, path.string());
  if (!ids || !ids->empty() || !config->contains("text_config"))
    return ids;
  return eosOf((*config)["text_config"], path.string() + ": text_config");
}

Expected<std::vector<int32_t>>
moec::runtime::readEosIds(const Manifest &manifest,
                          const std::filesystem::path &checkpoint) {
  if (!manifest.eosIds.empty())
    return manifest.eosIds;
  Expected<std::vector<int32_t>> ids =
      eosOfFile(checkpoint / "generation_config.json");
  if (!ids || !ids->empty())
    return ids;
  return eosOfFile(checkpoint / "config.json");
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// The prompt in chunks; logits of its last token only.
static Status prefill(Session &session, int32_t sequence,
                      std::span<const int32_t> prompt) {
  auto chunk = static_cast<std::size_t>(session.maxTokens());
  while (!prompt.empty()) {
    std::size_t count = std::min(chunk, prompt.size());
    bool last = count == prompt.size();
    SequenceRows rows = {sequence, prompt.first(count),
                         last ? LogitRows::last : LogitRows::none};
    if (Status status = session.step({&rows, 1}); !status)
      return status;
    prompt = prompt.subspan(count);
  }
  return Status();
}

/// Chooses and appends ids until one of the ends is reached.
static Status decode(Session &session, int32_t sequence,
                     const GenerateOptions &options, Generated &result) {
  auto start = std::chrono::steady_clock::now();
  result.finishReason = "length";
  while (static_cast<int64_t>(result.ids.size()) < options.maxNewTokens) {
    int32_t id = options.choose(session.logits(0));
    if (id < 0)
      return Status::outOfRange(
          concat("no token can be chosen after ", session.length(sequence),
                 " tokens: the logits are NaN or minus infinity"));
    if (result.ids.empty())
      start = std::chrono::steady_clock::now();
    result.ids.push_back(id);
    result.decodeSeconds = secondsSince(start);
    if (options.onToken)
      options.onToken(id);
    const std::vector<int32_t> &eos = options.eosIds;
    if (std::find(eos.begin(), eos.end(), id) != eos.end()) {
      result.ended = true;
      result.finishReason = "stop";
      return Status();
    }
    if (static_cast<int64_t>(result.ids.size()) == options.maxNewTokens)
      return Status();
    if (session.length(sequence) == session.maxContext()) {
      result.finishMessage =
          concat("the context is full: ", session.length(sequence), " of ",
                 session.maxContext(), " tokens");
      return Status();
    }
    SequenceRows rows = {sequence, {&id, 1}, LogitRows::last};
    if (Status status = session.step({&rows, 1}); !status)
      return status;
  }
  return Status();
}

Expected<Generated> moec::runtime::generate(Session &session,
                                            std::span<const int32_t> prompt,
                                            const GenerateOptions &options) {
  if (prompt.empty())
    return Status::invalidArgument(
        "the prompt is empty: there must be at least one token to go on from");
  if (static_cast<int64_t>(prompt.size()) > session.maxContext())
    return Status::outOfRange(concat("the prompt has ", prompt.size(),
                                     " tokens, the context has ",
                                     session.maxContext()));
  Expected<int32_t> sequence = session.addSequence();
  if (!sequence)
    return sequence.status();
  Generated result;
  auto start = std::chrono::steady_clock::now();
  Status status = prefill(session, *sequence, prompt);
  result.promptSeconds = secondsSince(start);
  if (status.ok())
    status = decode(session, *sequence, options, result);
  session.releaseSequence(*sequence);
  if (!status)
    return status;
  return result;
}
