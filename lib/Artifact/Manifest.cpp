//===- Manifest.cpp - What an artifact says of itself -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Artifact/Manifest.h"

#include "dialects/Runtime/RuntimeOps.h"
#include "mlir/IR/Builders.h"
#include "moec/Conversion/StepLayout.h"
#include "moec/manifest.h"
#include "moec/moec_runtime.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace moec;
using Json = nlohmann::ordered_json;

static constexpr StringLiteral tapsAttr = "moec.taps";
static constexpr StringLiteral cacheAttr = "moec.cache";
static constexpr StringLiteral modelAttr = "transformer.model";

/// safetensors' name of an element type.
static std::string getDtypeName(Type type) {
  if (type.isF32())
    return "F32";
  if (type.isBF16())
    return "BF16";
  if (type.isF16())
    return "F16";
  if (isa<Float8E4M3FNType>(type))
    return "F8_E4M3";
  assert(type.isInteger(32) && "no other types reach an artifact");
  return "I32";
}

static int64_t getByteWidth(Type type) {
  return type.getIntOrFloatBitWidth() / 8;
}

static int64_t getNumElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

void moec::annotateForManifest(ModuleOp module) {
  StepLayout layout(module);
  Builder b(module.getContext());
  SmallVector<Attribute> taps;
  for (transformer::TapOp tap : layout.getTaps()) {
    TapPlace place = layout.getTap(tap);
    NamedAttrList entry;
    entry.append("name", b.getStringAttr(tap.getName()));
    entry.append("offset", b.getI64IntegerAttr(place.offset));
    entry.append("width", b.getI64IntegerAttr(place.width));
    bool isInteger = getElementTypeOrSelf(tap.getX().getType()).isInteger();
    entry.append("dtype", b.getStringAttr(isInteger ? "I32" : "F32"));
    if (auto layers = tap->getParentOfType<transformer::LayersOp>()) {
      entry.append("layer_begin", b.getI64IntegerAttr(layers.getLayerBegin()));
      entry.append("layer_end", b.getI64IntegerAttr(layers.getLayerEnd()));
      entry.append("stride", b.getI64IntegerAttr(place.stride));
    }
    taps.push_back(entry.getDictionary(module.getContext()));
  }
  module->setAttr(tapsAttr, b.getArrayAttr(taps));
  module.walk([&](transformer::CacheUpdateOp update) {
    module->setAttr(cacheAttr, TypeAttr::get(update.getCache().getType()));
  });
}

/// The function @moec_step, or its copy for a variant.
static Operation *findStep(ModuleOp module) {
  for (Operation &op : module.getOps())
    if (op.hasAttr("moec.workspace_bytes_fixed"))
      return &op;
  return nullptr;
}

FailureOr<MemoryPlan> moec::getMemoryPlan(ModuleOp module) {
  Operation *step = findStep(module);
  auto cacheType = module->getAttrOfType<TypeAttr>(cacheAttr);
  if (!step || !cacheType)
    return module.emitError("expects a module with placed buffers: @moec_step "
                            "with moec.workspace_bytes_fixed, and ")
           << cacheAttr;
  MemoryPlan plan;
  auto read = [&](StringRef name) {
    return step->getAttrOfType<IntegerAttr>(name).getInt();
  };
  plan.workspaceBytesFixed = read("moec.workspace_bytes_fixed");
  plan.workspaceBytesPerToken = read("moec.workspace_bytes_per_token");
  auto cache = cast<transformer::LatentCacheType>(cacheType.getValue());
  plan.cacheBytesPerToken = cache.getLayers() *
                            (cache.getKvLoraRank() + cache.getQkRopeHeadDim()) *
                            getByteWidth(cache.getElementType());
  for (auto parameter : module.getOps<transformer::ParameterOp>()) {
    int64_t copies = (parameter.getLayerEnd().value_or(1) -
                      parameter.getLayerBegin().value_or(0)) *
                     parameter.getExperts().value_or(1);
    int64_t bytes;
    if (auto type = dyn_cast<transformer::BlockScaledType>(parameter.getType()))
      bytes =
          getNumElements(type.getShape()) * getByteWidth(type.getPayload()) +
          getNumElements(type.getScaleShape()) * getByteWidth(type.getScale());
    else
      bytes = cast<RankedTensorType>(parameter.getType()).getNumElements() *
              getByteWidth(getElementTypeOrSelf(parameter.getType()));
    plan.weightBytes += copies * bytes;
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Parts of the manifest
//===----------------------------------------------------------------------===//

static Json describeParameter(transformer::ParameterOp parameter,
                              int64_t slot) {
  Json entry;
  entry["name"] = parameter.getTensorName().str();
  entry["slot"] = slot;
  if (parameter.getLayerBegin())
    entry["layers"] = {*parameter.getLayerBegin(), *parameter.getLayerEnd()};
  if (parameter.getExperts())
    entry["experts"] = *parameter.getExperts();
  auto type = dyn_cast<transformer::BlockScaledType>(parameter.getType());
  if (!type) {
    auto tensor = cast<RankedTensorType>(parameter.getType());
    entry["dtype"] = getDtypeName(tensor.getElementType());
    entry["shape"] = std::vector<int64_t>(tensor.getShape());
    entry["storage"] = parameter.getWidened() ? "widened" : "mapped";
    return entry;
  }
  entry["dtype"] = getDtypeName(type.getPayload());
  entry["shape"] = std::vector<int64_t>(type.getShape());
  entry["storage"] = "mapped";
  SmallVector<int64_t> scaleShape = type.getScaleShape();
  entry["scale"] = {
      {"name", parameter.getScaleName()->str()},
      {"dtype", getDtypeName(type.getScale())},
      {"shape", std::vector<int64_t>(scaleShape.begin(), scaleShape.end())}};
  return entry;
}

static Json describeTap(DictionaryAttr tap) {
  auto number = [&](StringRef name) {
    return tap.getAs<IntegerAttr>(name).getInt();
  };
  Json entry;
  entry["name"] = tap.getAs<StringAttr>("name").str();
  if (tap.contains("layer_begin")) {
    entry["layers"] = {number("layer_begin"), number("layer_end")};
    entry["stride"] = number("stride");
  }
  entry["offset"] = number("offset");
  entry["width"] = number("width");
  entry["dtype"] = tap.getAs<StringAttr>("dtype").str();
  return entry;
}

/// Integers, strings and lists of them, as JSON.
static Json toJson(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getInt();
  if (auto string = dyn_cast<StringAttr>(attr))
    return string.str();
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    Json list = Json::array();
    for (Attribute element : array)
      list.push_back(toJson(element));
    return list;
  }
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attr))
    return std::vector<int64_t>(array.asArrayRef());
  Json object = Json::object();
  for (NamedAttribute entry : cast<DictionaryAttr>(attr))
    object[entry.getName().str()] = toJson(entry.getValue());
  return object;
}

