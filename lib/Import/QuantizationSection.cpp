//===- QuantizationSection.cpp - quantization_config ----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FP8 in blocks is read; every other form is refused by its name, because a
// checkpoint in it has tensors that would be skipped or misread.
//
//===----------------------------------------------------------------------===//

#include "ConfigSections.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace moec;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Forms that are refused
//===----------------------------------------------------------------------===//

static void refuse(ReadState &state, const JsonValue &place,
                   const llvm::Twine &form) {
  state.failed = true;
  mlir::emitError(state.document.valueLoc(place))
      << "weights in the form " << form
      << " are not supported yet; expected quant_method \"fp8\" with a "
         "weight_block_size, or unquantised weights";
}

static std::string textOf(const JsonValue *value) {
  return value && value->kind == JsonKind::String ? quoteText(value->text)
                                                  : std::string();
}

/// What a form is called besides its key's value.
static StringRef nameOfForm(StringRef word) {
  return llvm::StringSwitch<StringRef>(word)
      .Case("pack-quantized", " (INT4)")
      .Case("mxfp4-pack-quantized", " (MXFP4)")
      .Case("nvfp4-pack-quantized", " (NVFP4)")
      .Case("float-quantized", " (FP8 per channel)")
      .Case("int-quantized", " (INT8)")
      .Case("awq", " (AWQ)")
      .Case("gptq", " (GPTQ)")
      .Case("mxfp4", " (MXFP4)")
      .Case("modelopt", " (NVIDIA's modelopt)")
      .Default("");
}

static void refuseMethod(ReadState &state, const JsonValue &quantization,
                         const JsonValue &method) {
  std::string form = "quant_method " + describe(method);
  if (method.kind == JsonKind::String)
    form = "quant_method " + quoteText(method.text) +
           nameOfForm(method.text).str();
  const JsonValue *place = &method;
  for (StringRef detail : {"format", "quant_algo"})
    if (const JsonValue *value = quantization.find(detail))
      if (std::string text = textOf(value); !text.empty()) {
        form +=
            ", " + detail.str() + " " + text + nameOfForm(value->text).str();
        place = value;
      }
  refuse(state, *place, form);
}

void moec::refuseHfQuantConfig(const JsonDocument &document) {
  const JsonValue *place = &document.root();
  std::string algorithm;
  if (const JsonValue *inner = place->find("quantization")) {
    place = inner;
    if (const JsonValue *value = inner->find("quant_algo")) {
      place = value;
      algorithm = " with quant_algo " + describe(*value);
    }
  }
  mlir::emitError(document.valueLoc(*place))
      << "hf_quant_config.json says that NVIDIA's modelopt quantised the "
         "weights"
      << algorithm << ", which is not supported yet; expected no such file";
}

//===----------------------------------------------------------------------===//
// FP8 in blocks
//===----------------------------------------------------------------------===//

static void readBlockSize(FieldReader &fields, Fp8Blocks &fp8) {
  constexpr StringRef expected = "two positive multiples of 16, as [128, 128]";
  const JsonValue *size = fields.find("weight_block_size");
  if (!size || size->isNull())
    return refuse(fields.state, size ? *size : fields.object,
                  "quant_method \"fp8\" without weight_block_size (one scale "
                  "per tensor)");
  if (size->kind != JsonKind::Array || size->children.size() != 2)
    return fields.wrong("weight_block_size", *size, expected);
  int64_t *sides[] = {&fp8.rows, &fp8.cols};
  for (auto [element, side] : llvm::zip_equal(size->children, sides)) {
    constexpr int64_t largest = 65536;
    std::optional<int64_t> number =
        fields.integer("weight_block_size", element, {16, largest});
    if (number && *number % 16 != 0)
      fields.wrong("weight_block_size", element, expected);
    *side = number.value_or(16);
  }
}

