//===- Bench.cpp - moec-run bench -----------------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BenchReport.h"
#include "Commands.h"
#include "Model.h"
#include "Parallel.h"
#include "Text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace moec::run;
using namespace moec::runtime;

namespace {

struct BenchCommand {
  ModelOptions model;
  std::vector<int64_t> promptTokens = {512};
  std::vector<int64_t> batches = {1, 4, 16};
  int64_t decodeTokens = 32;
  int64_t context = 0;
  std::vector<int> threads = {defaultThreads()};
  BenchOptions options;
  std::string jsonFile;

  int run();
  std::vector<BenchTest> tests() const;
};

/// A file that appears whole, at its name, or not at all.
class Output {
public:
  explicit Output(const std::string &name) : name(name) {}
  ~Output() {
    if (file) {
      std::fclose(file);
      std::remove(partialName().c_str());
    }
  }

  Status open() {
    std::error_code ignored;
    if (std::filesystem::is_directory(name, ignored))
      return Status::invalidFile(name + ": cannot write: it is a folder");
    file = std::fopen(partialName().c_str(), "w");
    return file ? Status() : failure();
  }
  Status write(const std::string &text) {
    bool written = std::fputs(text.c_str(), file) >= 0;
    written = std::fclose(std::exchange(file, nullptr)) == 0 && written;
    if (written && std::rename(partialName().c_str(), name.c_str()) == 0)
      return Status();
    Status status = failure();
    std::remove(partialName().c_str());
    return status;
  }

private:
  std::string partialName() const { return name + ".partial"; }
  Status failure() const {
    return Status::invalidFile(
        concat(name, ": cannot write: ", std::strerror(errno)));
  }

  std::string name;
  std::FILE *file = nullptr;
};

} // namespace

std::vector<BenchTest> BenchCommand::tests() const {
  std::vector<BenchTest> result;
  for (int count : threads) {
    for (int64_t tokens : promptTokens)
      if (tokens > 0)
        result.push_back({/*isPrompt=*/true, tokens, /*batch=*/1,
                          /*context=*/0, count});
    for (int64_t batch : batches)
      if (batch > 0 && decodeTokens > 0)
        result.push_back(
            {/*isPrompt=*/false, decodeTokens, batch, context, count});
  }
  return result;
}

int BenchCommand::run() {
  Output output(jsonFile);
  if (!jsonFile.empty())
    if (Status status = output.open(); !status)
      return reportFailure(status);
  Expected<Model> opened = openModel(model);
  if (!opened)
    return reportFailure(opened.status());
  BenchSetting setting;
  setting.artifact = opened->artifact.get();
  setting.variant = opened->variant;
  setting.weights = model.randomSeed ? "random" : model.weights;
  options.variant = opened->variant;
  setting.options = options;
  for (int count : threads) {
    Expected<MachineRates> rates = measureMachine(*opened->artifact, count);
    if (!rates)
      return reportFailure(rates.status());
    setting.machine.push_back(*rates);
  }
  std::vector<BenchResult> results;
  printHead(setting);
  for (const BenchTest &test : tests()) {
    Expected<BenchResult> result =
        runBench(*opened->artifact, *opened->weights, test, options);
    if (!result)
      return reportFailure(result.status());
    printResult(setting, *result);
    results.push_back(*std::move(result));
  }
  printNote(setting);
  if (jsonFile.empty())
    return 0;
  Json report = describe(setting, results);
  Status status = output.write(
      report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  return status ? 0 : reportFailure(status);
}

static void addOptions(CLI::App &app, BenchCommand &command) {
  command.model.addArtifact(app);
  command.model.addWeightsOrRandom(app);
  command.model.addVariant(app);
  constexpr int64_t most = int64_t(1) << 24;
  app.add_option("--prompt-tokens", command.promptTokens,
                 "Lengths of prompts to run: 128,512; 0: none")
      ->delimiter(',')
      ->check(CLI::Range(int64_t(0), most))
      ->capture_default_str();
  app.add_option("--batch", command.batches,
                 "Sequences that get a token in each step: 1,4,16; 0: none")
      ->delimiter(',')
      ->check(CLI::Range(int64_t(0), most))
      ->capture_default_str();
  app.add_option("--decode-tokens", command.decodeTokens,
                 "Steps of one token for each sequence")
      ->check(CLI::Range(int64_t(0), most))
      ->capture_default_str();
  app.add_option("--context", command.context,
                 "Tokens of each sequence before those steps")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 30))
      ->capture_default_str();
  app.add_option("--chunk", command.options.chunk,
                 "Tokens of a prompt per step")
      ->check(CLI::Range(int64_t(1), most))
      ->capture_default_str();
  app.add_option("--threads", command.threads,
                 "Numbers of threads: 1,2; default: one per CPU core")
      ->delimiter(',')
      ->check(CLI::Range(1, maxThreads));
  app.add_option("--repetitions", command.options.repetitions,
                 "Timed runs of each test, after one to warm up")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 16))
      ->capture_default_str();
  app.add_option("--seed", command.options.seed, "Seed of the token ids")
      ->capture_default_str();
  app.add_option("--json", command.jsonFile, "Write all figures to this file");
}

void moec::run::addBenchCommand(CLI::App &program, int &exitCode) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App *app = program.add_subcommand(
      "bench",
      "Measures prompts and decoding, and relates them to the machine");
  addOptions(*app, *command);
  app->final_callback([command, &exitCode] { exitCode = command->run(); });
}
