//===- Generate.cpp - moec-run generate -----------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Generation.h"
#include "Json.h"
#include "MappedFile.h"
#include "Model.h"
#include "Text.h"
#include "text/Sampler.h"
#include "text/StreamDecoder.h"
#include "text/Tokenizer.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

using namespace moec::run;
using namespace moec::runtime;

namespace {

struct GenerateCommand {
  ModelOptions model;
  std::string prompt;
  std::string promptFile;
  std::vector<int64_t> promptIds;
  bool idsGiven = false;
  bool fileGiven = false;
  int64_t maxNewTokens = 64;
  int64_t maxContext = 0;
  int64_t chunk = 512;
  SamplerOptions sampler;
  int64_t topLogits = 0;
  bool json = false;

  int run();
};

} // namespace

static Expected<std::vector<int32_t>>
checkedIds(const std::vector<int64_t> &ids, int64_t vocabSize) {
  std::vector<int32_t> result;
  for (int64_t id : ids) {
    if (id < 0 || id >= vocabSize)
      return Status::outOfRange(concat("--prompt-ids: token id ", id,
                                       " at position ", result.size(),
                                       " is outside the vocabulary, expected "
                                       "0 to ",
                                       vocabSize - 1));
    result.push_back(static_cast<int32_t>(id));
  }
  return result;
}

static Expected<std::vector<int32_t>> readPrompt(const GenerateCommand &command,
                                                 const Manifest &manifest,
                                                 const Tokenizer *tokenizer) {
  if (command.idsGiven)
    return checkedIds(command.promptIds, manifest.model.vocabSize);
  if (!command.fileGiven)
    return tokenizer->encodePrompt(command.prompt);
  Expected<MappedFile> file = MappedFile::open(command.promptFile);
  if (!file)
    return file.status();
  return tokenizer->encodePrompt(file->text());
}

static double perSecond(std::size_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

/// The ids with the `count` largest logits, best first.
static Json describeTopLogits(std::span<const float> logits, int64_t count) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  auto end = ids.begin() + std::min<std::ptrdiff_t>(count, ids.size());
  std::partial_sort(ids.begin(), end, ids.end(), [&](int32_t a, int32_t b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  });
  Json list = Json::array();
  for (auto id = ids.begin(); id != end; ++id)
    list.push_back({{"id", *id}, {"logit", logits[*id]}});
  return list;
}

static void printJson(const std::vector<int32_t> &promptIds,
                      const Generated &generated, const std::string &text,
                      bool hasText, double loadSeconds, Json topLogits) {
  std::size_t decoded = generated.ids.empty() ? 0 : generated.ids.size() - 1;
  Json report = {{"prompt_ids", promptIds},
                 {"ids", generated.ids},
                 {"text", hasText ? Json(text) : Json()},
                 {"finish_reason", generated.finishReason},
                 {"timings",
                  {{"load_seconds", loadSeconds},
                   {"prompt_seconds", generated.promptSeconds},
                   {"prompt_tokens_per_second",
                    perSecond(promptIds.size(), generated.promptSeconds)},
                   {"decode_seconds", generated.decodeSeconds},
                   {"decode_tokens_per_second",
                    perSecond(decoded, generated.decodeSeconds)}}}};
  if (!topLogits.empty())
    report["top_logits"] = std::move(topLogits);
  if (!generated.finishMessage.empty())
    report["finish_message"] = generated.finishMessage;
  std::string line =
      report.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::printf("%s\n", line.c_str());
}

static void printSummary(std::size_t promptTokens, const Generated &generated) {
  std::size_t decoded = generated.ids.empty() ? 0 : generated.ids.size() - 1;
  std::fprintf(stderr,
               "%zu prompt tokens in %.3f s (%.1f tokens/s), %zu new tokens "
               "(%.1f tokens/s), finish: %s%s%s\n",
               promptTokens, generated.promptSeconds,
               perSecond(promptTokens, generated.promptSeconds),
               generated.ids.size(),
               perSecond(decoded, generated.decodeSeconds),
               generated.finishReason.c_str(),
               generated.finishMessage.empty() ? "" : ": ",
               generated.finishMessage.c_str());
}

/// Prints pieces of text as they come, or ids where there is no tokenizer.
class Printer {
public:
  Printer(const Tokenizer *tokenizer, const std::vector<int32_t> &eosIds,
          bool quiet)
      : eosIds(eosIds), quiet(quiet) {
    if (tokenizer)
      decoder.emplace(*tokenizer);
  }

  void token(int32_t id) {
    bool ends = std::find(eosIds.begin(), eosIds.end(), id) != eosIds.end();
    if (!decoder)
      print(concat(id, " "));
    else if (!ends)
      print(decoder->push(id));
  }
  void finish() {
    if (decoder)
      print(decoder->finish());
    if (!quiet)
      std::printf("\n");
  }
  const std::string &text() const { return all; }

private:
  void print(const std::string &piece) {
    all += piece;
    if (quiet || piece.empty())
      return;
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
  }

  const std::vector<int32_t> &eosIds;
  bool quiet;
  std::optional<StreamDecoder> decoder;
  std::string all;
};

