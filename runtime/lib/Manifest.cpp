//===- Manifest.cpp - manifest.json of an artifact ------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "Checked.h"
#include "JsonObject.h"
#include "Text.h"
#include "moec/manifest.h"

#include <algorithm>

using namespace moec;
using namespace moec::runtime;

// Bounds that no model comes near, so that products of a few of them fit.
static constexpr int64_t maxSlots = int64_t(1) << 24;
static constexpr int64_t maxLayers = int64_t(1) << 20;
static constexpr int64_t maxValues = int64_t(1) << 40;
static constexpr int64_t maxCost = int64_t(1) << 60;
static constexpr int64_t maxRank = 8;
static constexpr int64_t maxInt32 = 0x7fffffff;

static bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

/// A file of the artifact's own folder.
static std::string plainFileName(const JsonObject &object, std::string name) {
  if (name.empty() || name == "." || name == ".." || contains(name, "/") ||
      name.find('\0') != std::string::npos)
    object.fail(concat("file ", inQuotes(name), " is not a plain file name"));
  return name;
}

static DType readDType(const JsonObject &object) {
  std::string name = object.text("dtype");
  std::optional<DType> dtype = parseDType(name);
  if (!dtype)
    object.fail(concat("unknown dtype ", inQuotes(name)));
  return dtype.value_or(DType::F32);
}

/// One of the words of `allowed`.
static std::string readWord(const JsonObject &object, const std::string &key,
                            std::initializer_list<const char *> allowed) {
  std::string word = object.text(key);
  std::string list;
  for (const char *candidate : allowed) {
    if (word == candidate)
      return word;
    list += (list.empty() ? "" : ", ") + std::string(candidate);
  }
  object.fail(concat("key ", inQuotes(key), ": found ", inQuotes(word),
                     ", expected one of ", list));
  return word;
}

/// Format, version, target and ABI: what must be known to read on.
static void checkIdentity(const JsonObject &root) {
  std::string format = root.text("format");
  if (format != manifestFormat)
    root.fail(concat("format is ", inQuotes(format), ", expected ",
                     inQuotes(manifestFormat)));
  int64_t version = root.integer("version");
  if (version != manifestVersion)
    root.fail(concat("version is ", version, ", this runtime reads version ",
                     manifestVersion),
              MOEC_UNSUPPORTED);
  std::string target = root.text("target");
  if (target != "cpu")
    root.fail(concat("target is ", inQuotes(target),
                     ", this runtime runs target 'cpu'"),
              MOEC_UNSUPPORTED);
}

static Manifest::Model readModel(const JsonObject &object) {
  Manifest::Model model;
  model.name = object.text("name");
  model.modelType = object.text("model_type");
  model.hiddenSize = object.integer("hidden_size", 1, maxValues);
  model.numLayers = object.integer("num_hidden_layers", 1, maxLayers);
  model.vocabSize = object.integer("vocab_size", 1, maxInt32);
  // Positions are 32-bit numbers of the code's interface.
  model.maxPositions = object.integer("max_position_embeddings", 1, maxInt32);
  model.expertsPerToken = object.integer("num_experts_per_tok", 0, maxSlots);
  return model;
}

/// Of C, in ASCII.
static bool isIdentifier(const std::string &name) {
  static constexpr char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                    "abcdefghijklmnopqrstuvwxyz0123456789";
  return !name.empty() && (name.front() < '0' || name.front() > '9') &&
         name.find_first_not_of(allowed) == std::string::npos;
}

static Manifest::Probe readProbe(const JsonObject &object) {
  Manifest::Probe probe;
  probe.symbol = object.text("symbol");
  if (!isIdentifier(probe.symbol))
    object.fail(concat("symbol ", inQuotes(probe.symbol),
                       " is not an identifier of C"));
  probe.macs = object.integer("macs", 1, maxInt32);
  return probe;
}

