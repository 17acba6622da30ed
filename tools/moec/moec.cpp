//===- moec.cpp - The compiler's command line -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Compiler/Compiler.h"
#include "moec/Compiler/Registration.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace moec;
namespace cl = llvm::cl;

namespace {

/// Exit codes, as in docs/ and of moec-run.
enum ExitCode { done = 0, wrongInput = 1, usage = 2 };

cl::SubCommand compileCommand("compile",
                              "Compile a model's config.json to an artifact");
cl::OptionCategory category("moec compile options");

template <typename T> using Option = cl::opt<T>;

struct CommandLine {
  Option<std::string> input{cl::Positional, cl::Required,
                            cl::desc("MODEL_DIR|config.json|IR with --from"),
                            cl::sub(compileCommand), cl::cat(category)};
  Option<std::string> output{"o", cl::desc("Folder of the artifact"),
                             cl::value_desc("NAME.moec"),
                             cl::sub(compileCommand), cl::cat(category)};
  Option<std::string> target{"target", cl::desc("Target: cpu"), cl::init("cpu"),
                             cl::sub(compileCommand), cl::cat(category)};
  Option<std::string> activations{
      "activations",
      cl::desc("Activations: f32 (exact), bf16 (weights only are quantised) or "
               "fp8 (dynamic per token and 128 features)"),
      cl::init("bf16"), cl::sub(compileCommand), cl::cat(category)};
  Option<std::string> residual{
      "residual",
      cl::desc("Element type of the residual stream and of what flows between "
               "ops: bf16 or f32 (default: f32 with --activations=f32)"),
      cl::sub(compileCommand), cl::cat(category)};
  Option<std::string> attention{
      "attention",
      cl::desc("Attention: absorbed (on the latents) or expanded (keys and "
               "values of each page)"),
      cl::init("absorbed"), cl::sub(compileCommand), cl::cat(category)};
  Option<int64_t> pageSize{
      "page-size", cl::desc("Tokens per page of the cache"), cl::init(64),
      cl::sub(compileCommand), cl::cat(category)};
  Option<bool> taps{
      "taps",
      cl::desc("The artifact also yields the values of the golden taps"),
      cl::sub(compileCommand), cl::cat(category)};
  Option<std::string> emit{
      "emit",
      cl::desc("Print a level instead of writing the artifact: transformer, "
               "fused, linalg, bufferized, vector, llvm, asm"),
      cl::init("artifact"), cl::sub(compileCommand), cl::cat(category)};
  Option<std::string> from{"from", cl::desc("The input is IR of this level"),
                           cl::sub(compileCommand), cl::cat(category)};
  Option<bool> saveIR{"save-ir",
                      cl::desc("Keep the IR of each level in the artifact"),
                      cl::sub(compileCommand), cl::cat(category)};
  cl::list<std::string> without{
      "without",
      cl::desc("Leave passes of the fused level out, to see what each buys: "
               "fuse-epilogues, fuse-mla, fuse-rms-norm, fuse-moe-dispatch, "
               "choose-fp8-tiles"),
      cl::CommaSeparated, cl::sub(compileCommand), cl::cat(category)};
  Option<std::string> tiles{
      "tiles",
      cl::desc("Options of choose-fp8-tiles, as in \"columns=64 rows=128 "
               "stream-rows=4 split=1024\""),
      cl::sub(compileCommand), cl::cat(category)};
  cl::list<std::string> cpus{
      "cpu",
      cl::desc("Code variants: x86-64-v3, x86-64-v4, x86-64-v4-bf16 (default: "
               "all)"),
      cl::CommaSeparated, cl::sub(compileCommand), cl::cat(category)};
  Option<bool> printLocations{"print-locations",
                              cl::desc("Print locations with --emit"),
                              cl::sub(compileCommand), cl::cat(category)};
  Option<bool> quiet{"quiet", cl::desc("No progress and no summary"),
                     cl::sub(compileCommand), cl::cat(category)};
};

int failUsage(const llvm::Twine &message) {
  llvm::errs() << "moec: " << message << "\n";
  return usage;
}

/// Progress on standard error: each part with the time that it took.
class Progress {
public:
  explicit Progress(bool quiet) : quiet(quiet) {}
  ~Progress() { end(); }
  void begin(StringRef part) {
    end();
    current = part.str();
    start = std::chrono::steady_clock::now();
    if (!quiet)
      llvm::errs() << "moec: " << current << " ...";
  }
  /// A diagnostic comes: it begins on a line of its own.
  void breakLine() {
    if (!current.empty() && !quiet)
      llvm::errs() << "\n";
    current.clear();
  }
  void end() {
    if (current.empty())
      return;
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    if (!quiet)
      llvm::errs() << llvm::format(" %.2f s\n", seconds.count());
    current.clear();
  }

private:
  bool quiet;
  std::string current;
  std::chrono::steady_clock::time_point start;
};

std::string formatBytes(double bytes) {
  static constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  unsigned unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit)
    bytes /= 1000;
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
  return text;
}