/// As long as the text can become, within the model's maximum.
static int64_t neededContext(const GenerateCommand &command,
                             std::size_t promptTokens, int64_t modelMaximum) {
  if (command.maxContext > 0)
    return command.maxContext;
  int64_t room = modelMaximum - static_cast<int64_t>(promptTokens);
  if (room <= 0 || command.maxNewTokens >= room)
    return modelMaximum;
  return static_cast<int64_t>(promptTokens) +
         std::max<int64_t>(command.maxNewTokens, 1);
}

int GenerateCommand::run() {
  if (Status status = checkSamplerOptions(sampler); !status) {
    reportFailure(status);
    return 2;
  }
  Expected<Model> opened = openModel(model);
  if (!opened)
    return reportFailure(opened.status());
  const Manifest &manifest = opened->manifest();
  Expected<std::unique_ptr<Tokenizer>> tokenizer =
      Tokenizer::open({model.artifact, model.weights});
  if (!tokenizer && !idsGiven)
    return reportFailure(tokenizer.status());
  const Tokenizer *words = tokenizer ? tokenizer->get() : nullptr;
  Expected<std::vector<int32_t>> ids = readPrompt(*this, manifest, words);
  if (!ids)
    return reportFailure(ids.status());

  SessionOptions sessionOptions;
  sessionOptions.variant = model.variant;
  sessionOptions.threads = model.threads;
  sessionOptions.maxContext =
      neededContext(*this, ids->size(), manifest.model.maxPositions);
  sessionOptions.maxTokens =
      std::clamp<int64_t>(static_cast<int64_t>(ids->size()), 1, chunk);
  Expected<std::unique_ptr<Session>> session =
      Session::create(*opened->artifact, *opened->weights, sessionOptions);
  if (!session)
    return reportFailure(session.status());

  Expected<std::vector<int32_t>> eosIds = readEosIds(manifest, model.weights);
  if (!eosIds)
    return reportFailure(eosIds.status());
  Sampler chooser(sampler);
  Printer printer(words, *eosIds, json);
  GenerateOptions options;
  options.maxNewTokens = maxNewTokens;
  options.eosIds = *eosIds;
  Json bestLogits = Json::array();
  options.choose = [&](std::span<const float> logits) {
    if (topLogits > 0)
      bestLogits.push_back(describeTopLogits(logits, topLogits));
    return chooser.sample(logits);
  };
  options.onToken = [&](int32_t id) { printer.token(id); };
  Expected<Generated> generated = generate(**session, *ids, options);
  if (!generated)
    return reportFailure(generated.status());
  printer.finish();
  if (json)
    printJson(*ids, *generated, printer.text(), words != nullptr,
              opened->loadSeconds, std::move(bestLogits));
  printSummary(ids->size(), *generated);
  return 0;
}

static void addOptions(CLI::App &app, GenerateCommand &command) {
  command.model.addTo(app);
  CLI::Option_group *prompt = app.add_option_group("prompt");
  prompt->add_option("--prompt", command.prompt, "The text to go on from");
  CLI::Option *file = prompt->add_option("--prompt-file", command.promptFile,
                                         "A file with the text to go on from");
  CLI::Option *ids = prompt
                         ->add_option("--prompt-ids", command.promptIds,
                                      "The token ids to go on from: 1,2,3")
                         ->delimiter(',');
  prompt->require_option(1);
  app.add_option("--max-new-tokens", command.maxNewTokens,
                 "Tokens to generate at most")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 31))
      ->capture_default_str();
  app.add_option("--max-context", command.maxContext,
                 "Tokens of prompt and text together; default: as needed")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 31));
  app.add_option("--chunk", command.chunk, "Tokens of the prompt per step")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24))
      ->capture_default_str();
  app.add_option("--temperature", command.sampler.temperature,
                 "0 takes the most probable token")
      ->capture_default_str();
  app.add_option("--top-p", command.sampler.top_p,
                 "Only the best tokens that together have this probability")
      ->capture_default_str();
  app.add_option("--top-k", command.sampler.top_k,
                 "Only this many of the best tokens; 0: all")
      ->capture_default_str();
  app.add_option("--min-p", command.sampler.min_p,
                 "Only tokens of at least this part of the best's probability")
      ->capture_default_str();
  app.add_option("--seed", command.sampler.seed, "Seed of the sampling")
      ->capture_default_str();
  app.add_option("--top-logits", command.topLogits,
                 "With --json: the ids with the largest logits of each step")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 20));
  app.add_flag("--json", command.json,
               "Print one JSON object at the end instead of the text");
  app.parse_complete_callback([&command, file, ids] {
    command.fileGiven = file->count() > 0;
    command.idsGiven = ids->count() > 0;
  });
}

void moec::run::addGenerateCommand(CLI::App &program, int &exitCode) {
  auto command = std::make_shared<GenerateCommand>();
  CLI::App *app = program.add_subcommand("generate", "Goes on from a prompt");
  addOptions(*app, *command);
  app->final_callback([command, &exitCode] { exitCode = command->run(); });
}