static void readCode(const JsonObject &code, Manifest &manifest) {
  manifest.codeFile = plainFileName(code, code.text("file"));
  int64_t abi = code.integer("abi");
  if (abi != MOEC_ABI_VERSION)
    code.fail(
        concat("abi is ", abi, ", this runtime calls abi ", MOEC_ABI_VERSION),
        MOEC_UNSUPPORTED);
  for (const JsonObject &object : code.objects("variants")) {
    Manifest::Variant variant;
    variant.name = object.text("name");
    variant.entry = object.text("entry");
    variant.features = object.texts("features");
    variant.probe = readProbe(object.object("probe"));
    for (const Manifest::Variant &other : manifest.variants)
      if (other.name == variant.name)
        object.fail(
            concat("variant ", inQuotes(variant.name), " stands twice"));
    manifest.variants.push_back(std::move(variant));
  }
  if (manifest.variants.empty())
    code.fail("variants is empty, expected at least one");
}

static Manifest::TensorSpec readTensorSpec(const JsonObject &object) {
  Manifest::TensorSpec spec;
  spec.name = object.text("name");
  spec.dtype = readDType(object);
  spec.shape = object.integers("shape", 1, maxValues);
  if (static_cast<int64_t>(spec.shape.size()) > maxRank)
    object.fail(concat("shape has ", spec.shape.size(),
                       " sizes, expected at most ", maxRank));
  std::optional<int64_t> bits = dtypeBits(spec.dtype);
  for (int64_t size : spec.shape)
    if (bits)
      bits = checkedMultiply(*bits, size);
  if (!bits)
    object.fail(concat("shape ", shapeText(spec.shape), " overflows 63 bits"));
  return spec;
}

/// The optional range `layers`; a name says {layer} exactly where there is one.
static LayerRange readLayers(const JsonObject &object,
                             const std::string &name) {
  bool ranged = object.has("layers");
  if (ranged != contains(name, layerPlaceholder))
    object.fail(concat("name ", inQuotes(name), ranged ? " lacks" : " has",
                       " {layer}, but the key 'layers' is ",
                       ranged ? "there" : "missing"));
  if (!ranged)
    return LayerRange();
  std::vector<int64_t> range = object.integers("layers", 0, maxLayers);
  if (range.size() != 2 || range[0] >= range[1]) {
    object.fail(concat("layers is ", shapeText(range),
                       ", expected [first, end] with first < end"));
    return LayerRange();
  }
  return {range[0], range[1]};
}

static Manifest::Parameter readParameter(const JsonObject &object) {
  Manifest::Parameter parameter;
  parameter.tensor = readTensorSpec(object);
  const std::string &name = parameter.tensor.name;
  parameter.slot = object.integer("slot", 0, maxSlots);
  parameter.layers = readLayers(object, name);
  bool hasExperts = object.has("experts");
  if (hasExperts)
    parameter.experts = object.integer("experts", 1, maxSlots);
  if (hasExperts != contains(name, expertPlaceholder))
    object.fail(concat("name ", inQuotes(name), hasExperts ? " lacks" : " has",
                       " {expert}, but the key 'experts' is ",
                       hasExperts ? "there" : "missing"));
  std::string storage = readWord(object, "storage", {"mapped", "widened"});
  parameter.widened = storage == "widened";
  if (parameter.widened && parameter.tensor.dtype != DType::F32)
    object.fail(concat("storage 'widened' has dtype ",
                       dtypeName(parameter.tensor.dtype), ", expected F32"));
  if (object.has("scale")) {
    JsonObject scale = object.object("scale");
    parameter.scale = readTensorSpec(scale);
    if (contains(parameter.scale->name, layerPlaceholder) !=
            contains(name, layerPlaceholder) ||
        contains(parameter.scale->name, expertPlaceholder) != hasExperts)
      scale.fail(concat("name ", inQuotes(parameter.scale->name),
                        " has other placeholders than ", inQuotes(name)));
    if (parameter.widened)
      scale.fail("a widened parameter has no scale");
  }
  return parameter;
}

