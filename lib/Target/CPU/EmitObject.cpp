//===- EmitObject.cpp - From the LLVM dialect to object code -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Target/CPU.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace moec;

ArrayRef<CPUVariant> moec::getCPUVariants() {
  static const CPUVariant variants[] = {
      {"x86-64-v3",
       "moec_step_x86_64_v3",
       "moec_probe_x86_64_v3",
       /*lanes=*/8,
       /*block=*/2,
       /*dotProduct=*/false,
       "x86-64-v3",
       "",
       {"avx2", "bmi2", "f16c", "fma"}},
      {"x86-64-v4",
       "moec_step_x86_64_v4",
       "moec_probe_x86_64_v4",
       /*lanes=*/16,
       /*block=*/4,
       /*dotProduct=*/false,
       "x86-64-v4",
       "",
       {"avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl",
        "bmi2", "f16c", "fma"}},
      {"x86-64-v4-bf16",
       "moec_step_x86_64_v4_bf16",
       "moec_probe_x86_64_v4_bf16",
       /*lanes=*/16,
       /*block=*/4,
       /*dotProduct=*/true,
       "x86-64-v4",
       "+avx512bf16,+avx512vbmi",
       {"avx2", "avx512bf16", "avx512bw", "avx512cd", "avx512dq", "avx512f",
        "avx512vbmi", "avx512vl", "bmi2", "f16c", "fma"}}};
  return variants;
}

const CPUVariant *moec::findCPUVariant(StringRef name) {
  for (const CPUVariant &variant : getCPUVariants())
    if (variant.name == name)
      return &variant;
  return nullptr;
}

namespace {

/// A module in LLVM IR with the target machine of its variant.
struct CompiledModule {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

std::unique_ptr<llvm::TargetMachine> createMachine(Location location,
                                                   const CPUVariant &variant) {
  static bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    emitError(location, "LLVM has no x86-64 back end: ") << error;
    return nullptr;
  }
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, variant.cpu, variant.flags, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  // The loops are vectorised and blocked already.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

LogicalResult compile(ModuleOp source, const CPUVariant &variant,
                      CompiledModule &result) {
  registerBuiltinDialectTranslation(*source.getContext());
  registerLLVMDialectTranslation(*source.getContext());
  result.machine = createMachine(source.getLoc(), variant);
  if (!result.machine)
    return failure();
  bool hasStep = llvm::any_of(
      source.getOps<LLVM::LLVMFuncOp>(), [](LLVM::LLVMFuncOp function) {
        return function.getName().starts_with("moec_step");
      });
  if (!hasStep)
    return source.emitError(
        "expects a function @moec_step in the LLVM dialect");
  // Other dialects' symbols (parameters) have said what they had to say.
  OwningOpRef<ModuleOp> code = cast<ModuleOp>(source->clone());
  for (Operation &op : llvm::make_early_inc_range(code->getOps()))
    if (!isa<LLVM::LLVMDialect>(op.getDialect()))
      op.erase();
  result.module = translateModuleToLLVMIR(*code, result.context);
  if (!result.module)
    return source.emitError("cannot be translated to LLVM IR");
  result.module->setTargetTriple(result.machine->getTargetTriple());
  result.module->setDataLayout(result.machine->createDataLayout());
  for (llvm::Function &function : *result.module) {
    // No calls of memcpy and the like: the shared object has no dependencies.
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  optimize(*result.module, *result.machine);
  return success();
}

LogicalResult emitFile(CompiledModule &compiled, llvm::CodeGenFileType type,
                       llvm::raw_pwrite_stream &out, Location location) {
  llvm::legacy::PassManager passes;
  if (compiled.machine->addPassesToEmitFile(passes, out, nullptr, type))
    return emitError(location, "LLVM cannot emit this kind of file");
  passes.run(*compiled.module);
  return success();
}

} // namespace

FailureOr<SmallVector<char, 0>> moec::emitObject(ModuleOp module,
                                                 const CPUVariant &variant) {
  CompiledModule compiled;
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  if (failed(compile(module, variant, compiled)) ||
      failed(emitFile(compiled, llvm::CodeGenFileType::ObjectFile, out,
                      module.getLoc())))
    return failure();
  return object;
}

FailureOr<std::string> moec::printAssembly(ModuleOp module,
                                           const CPUVariant &variant) {
  CompiledModule compiled;
  SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  if (failed(compile(module, variant, compiled)) ||
      failed(emitFile(compiled, llvm::CodeGenFileType::AssemblyFile, out,
                      module.getLoc())))
    return failure();
  return std::string(text.begin(), text.end());
}