static FailureOr<Json>
describeFiles(ModuleOp module, ArrayRef<std::string> files, StringRef folder) {
  Json entries = Json::object();
  for (const std::string &file : files) {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, file);
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return module.emitError("cannot read ")
             << path << ": " << buffer.getError().message();
    std::string hash;
    llvm::raw_string_ostream(hash) << llvm::format_hex_no_prefix(
        llvm::xxh3_64bits((*buffer)->getBuffer()), 16);
    entries[file] = {{"bytes", (*buffer)->getBufferSize()}, {"xxh3_64", hash}};
  }
  return entries;
}

static Json describeCode(const ArtifactContents &contents) {
  Json code;
  code["file"] = "code.so";
  code["abi"] = MOEC_ABI_VERSION;
  code["variants"] = Json::array();
  for (const CPUVariant *variant : contents.variants) {
    Json entry;
    entry["name"] = variant->name.str();
    entry["entry"] = variant->entry.str();
    // Multiply-adds of one iteration; a dot product does two in each lane.
    entry["probe"] = {
        {"symbol", variant->probe.str()},
        {"macs", probeChains * variant->lanes * (variant->dotProduct ? 2 : 1)}};
    entry["features"] = Json::array();
    for (StringRef feature : variant->features)
      entry["features"].push_back(feature.str());
    code["variants"].push_back(entry);
  }
  return code;
}

/// The model's dictionary, less what stands in sections of its own.
static Json describeModel(DictionaryAttr model) {
  Json entry = toJson(model);
  for (const char *section :
       {"activations", "bos_token_id", "eos_token_ids", "left_out"})
    entry.erase(section);
  return entry;
}

static Json describeGeneration(DictionaryAttr model) {
  Json entry = Json::object();
  for (const char *key : {"bos_token_id", "eos_token_ids"})
    if (Attribute value = model.get(key))
      entry[key] = toJson(value);
  return entry;
}