/// Slots of parameters lie within num_slots and do not overlap.
static void checkSlots(const JsonObject &root, const Manifest &manifest) {
  std::vector<const Manifest::Parameter *> order;
  for (const Manifest::Parameter &parameter : manifest.parameters)
    order.push_back(&parameter);
  std::sort(order.begin(), order.end(),
            [](const auto *left, const auto *right) {
              return left->slot < right->slot;
            });
  int64_t used = 0;
  const Manifest::Parameter *previous = nullptr;
  for (const Manifest::Parameter *parameter : order) {
    // Within 45 bits: layers has at most 20, experts at most 24, slot 24.
    int64_t end =
        parameter->slot + parameter->layers.count() * parameter->experts;
    const std::string name = inQuotes(parameter->tensor.name);
    if (parameter->slot < used)
      root.fail(concat("slots [", parameter->slot, ", ", end, ") of ", name,
                       " overlap those of ", inQuotes(previous->tensor.name),
                       ", which end at ", used));
    if (end > manifest.numSlots)
      root.fail(concat("slots [", parameter->slot, ", ", end, ") of ", name,
                       " go beyond num_slots (", manifest.numSlots, ")"));
    used = end;
    previous = parameter;
  }
}

static Manifest::Cache readCache(const JsonObject &object) {
  Manifest::Cache cache;
  cache.dtype = readDType(object);
  if (cache.dtype != DType::BF16 && cache.dtype != DType::F16 &&
      cache.dtype != DType::F32)
    object.fail(concat("dtype is ", dtypeName(cache.dtype),
                       ", expected BF16, F16 or F32"));
  cache.layers = object.integer("layers", 1, maxLayers);
  cache.pageSize = object.integer("page_size", 1, maxLayers);
  cache.width = object.integer("width", 1, maxLayers);
  cache.bytesPerToken = object.integer("bytes_per_token", 1);
  // At most 40 + 6 bits.
  int64_t bytes = cache.layers * cache.width * dtypeBits(cache.dtype) / 8;
  if (cache.bytesPerToken != bytes)
    object.fail(concat("bytes_per_token is ", cache.bytesPerToken,
                       ", but layers x width x dtype is ", bytes));
  return cache;
}

static Manifest::Tap readTap(const JsonObject &object) {
  Manifest::Tap tap;
  tap.name = object.text("name");
  tap.layers = readLayers(object, tap.name);
  tap.offset = object.integer("offset", 0, maxValues);
  if (object.has("layers"))
    tap.stride = object.integer("stride", 0, maxValues);
  tap.width = object.integer("width", 1, maxValues);
  tap.dtype = readDType(object);
  if (tap.dtype != DType::F32 && tap.dtype != DType::I32)
    object.fail(concat("tap ", inQuotes(tap.name), " has dtype ",
                       dtypeName(tap.dtype), ", expected F32 or I32"));
  return tap;
}

static Manifest::KernelCost readCost(const JsonObject &object,
                                     const Manifest::Model &model) {
  Manifest::KernelCost cost;
  cost.kernel = object.text("kernel");
  cost.name = object.text("name");
  cost.layers = object.integer("layers", 1, maxLayers);
  std::string rows = readWord(object, "rows", {"tokens", "logits", "pairs"});
  cost.rows = rows == "tokens"   ? Manifest::Rows::tokens
              : rows == "logits" ? Manifest::Rows::logits
                                 : Manifest::Rows::pairs;
  auto count = [&](const char *key) { return object.integer(key, 0, maxCost); };
  cost.weightBytes = count("weight_bytes");
  cost.experts = object.integer("experts", 0, maxSlots);
  cost.weightBytesPerExpert = count("weight_bytes_per_expert");
  cost.flopsPerRow = count("flops_per_row");
  cost.activationBytesPerRow = count("activation_bytes_per_row");
  cost.flopsPerRowAndPosition = count("flops_per_row_and_position");
  cost.cacheBytesPerRowAndPosition = count("cache_bytes_per_row_and_position");
  if (cost.rows == Manifest::Rows::pairs &&
      (model.expertsPerToken < 1 || cost.experts < model.expertsPerToken))
    object.fail(concat("rows is 'pairs' with experts ", cost.experts,
                       ", expected at least num_experts_per_tok, which is ",
                       model.expertsPerToken));
  return cost;
}

static Manifest::File readFile(const JsonObject &files,
                               const std::string &name) {
  Manifest::File file;
  JsonObject object = files.object(name);
  file.name = plainFileName(object, name);
  file.bytes = object.integer("bytes");
  std::string digits = object.text("xxh3_64");
  bool hexadecimal =
      digits.size() == 16 &&
      digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hexadecimal)
    object.fail(concat("xxh3_64 is ", inQuotes(digits),
                       ", expected 16 hexadecimal digits"));
  else
    file.xxh3 = std::stoull(digits, nullptr, 16);
  return file;
}