void printPlan(const MemoryPlan &plan, StringRef output) {
  uint64_t codeBytes = 0;
  SmallString<128> code(output);
  llvm::sys::path::append(code, "code.so");
  llvm::sys::fs::file_size(code, codeBytes);
  llvm::errs() << "moec: wrote " << output << "\n"
               << "  code       " << formatBytes(codeBytes) << "\n"
               << "  weights    " << formatBytes(plan.weightBytes)
               << ", mapped from the checkpoint\n"
               << "  cache      " << formatBytes(plan.cacheBytesPerToken)
               << " per token of context\n"
               << "  workspace  " << formatBytes(plan.workspaceBytesFixed)
               << " + " << formatBytes(plan.workspaceBytesPerToken)
               << " per token of a step\n";
}

/// Checks the options against each other; the message says what is wrong.
std::optional<std::string> readOptions(const CommandLine &line,
                                       CompileOptions &options) {
  if (line.target != "cpu")
    return "unknown --target=" + line.target + "; this version has: cpu";
  if (!llvm::is_contained({"f32", "bf16", "fp8"}, line.activations.getValue()))
    return "unknown --activations=" + line.activations +
           "; expected f32, bf16 or fp8";
  if (line.residual.getNumOccurrences() > 0 && line.residual != "f32" &&
      line.residual != "bf16")
    return "unknown --residual=" + line.residual + "; expected f32 or bf16";
  if (line.activations == "f32" && line.residual == "bf16")
    return std::string("--activations=f32 means that everything is f32; "
                       "--residual=bf16 contradicts it");
  if (line.attention != "absorbed" && line.attention != "expanded")
    return "unknown --attention=" + line.attention +
           "; expected absorbed or expanded";
  if (line.pageSize < 2 || line.pageSize > 1024)
    return "--page-size=" + std::to_string(line.pageSize) +
           " is not between 2 and 1024";
  options.input = line.input;
  options.activations = line.activations;
  options.residualF32 = line.activations == "f32" || line.residual == "f32";
  options.taps = line.taps;
  options.saveIR = line.saveIR;
  options.lowering.expandedAttention = line.attention == "expanded";
  options.lowering.pageSize = line.pageSize;
  if (line.from.getNumOccurrences() > 0) {
    options.from = parseLevel(line.from);
    if (!options.from)
      return "unknown --from=" + line.from +
             "; expected transformer, fused, linalg, "
             "bufferized, vector or llvm";
    // What the IR was made with stands in it.
    if (line.activations.getNumOccurrences() > 0 ||
        line.residual.getNumOccurrences() > 0 || line.taps)
      return std::string("--activations, --residual and --taps shape the "
                         "import; they cannot be given with --from");
    if (options.from != Level::transformer &&
        (line.attention.getNumOccurrences() > 0 ||
         line.pageSize.getNumOccurrences() > 0))
      return std::string("--attention and --page-size shape the lowering to "
                         "fused; they cannot be given with a later --from");
    if (options.from != Level::transformer &&
        (!line.without.empty() || line.tiles.getNumOccurrences() > 0))
      return std::string("--without and --tiles are for passes of the fused "
                         "level; they cannot be given with a later --from");
  }
  for (const std::string &pass : line.without) {
    if (!llvm::is_contained(getOptionalPasses(), StringRef(pass)))
      return "unknown pass in --without=" + pass + "; expected " +
             llvm::join(getOptionalPasses(), ", ");
    options.lowering.without.push_back(pass);
  }
  if (!options.lowering.isOn("choose-fp8-tiles") &&
      line.tiles.getNumOccurrences() > 0)
    return std::string(
        "--tiles is for choose-fp8-tiles, which --without leaves "
        "out");
  options.lowering.tiles = line.tiles;
  if (std::string message = checkTileOptions(line.tiles); !message.empty())
    return "--tiles=" + line.tiles + ": " + message;
  for (const CPUVariant &variant : getCPUVariants())
    if (line.cpus.empty() || llvm::is_contained(line.cpus, variant.name))
      options.variants.push_back(&variant);
  for (const std::string &name : line.cpus)
    if (!findCPUVariant(name))
      return "unknown --cpu=" + name +
             "; expected x86-64-v3, x86-64-v4 or x86-64-v4-bf16";
  return std::nullopt;
}

