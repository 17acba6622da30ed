//===- ConfigFiles.cpp - The files of a model's folder --------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigReader.h"
#include "ConfigSections.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace moec;
using llvm::MemoryBuffer;
using llvm::StringRef;
using mlir::failure;
using mlir::FailureOr;
namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

namespace {

/// Opens files and keeps them, in the source manager where there is one.
class FileOpener {
public:
  FileOpener(mlir::MLIRContext *context, llvm::SourceMgr *sources)
      : context(context), sources(sources ? sources : &own) {}

  FailureOr<llvm::MemoryBufferRef> open(StringRef file) {
    auto error = [&] {
      // An empty text under the file's name: the diagnostic handler would open
      // the file itself to show the line.
      sources->AddNewSourceBuffer(MemoryBuffer::getMemBuffer("", file),
                                  llvm::SMLoc());
      return mlir::emitError(mlir::FileLineColLoc::get(context, file, 1, 1));
    };
    fs::file_status status;
    if (std::error_code code = fs::status(file, status))
      return error() << "cannot open the file: " << code.message();
    if (!fs::is_regular_file(status))
      return error() << "this is no regular file; expected a model's folder "
                        "or its config.json";
    if (status.getSize() > JsonDocument::maxBytes)
      return error() << "the file has " << status.getSize()
                     << " bytes; expected at most " << JsonDocument::maxBytes;
    auto buffer = MemoryBuffer::getFile(file, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/true,
                                        /*IsVolatile=*/true);
    if (!buffer)
      return error() << "cannot read the file: " << buffer.getError().message();
    llvm::MemoryBufferRef ref = **buffer;
    sources->AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
    return ref;
  }

  FailureOr<std::optional<llvm::MemoryBufferRef>> openIfThere(StringRef folder,
                                                              StringRef name) {
    llvm::SmallString<256> file(folder);
    path::append(file, name);
    if (!fs::exists(file))
      return std::optional<llvm::MemoryBufferRef>();
    FailureOr<llvm::MemoryBufferRef> buffer = open(file);
    if (mlir::failed(buffer))
      return failure();
    return std::optional(*buffer);
  }

private:
  mlir::MLIRContext *context;
  llvm::SourceMgr own;
  llvm::SourceMgr *sources;
};

} // namespace

/// Reads a file beside the configuration, which must hold an object.
static FailureOr<JsonDocument> parseObject(mlir::MLIRContext *context,
                                           llvm::MemoryBufferRef text) {
  FailureOr<JsonDocument> document = JsonDocument::parse(context, text);
  if (mlir::failed(document) || document->root().kind == JsonKind::Object)
    return document;
  return mlir::emitError(document->valueLoc(document->root()))
         << "the file holds " << describe(document->root())
         << "; expected an object";
}

FailureOr<ModelConfig> moec::parseModelConfig(mlir::MLIRContext *context,
                                              const ConfigTexts &texts) {
  FailureOr<JsonDocument> document = JsonDocument::parse(context, texts.config);
  if (mlir::failed(document))
    return failure();
  FailureOr<TextModel> model = recogniseModel(*document);
  if (mlir::failed(model))
    return failure();

  // Errors beside the configuration do not hide those in it.
  bool failedBeside = false;
  if (texts.hfQuantConfig) {
    failedBeside = true;
    auto quantization = parseObject(context, *texts.hfQuantConfig);
    if (mlir::succeeded(quantization))
      refuseHfQuantConfig(*quantization);
  }
  FailureOr<JsonDocument> generation = failure();
  if (texts.generationConfig) {
    generation = parseObject(context, *texts.generationConfig);
    failedBeside |= mlir::failed(generation);
  }
  FailureOr<ModelConfig> config = readFields(
      *document, *model, mlir::succeeded(generation) ? &*generation : nullptr);
  if (failedBeside)
    return failure();
  return config;
}

/// What the model is called: its folder's name, or that of a file which is not
/// called config.json.
static std::string modelName(StringRef file) {
  llvm::SmallString<256> full;
  if (fs::real_path(file, full))
    full = file;
  if (path::filename(full) != "config.json")
    return path::stem(full).str();
  return path::filename(path::parent_path(full)).str();
}

/// Modelling files only give evidence: one that can't be read is no error.
static void scanModelingFiles(mlir::MLIRContext *context, StringRef folder,
                              StringRef classPrefix, ModelConfig &config) {
  llvm::SmallVector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    StringRef name = path::filename(entry->path());
    if (name.starts_with("modeling_") && name.ends_with(".py"))
      files.push_back(entry->path());
  }
  llvm::sort(files);
  for (const std::string &file : files) {
    uint64_t size = 0;
    if (fs::file_size(file, size) || size > JsonDocument::maxBytes)
      continue;
    if (auto text = MemoryBuffer::getFile(file))
      scanModelingFile(context, **text, classPrefix, config.modelingClasses);
  }
}

/// Exports in formats such as NVFP4 describe them in a file of their own; where
/// that is missing, the configuration looks like that of the BF16 model. The
/// name still tells, and running such weights as BF16 could not work.
static mlir::LogicalResult checkName(const ModelConfig &config,
                                     StringRef file) {
  if (config.fp8)
    return mlir::success();
  for (StringRef format : {"NVFP4", "MXFP4", "AWQ", "GPTQ", "INT4", "INT8"})
    if (StringRef(config.name).contains_insensitive(format))
      return mlir::emitError(config.locationsOf("architectures").front())
             << "the name \"" << config.name << "\" says that the weights are "
             << format
             << ", which the configuration does not describe (no "
                "quantization_config, no hf_quant_config.json); weights in "
                "that "
                "form are not supported yet";
  return mlir::success();
}

FailureOr<ModelConfig> moec::readModelConfig(mlir::MLIRContext *context,
                                             StringRef given,
                                             llvm::SourceMgr *sources) {
  llvm::SmallString<256> file(given);
  if (fs::is_directory(given)) {
    path::append(file, "config.json");
    llvm::SmallString<256> params(given);
    path::append(params, "params.json");
    if (!fs::exists(file) && fs::exists(params)) {
      mlir::emitError(mlir::FileLineColLoc::get(context, params, 1, 1))
          << "a params.json (as of Mistral-Large-3) is not supported; "
             "expected a config.json beside it";
      return failure();
    }
  }
  FileOpener opener(context, sources);
  FailureOr<llvm::MemoryBufferRef> text = opener.open(file);
  if (mlir::failed(text))
    return failure();
  StringRef folder = path::parent_path(file);
  auto generation = opener.openIfThere(folder, "generation_config.json");
  auto hfQuant = opener.openIfThere(folder, "hf_quant_config.json");
  if (mlir::failed(generation) || mlir::failed(hfQuant))
    return failure();
  FailureOr<ModelConfig> config =
      parseModelConfig(context, {*text, *generation, *hfQuant});
  if (mlir::failed(config))
    return failure();
  config->name = modelName(file);
  if (mlir::failed(checkName(*config, file)))
    return failure();
  const Family *family = findFamily(config->architecture);
  scanModelingFiles(context, folder.empty() ? "." : folder, family->classPrefix,
                    *config);
  return config;
}
