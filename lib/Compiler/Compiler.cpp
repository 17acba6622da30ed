//===- Compiler.cpp - From config.json to an artifact -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Compiler/Compiler.h"

#include "OutputFolder.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Threading.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "moec/Import/Import.h"
#include "moec/Import/ModelConfig.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

using namespace mlir;
using namespace moec;

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

FailureOr<OwningOpRef<ModuleOp>> Compiler::readInput() {
  if (options.from) {
    options.progress("reading " + options.input);
    OwningOpRef<ModuleOp> module =
        parseSourceFile<ModuleOp>(options.input, sources, context);
    if (!module)
      return failure();
    // The IR may have been changed by hand since it was printed.
    if (*options.from == Level::transformer)
      annotateForManifest(*module);
    auto level = (*module)->getAttrOfType<StringAttr>(levelAttr);
    if (level && level.getValue() != stringifyLevel(*options.from))
      return emitError((*module)->getLoc(), "this is IR of the level ")
             << level.getValue() << ", --from says "
             << stringifyLevel(*options.from);
    return module;
  }
  options.progress("importing " + options.input);
  FailureOr<ModelConfig> config =
      readModelConfig(context, options.input, &sources);
  if (failed(config))
    return failure();
  ImportOptions importOptions;
  importOptions.activations = *symbolizeActivations(options.activations);
  importOptions.residualF32 = options.residualF32;
  importOptions.taps = options.taps;
  OwningOpRef<ModuleOp> module = importModel(context, *config, importOptions);
  if (!module)
    return failure();
  annotateForManifest(*module);
  return module;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

LogicalResult Compiler::runPasses(ModuleOp module, Level target,
                                  const CPUVariant &variant) {
  PassManager passes(context);
  if (failed(applyPassManagerCLOptions(passes)))
    return failure();
  applyDefaultTimingPassManagerCLOptions(passes);
  switch (target) {
  case Level::transformer:
    break;
  case Level::fused:
    buildTransformerToFused(passes, options.lowering);
    break;
  case Level::linalg:
    buildFusedToLinalg(passes);
    break;
  case Level::bufferized:
    buildLinalgToBufferized(passes);
    break;
  case Level::vector:
    buildBufferizedToVector(passes, variant);
    break;
  case Level::llvm:
    buildVectorToLLVM(passes);
    break;
  }
  return passes.run(module);
}

void Compiler::saveLevel(ModuleOp module, Level level,
                         const CPUVariant &variant) {
  if (!options.saveIR)
    return;
  std::string name = stringifyLevel(level).str() + ".mlir";
  if (level >= Level::vector)
    name = (variant.name + "/" + name).str();
  std::string text;
  llvm::raw_string_ostream out(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module.print(out, flags);
  std::lock_guard<std::mutex> lock(savedIRMutex);
  savedIR[name] = std::move(text);
}

/// Runs on several threads at once, one for each variant, so it reports nothing
/// and keeps the IR of levels under a lock.
LogicalResult Compiler::lower(ModuleOp module, Level from, Level to,
                              const CPUVariant &variant) {
  for (int level = static_cast<int>(from) + 1; level <= static_cast<int>(to);
       ++level) {
    Level target = static_cast<Level>(level);
    if (failed(runPasses(module, target, variant)))
      return failure();
    Builder b(context);
    module->setAttr(levelAttr, b.getStringAttr(stringifyLevel(target)));
    if (target == Level::fused) {
      module->setAttr(costAttr, describeCost(module));
      module->setAttr(attentionAttr,
                      b.getStringAttr(options.lowering.expandedAttention
                                          ? "expanded"
                                          : "absorbed"));
      module->setAttr(pageSizeAttr,
                      b.getI64IntegerAttr(options.lowering.pageSize));
    }
    saveLevel(module, target, variant);
  }
  return success();
}

FailureOr<OwningOpRef<ModuleOp>>
Compiler::compileTo(Level level, const CPUVariant &variant) {
  FailureOr<OwningOpRef<ModuleOp>> module = readInput();
  if (failed(module))
    return failure();
  Level from = options.from.value_or(Level::transformer);
  if (level < from)
    return emitError((*module)->getLoc(), "cannot go back from ")
           << stringifyLevel(from) << " to " << stringifyLevel(level);
  options.progress("lowering to " + stringifyLevel(level).str());
  if (failed(lower(**module, from, level, variant)))
    return failure();
  return module;
}

//===----------------------------------------------------------------------===//
// The artifact
//===----------------------------------------------------------------------===//

/// Gives a function of a variant's module the variant's name.
static LogicalResult rename(ModuleOp module, StringRef name,
                            StringRef variantName) {
  Operation *function = SymbolTable::lookupSymbolIn(module, name);
  if (!function)
    return module.emitError("expects a function @") << name;
  SymbolTable symbols(module);
  return symbols.rename(function, variantName);
}

FailureOr<std::string> Compiler::compileVariants(ModuleOp module, Level level) {
  std::string names = llvm::join(llvm::map_range(options.variants,
                                                 [](const CPUVariant *variant) {
                                                   return variant->name.str();
                                                 }),
                                 ", ");
  options.progress("lowering for " + names);
  SmallVector<OwningOpRef<ModuleOp>> modules;
  for (size_t number = 0; number < options.variants.size(); ++number)
    modules.push_back(cast<ModuleOp>(module->clone()));
  // No thread may load a dialect while others run.
  context->loadAllAvailableDialects();
  auto lowerVariant = [&](size_t number) -> LogicalResult {
    ModuleOp ofVariant = *modules[number];
    const CPUVariant &variant = *options.variants[number];
    return success(succeeded(rename(ofVariant, "moec_step", variant.entry)) &&
                   succeeded(lower(ofVariant, level, Level::llvm, variant)) &&
                   succeeded(rename(ofVariant, "moec_probe", variant.probe)));
  };
  if (failed(
          failableParallelForEachN(context, 0, modules.size(), lowerVariant)))
    return failure();
  options.progress("compiling for " + names);
  // LLVM's part takes most of the time; its contexts are independent.
  SmallVector<FailureOr<SmallVector<char, 0>>> results(modules.size(),
                                                       failure());
  std::vector<std::thread> threads;
  for (size_t number = 0; number < modules.size(); ++number)
    threads.emplace_back([&, number] {
      results[number] = emitObject(*modules[number], *options.variants[number]);
    });
  for (std::thread &thread : threads)
    thread.join();
  SmallVector<SmallVector<char, 0>> objects;
  for (auto &result : results) {
    if (failed(result))
      return failure();
    objects.push_back(std::move(*result));
  }
  if (options.saveIR)
    for (auto [variantModule, variant] : llvm::zip(modules, options.variants)) {
      FailureOr<std::string> text = printAssembly(*variantModule, *variant);
      if (failed(text))
        return failure();
      savedIR[(variant->name + "/code.s").str()] = *text;
    }
  return linkInMemory(module.getLoc(), objects);
}

/// The shared object of the object files, which lld can only write as a file.
FailureOr<std::string>
Compiler::linkInMemory(Location location,
                       ArrayRef<SmallVector<char, 0>> objects) {
  SmallString<128> file;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("moec", "so", file))
    return emitError(location, "cannot create a temporary file: ")
           << error.message();
  llvm::sys::RemoveFileOnSignal(file);
  llvm::FileRemover remover(file);
  if (failed(linkSharedObject(location, objects, file)))
    return failure();
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return emitError(location, "cannot read ")
           << file << ": " << buffer.getError().message();
  return (*buffer)->getBuffer().str();
}

LogicalResult Compiler::copyModelFiles(ModuleOp module, StringRef folder,
                                       ArtifactContents &contents) {
  if (!llvm::sys::fs::is_directory(options.input))
    return success();
  for (StringRef file :
       {"tiktoken.model", "tokenizer.json", "tokenizer_config.json",
        "generation_config.json", "chat_template.jinja"}) {
    SmallString<128> source(options.input), target(folder);
    llvm::sys::path::append(source, file);
    llvm::sys::path::append(target, file);
    if (!llvm::sys::fs::exists(source))
      continue;
    if (std::error_code error = llvm::sys::fs::copy_file(source, target))
      return module.emitError("cannot copy ")
             << source << " to " << target << ": " << error.message();
    contents.files.push_back(file.str());
    if (file == "tiktoken.model")
      contents.tokenizer = "tiktoken";
    else if (file == "tokenizer.json" && contents.tokenizer.empty())
      contents.tokenizer = "tokenizer.json";
    if (file.starts_with("tok") || file.starts_with("tik"))
      contents.tokenizerFiles.push_back(file.str());
  }
  return success();
}

FailureOr<MemoryPlan> Compiler::compileArtifact(StringRef output) {
  // Translations are registered before the threads that need them.
  DialectRegistry registry;
  registerAllToLLVMIRTranslations(registry);
  context->appendDialectRegistry(registry);
  FailureOr<OwningOpRef<ModuleOp>> module = readInput();
  if (failed(module))
    return failure();
  // The folder is refused before the work, if at all, and made after it, so
  // that an interrupted compile leaves nothing. It has no text to show in a
  // diagnostic.
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer("", output),
                             llvm::SMLoc());
  OutputFolder folder(FileLineColLoc::get(context, output, 1, 1), output);
  if (failed(folder.check()))
    return failure();
  Level level = options.from.value_or(Level::transformer);
  if (level > Level::bufferized)
    return emitError((*module)->getLoc(), "an artifact has code for several "
                                          "variants, but the level ")
           << stringifyLevel(level)
           << " is that of one; start from bufferized or before";
  saveLevel(**module, level, *options.variants.front());
  options.progress("lowering to bufferized");
  if (failed(
          lower(**module, level, Level::bufferized, *options.variants.front())))
    return failure();
  FailureOr<MemoryPlan> plan = getMemoryPlan(**module);
  if (failed(plan))
    return failure();
  FailureOr<std::string> code = compileVariants(**module, Level::bufferized);
  if (failed(code) || failed(folder.create()) ||
      failed(writeInto(folder.getPath(), **module, *code)) ||
      failed(folder.commit()))
    return failure();
  return plan;
}

LogicalResult Compiler::writeInto(StringRef folder, ModuleOp module,
                                  StringRef code) {
  ArtifactContents contents;
  contents.variants = options.variants;
  contents.files.push_back("code.so");
  Location location = module.getLoc();
  if (failed(writeTextFile(location, folder, "code.so", code)) ||
      failed(copyModelFiles(module, folder, contents)))
    return failure();
  for (auto &[name, text] : savedIR)
    if (failed(writeTextFile(location, folder, "ir/" + name.str(), text)))
      return failure();
  return writeManifest(module, contents, folder);
}