/// The manifest speaks of buffers that the runtime allocates; they must be
/// those that the code uses, even if the IR was changed by hand.
static LogicalResult checkAgainstCode(ModuleOp module, int64_t vocabSize,
                                      transformer::LatentCacheType cache,
                                      int64_t pageSize) {
  WalkResult result = module.walk([&](rt::BufferOp buffer) {
    auto type = cast<MemRefType>(buffer.getMemref().getType());
    if (buffer.getBuffer() == rt::Buffer::logits &&
        type.getShape() != ArrayRef<int64_t>{ShapedType::kDynamic, vocabSize}) {
      buffer.emitError("expects logits of the model's vocab_size ")
          << vocabSize << ", found " << type;
      return WalkResult::interrupt();
    }
    int64_t shape[] = {cache.getLayers(), ShapedType::kDynamic, pageSize,
                       cache.getKvLoraRank() + cache.getQkRopeHeadDim()};
    if (buffer.getBuffer() == rt::Buffer::cache &&
        (type.getShape() != ArrayRef<int64_t>(shape) ||
         type.getElementType() != cache.getElementType())) {
      buffer.emitError("expects the cache of ")
          << cacheAttr << ' ' << cache << " in pages of " << pageSize
          << " tokens, found " << type;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A dictionary of integers and strings: the IR may have been changed by hand.
static bool isCostEntry(Attribute attr) {
  auto entry = dyn_cast<DictionaryAttr>(attr);
  return entry && llvm::all_of(entry, [](NamedAttribute field) {
           return isa<IntegerAttr, StringAttr>(field.getValue());
         });
}

LogicalResult moec::writeManifest(ModuleOp module,
                                  const ArtifactContents &contents,
                                  StringRef folder) {
  FailureOr<MemoryPlan> plan = getMemoryPlan(module);
  auto model = module->getAttrOfType<DictionaryAttr>(modelAttr);
  auto taps = module->getAttrOfType<ArrayAttr>(tapsAttr);
  if (failed(plan))
    return failure();
  if (!model || !taps)
    return module.emitError("expects the module attributes ")
           << modelAttr << " and " << tapsAttr
           << ", which the importer and the first lowering write";
  for (const char *key :
       {"hidden_size", "num_hidden_layers", "vocab_size",
        "max_position_embeddings", "num_attention_heads", "kv_lora_rank",
        "qk_rope_head_dim", "n_routed_experts", "num_experts_per_tok"})
    if (!model.getAs<IntegerAttr>(key))
      return module.emitError("expects an integer ")
             << key << " in " << modelAttr;
  for (const char *key : {"name", "model_type", "activations"})
    if (!model.getAs<StringAttr>(key))
      return module.emitError("expects a string ")
             << key << " in " << modelAttr;
  auto attention = module->getAttrOfType<StringAttr>(attentionAttr);
  auto pageSize = module->getAttrOfType<IntegerAttr>(pageSizeAttr);
  if (!attention || !pageSize)
    return module.emitError("expects the module attributes ")
           << attentionAttr << " and " << pageSizeAttr
           << ", which the lowering to linalg writes";
  auto cache = cast<transformer::LatentCacheType>(
      module->getAttrOfType<TypeAttr>(cacheAttr).getValue());
  if (failed(checkAgainstCode(module,
                              model.getAs<IntegerAttr>("vocab_size").getInt(),
                              cache, pageSize.getInt())))
    return failure();
  auto cost = module->getAttrOfType<ArrayAttr>(costAttr);
  if (cost && !llvm::all_of(cost, isCostEntry))
    return module.emitError("expects ")
           << costAttr << " to hold dictionaries of integers and strings";
  FailureOr<Json> files = describeFiles(module, contents.files, folder);
  if (failed(files))
    return failure();

  StepLayout layout(module);
  Json manifest;
  manifest["format"] = manifestFormat;
  manifest["version"] = manifestVersion;
  manifest["producer"] = "moec " MOEC_VERSION;
  manifest["target"] = "cpu";
  manifest["activations"] = model.getAs<StringAttr>("activations").str();
  manifest["attention"] = attention.str();
  manifest["model"] = describeModel(model);
  manifest["code"] = describeCode(contents);
  manifest["parameters"] = Json::array();
  for (auto parameter : module.getOps<transformer::ParameterOp>())
    manifest["parameters"].push_back(
        describeParameter(parameter, layout.getSlot(parameter.getSymName())));
  manifest["num_slots"] = layout.getNumSlots();
  Attribute leftOut = model.get("left_out");
  manifest["left_out"] = leftOut ? toJson(leftOut) : Json::array();
  manifest["cache"] = {
      {"dtype", getDtypeName(cache.getElementType())},
      {"layers", cache.getLayers()},
      {"page_size", pageSize.getInt()},
      {"width", cache.getKvLoraRank() + cache.getQkRopeHeadDim()},
      {"bytes_per_token", plan->cacheBytesPerToken}};
  manifest["workspace"] = {{"bytes_fixed", plan->workspaceBytesFixed},
                           {"bytes_per_token", plan->workspaceBytesPerToken}};
  manifest["taps"] = Json::array();
  for (Attribute tap : taps)
    manifest["taps"].push_back(describeTap(cast<DictionaryAttr>(tap)));
  if (!contents.tokenizer.empty())
    manifest["tokenizer"] = {
        {"kind", contents.tokenizer},
        {"files", std::vector<std::string>(contents.tokenizerFiles.begin(),
                                           contents.tokenizerFiles.end())}};
  manifest["generation"] = describeGeneration(model);
  if (cost)
    manifest["cost"] = toJson(cost);
  manifest["files"] = *files;

  SmallString<128> path(folder);
  llvm::sys::path::append(path, manifestFileName);
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error) {
    // File names and config strings may hold anything: bytes that are no UTF-8
    // are replaced, not thrown on.
    out << manifest.dump(1, ' ', false,
                         nlohmann::json::error_handler_t::replace)
        << "\n";
    out.close();
    error = out.error();
    out.clear_error();
  }
  if (error)
    return module.emitError("cannot write ") << path << ": " << error.message();
  return success();
}