/// Sorts a name in modules_to_not_convert to the layers it is about.
static void addNotConverted(FieldReader &fields, const JsonValue &entry,
                            Fp8Blocks &fp8) {
  StringRef name = entry.text;
  if (name.starts_with("re:") || name.contains('*'))
    return fields.wrong("modules_to_not_convert", entry,
                        "the name of a module; patterns are not supported yet");
  name.consume_front(fields.state.config.tensor_prefix);
  StringRef afterExperts =
      name.contains(".experts.") ? name.split(".experts.").second : StringRef();
  if (!afterExperts.empty() && llvm::isDigit(afterExperts.front()))
    return fields.wrong("modules_to_not_convert", entry,
                        "modules of all experts alike");
  int64_t layer = 0;
  StringRef rest = name;
  rest.consume_front("model.");
  if (!rest.consume_front("layers.") || rest.consumeInteger(10, layer)) {
    fp8.notConverted.push_back(name.str());
    return;
  }
  rest.consume_front(".");
  fp8.notConvertedInLayer[layer].push_back(rest.str());
}

static void readNotConverted(FieldReader &fields, Fp8Blocks &fp8) {
  const JsonValue *list = fields.findSet("modules_to_not_convert");
  if (!list)
    return;
  constexpr size_t mostEntries = 10000;
  bool isList = list->kind == JsonKind::Array &&
                list->children.size() <= mostEntries &&
                llvm::all_of(list->children, [](const JsonValue &entry) {
                  return entry.kind == JsonKind::String && !entry.text.empty();
                });
  if (!isList)
    return fields.wrong("modules_to_not_convert", *list,
                        "a list of at most 10000 module names");
  for (const JsonValue &entry : list->children)
    addNotConverted(fields, entry, fp8);
}

static void readFp8(FieldReader &outer, const JsonValue &quantization) {
  FieldReader fields(outer.state, quantization, nullptr, "quantization_config");
  Fp8Blocks fp8;
  unsigned word = 0;
  fields.markUsed("quant_method");
  fields.read("fmt", word, {"e4m3", "float8_e4m3fn"});
  fields.read("activation_scheme", word, {"dynamic"});
  // "ue8m0" says that scales are powers of two; as f32 they are read the same.
  fields.read("scale_fmt", word, {"ue8m0", "float"});
  readBlockSize(fields, fp8);
  readNotConverted(fields, fp8);
  for (const JsonValue *member : fields.unusedMembers())
    if (!member->isNull())
      mlir::emitWarning(outer.state.document.keyLoc(*member))
          << "quantization key " << quoteText(member->key)
          << " is not understood and has no effect";
  outer.state.config.fp8 = std::move(fp8);
}

void moec::readQuantization(FieldReader &fields) {
  if (const JsonValue *mlx = fields.findSet("quantization"))
    return refuse(fields.state, *mlx, "'quantization' (MLX)");
  const JsonValue *quantization = fields.findSet("quantization_config");
  if (!quantization)
    quantization = fields.findSet("compression_config");
  if (!quantization)
    return;
  if (quantization->kind != JsonKind::Object)
    return fields.wrong("quantization_config", *quantization,
                        "an object or null");
  const JsonValue *method = quantization->find("quant_method");
  if (!method) {
    if (const JsonValue *algorithm = quantization->find("quant_algo"))
      return refuse(fields.state, *algorithm,
                    "quant_algo " + describe(*algorithm));
    fields.error(*quantization)
        << "missing key 'quant_method'; expected \"fp8\"";
    return;
  }
  if (method->kind == JsonKind::String && method->text == "fp8")
    return readFp8(fields, *quantization);
  refuseMethod(fields.state, *quantization, *method);
}

//===----------------------------------------------------------------------===//
// Which modules are converted
//===----------------------------------------------------------------------===//

/// Whether `name` is the module, one that it lies in, or a run of whole
/// components of its path ("gate" is none of "mlp.gate_proj").
static bool names(StringRef name, StringRef module) {
  std::string inside = "." + module.str() + ".";
  return StringRef(inside).contains("." + name.str() + ".");
}

bool Fp8Blocks::converts(int64_t layer, StringRef module) const {
  auto inLayer = notConvertedInLayer.find(layer);
  if (inLayer != notConvertedInLayer.end())
    for (const std::string &name : inLayer->second)
      // An entry that ends with the layer's number names all of the layer.
      if (name.empty() || names(name, module))
        return false;
  std::string path = "model.layers." + module.str();
  return llvm::none_of(
      notConverted, [&](const std::string &name) { return names(name, path); });
}