int printLevel(Compiler &compiler, const CommandLine &line,
               const CPUVariant &variant, Progress &progress) {
  bool assembly = line.emit == "asm";
  Level level = assembly ? Level::llvm : *parseLevel(line.emit);
  auto module = compiler.compileTo(level, variant);
  if (failed(module))
    return wrongInput;
  std::string text;
  if (assembly) {
    FailureOr<std::string> code = printAssembly(**module, variant);
    if (failed(code))
      return wrongInput;
    text = *code;
  } else {
    llvm::raw_string_ostream out(text);
    OpPrintingFlags flags;
    if (line.printLocations)
      flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
    (*module)->print(out, flags);
    out << "\n";
  }
  progress.end();
  if (line.output.empty()) {
    llvm::outs() << text;
    llvm::outs().flush();
    bool failed = llvm::outs().has_error();
    llvm::outs().clear_error();
    if (!failed)
      return done;
    llvm::errs() << "moec: cannot write the output\n";
    return wrongInput;
  }
  std::error_code error;
  llvm::raw_fd_ostream out(line.output, error);
  if (!error) {
    out << text;
    out.close();
    error = out.error();
    out.clear_error();
  }
  if (!error)
    return done;
  llvm::errs() << "moec: cannot write " << line.output << ": "
               << error.message() << "\n";
  return wrongInput;
}

int compile(const CommandLine &line) {
  Progress progress(line.quiet);
  CompileOptions options;
  if (auto message = readOptions(line, options))
    return failUsage(*message);
  options.progress = [&](StringRef part) { progress.begin(part); };
  bool printsLevel = line.emit != "artifact";
  if (line.emit == "gpu" || line.emit == "ptx")
    return failUsage("--emit=" + line.emit +
                     ": the cpu target of this version has no such level");
  if (printsLevel && line.emit != "asm" && !parseLevel(line.emit))
    return failUsage("unknown --emit=" + line.emit);
  if (!printsLevel && line.output.empty())
    return failUsage("compile needs -o NAME.moec (or --emit=LEVEL to print)");

  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  // A module is too long to be shown with each error about it.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  ScopedDiagnosticHandler lineBreaker(&context, [&](Diagnostic &) {
    progress.breakLine();
    return failure(); // The handler above prints it.
  });
  const CPUVariant &variant = *options.variants.back();
  Compiler compiler(&context, sources, std::move(options));
  if (printsLevel)
    return printLevel(compiler, line, variant, progress);
  // Linking in this process resets the values of all command line options.
  std::string output = line.output;
  bool quiet = line.quiet;
  FailureOr<MemoryPlan> plan = compiler.compileArtifact(output);
  progress.end();
  if (failed(plan))
    return wrongInput;
  if (!quiet)
    printPlan(*plan, output);
  return done;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine line;
  registerMLIRContextCLOptions();
  registerAsmPrinterCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  registerPasses();
  // Without a stream, LLVM's parser exits with 1 on a wrong option; here that
  // code means that the input is wrong.
  if (!cl::ParseCommandLineOptions(
          argc, argv, "moec: an ahead-of-time compiler for MoE transformers\n",
          &llvm::errs()))
    return usage;
  if (compileCommand)
    return compile(line);
  return failUsage("expects a command: moec compile MODEL_DIR -o NAME.moec "
                   "(see moec --help)");
}