/// The optional keys `tokenizer` and `generation`.
static void readTextSettings(const JsonObject &root, Manifest &manifest) {
  if (root.has("tokenizer")) {
    JsonObject tokenizer = root.object("tokenizer");
    readWord(tokenizer, "kind", {"tiktoken", "tokenizer.json"});
    for (std::string &name : tokenizer.texts("files"))
      manifest.tokenizerFiles.push_back(
          plainFileName(tokenizer, std::move(name)));
  }
  if (!root.has("generation"))
    return;
  JsonObject generation = root.object("generation");
  for (int64_t id : generation.integers("eos_token_ids", 0, maxInt32)) {
    if (id >= manifest.model.vocabSize)
      generation.fail(concat("eos_token_ids has ", id, ", vocab_size is ",
                             manifest.model.vocabSize));
    manifest.eosIds.push_back(static_cast<int32_t>(id));
  }
}

static void checkCodeFileIsHashed(const JsonObject &root,
                                  const Manifest &manifest) {
  for (const Manifest::File &file : manifest.files)
    if (file.name == manifest.codeFile)
      return;
  root.fail(concat("files has no entry for ", inQuotes(manifest.codeFile)));
}

static Manifest readAll(const JsonObject &root) {
  Manifest manifest;
  checkIdentity(root);
  manifest.activations = readWord(root, "activations", {"f32", "bf16", "fp8"});
  manifest.attention = root.text("attention");
  manifest.model = readModel(root.object("model"));
  readCode(root.object("code"), manifest);
  for (const JsonObject &object : root.objects("parameters"))
    manifest.parameters.push_back(readParameter(object));
  manifest.numSlots = root.integer("num_slots", 0, maxSlots);
  checkSlots(root, manifest);
  if (root.has("left_out"))
    for (const JsonObject &object : root.objects("left_out"))
      manifest.leftOut.push_back(
          {object.text("prefix"), object.text("reason")});
  manifest.cache = readCache(root.object("cache"));
  JsonObject workspace = root.object("workspace");
  manifest.workspace.bytesFixed = workspace.integer("bytes_fixed");
  manifest.workspace.bytesPerToken = workspace.integer("bytes_per_token", 1);
  if (root.has("taps"))
    for (const JsonObject &object : root.objects("taps"))
      manifest.taps.push_back(readTap(object));
  if (root.has("cost"))
    for (const JsonObject &object : root.objects("cost"))
      manifest.cost.push_back(readCost(object, manifest.model));
  readTextSettings(root, manifest);
  JsonObject files = root.object("files");
  for (const std::string &name : files.keys())
    manifest.files.push_back(readFile(files, name));
  checkCodeFileIsHashed(root, manifest);
  return manifest;
}

int64_t Manifest::tapBytesPerToken() const {
  int64_t values = 0;
  for (const Tap &tap : taps)
    values = std::max(
        values, tap.offset + (tap.layers.count() - 1) * tap.stride + tap.width);
  return 4 * values;
}

std::string moec::runtime::expandName(const std::string &name, int64_t layer,
                                      int64_t expert) {
  std::string result = name;
  auto replace = [&](const char *placeholder, int64_t number) {
    std::string_view pattern = placeholder;
    if (std::size_t at = result.find(pattern); at != std::string::npos)
      result.replace(at, pattern.size(), std::to_string(number));
  };
  replace(layerPlaceholder, layer);
  replace(expertPlaceholder, expert);
  return result;
}

Expected<Manifest> moec::runtime::parseManifest(std::string_view text,
                                                const std::string &place) {
  Expected<Json> json = parseJson(text, place);
  if (!json)
    return json.status();
  JsonObject root(*json, place);
  Manifest manifest = readAll(root);
  if (!root.ok())
    return root.status();
  return manifest;
}

Expected<Manifest>
moec::runtime::readManifest(const std::filesystem::path &folder) {
  std::filesystem::path path = folder / manifestFileName;
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  return parseManifest(file->text(), path.string());
}
