//===- RecogniseModel.cpp - Whose configuration is it ---------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `architectures` is believed before `model_type`: converters have changed the
// latter and left the former.
//
//===----------------------------------------------------------------------===//

#include "ConfigReader.h"

#include "llvm/ADT/STLExtras.h"

using namespace moec;
using llvm::StringRef;
using mlir::failure;
using mlir::FailureOr;

namespace {

/// The names an object gives itself; null where it gives none.
struct ModelNames {
  const JsonValue *architecture = nullptr;
  const JsonValue *modelType = nullptr;

  const JsonValue *best() const {
    return architecture ? architecture : modelType;
  }
};

} // namespace

static mlir::InFlightDiagnostic errorAt(const JsonDocument &document,
                                        const JsonValue &value) {
  return mlir::emitError(document.valueLoc(value));
}

static FailureOr<ModelNames> readNames(const JsonDocument &document,
                                       const JsonValue &object) {
  ModelNames names;
  const JsonValue *list = object.find("architectures");
  if (list && !list->isNull()) {
    if (list->kind != JsonKind::Array)
      return errorAt(document, *list)
             << "'architectures' is " << describe(*list)
             << "; expected a list of class names";
    if (!list->children.empty())
      names.architecture = &list->children.front();
  }
  const JsonValue *type = object.find("model_type");
  if (type && !type->isNull())
    names.modelType = type;
  for (const JsonValue *name : {names.architecture, names.modelType})
    if (name && name->kind != JsonKind::String)
      return errorAt(document, *name)
             << "the model's name is " << describe(*name)
             << "; expected a string";
  return names;
}

static mlir::LogicalResult refuseByName(const JsonDocument &document,
                                        const JsonValue &name) {
  const Refusal *refusal = findRefusal(name.text);
  if (!refusal)
    return mlir::success();
  mlir::InFlightDiagnostic error = errorAt(document, name);
  error << quoteText(name.text);
  if (refusal->isMember)
    error << " is not supported yet: " << refusal->reason;
  else
    error << " is not a member of the model family that moec compiles: "
          << refusal->reason;
  return error;
}

/// The nested object of the text model, or null; several are an error.
static FailureOr<const JsonValue *> findNested(const JsonDocument &document) {
  const JsonValue *nested = nullptr;
  for (StringRef key : {"text_config", "language_config", "llm_config"}) {
    const JsonValue *value = document.root().find(key);
    if (!value || value->isNull())
      continue;
    if (value->kind != JsonKind::Object)
      return errorAt(document, *value)
             << "'" << key << "' is " << describe(*value)
             << "; expected an object";
    if (nested)
      return errorAt(document, *value)
             << "both '" << nested->key << "' and '" << key
             << "' are there; expected one text model";
    nested = value;
  }
  return nested;
}

static mlir::InFlightDiagnostic refuseUnknown(const JsonDocument &document,
                                              const JsonValue &object,
                                              const ModelNames &names) {
  const JsonValue *name = names.best();
  if (!name && object.find("dim") && object.find("n_layers"))
    return errorAt(document, object)
           << "these are the keys of a params.json, as of Mistral-Large-3, "
              "which is not a member of the model family that moec compiles";
  if (!name)
    return errorAt(document, object)
           << "missing key 'architectures' (or 'model_type'); expected the "
              "name of a model, such as [\"DeepseekV3ForCausalLM\"]";
  mlir::InFlightDiagnostic error = errorAt(document, *name);
  error << quoteText(name->text)
        << " is not a member of the model family that moec compiles";
  const JsonValue *latent = object.find("kv_lora_rank");
  if (!latent || latent->isNull())
    error << ": without kv_lora_rank its attention is not multi-head latent "
             "attention (MLA)";
  else
    error << "; expected a model such as \"DeepseekV3ForCausalLM\"";
  return error;
}

/// A member under a known architecture may still be a variant without MLA.
static mlir::LogicalResult expectLatentAttention(const JsonDocument &document,
                                                 const TextModel &model,
                                                 const JsonValue &name) {
  const JsonValue *latent = model.object->find("kv_lora_rank");
  const JsonValue *heads = model.object->find("num_key_value_heads");
  const JsonValue *queries = model.object->find("num_attention_heads");
  bool isGrouped = heads && queries && heads->kind == JsonKind::Number &&
                   heads->text != queries->text;
  if ((latent && !latent->isNull()) || !isGrouped)
    return mlir::success();
  return errorAt(document, *heads)
         << "this " << quoteText(name.text) << " is not a member of the model "
         << "family that moec compiles: without kv_lora_rank and with "
         << "num_key_value_heads " << describe(*heads)
         << " its attention is grouped-query attention (GQA)";
}

static void warnIfNamesDisagree(const JsonDocument &document,
                                const ModelNames &names, const Family &family) {
  if (names.architecture && names.modelType &&
      !llvm::is_contained(family.modelTypes, names.modelType->text))
    mlir::emitWarning(document.valueLoc(*names.modelType))
        << "'model_type' is " << quoteText(names.modelType->text)
        << ", but 'architectures' says " << quoteText(names.architecture->text)
        << ", which is believed";
}

static FailureOr<TextModel> recogniseText(const JsonDocument &document,
                                          TextModel model,
                                          const ModelNames &names) {
  const JsonValue *name = names.best();
  if (name && mlir::failed(refuseByName(document, *name)))
    return failure();
  model.family = name ? findFamily(name->text) : nullptr;
  if (!model.family)
    return refuseUnknown(document, *model.object, names);
  if (mlir::failed(expectLatentAttention(document, model, *name)))
    return failure();
  warnIfNamesDisagree(document, names, *model.family);
  return model;
}

FailureOr<TextModel> moec::recogniseModel(const JsonDocument &document) {
  const JsonValue &root = document.root();
  if (root.kind != JsonKind::Object)
    return errorAt(document, root)
           << "the file holds " << describe(root) << "; expected an object";
  FailureOr<ModelNames> names = readNames(document, root);
  FailureOr<const JsonValue *> nested = findNested(document);
  if (mlir::failed(names) || mlir::failed(nested))
    return failure();
  if (!*nested)
    return recogniseText(document, {nullptr, &root, nullptr, "", {}}, *names);

  // The name outside is of the whole; it may be one that is refused.
  const JsonValue *name = names->best();
  if (name && mlir::failed(refuseByName(document, *name)))
    return failure();
  TextModel model = {nullptr, *nested, &root, "language_model.", {}};
  if (const Wrapper *wrapper = name ? findWrapper(name->text) : nullptr) {
    model.tensorPrefix = wrapper->tensorPrefix;
    model.otherParts = wrapper->otherParts;
  } else {
    mlir::emitWarning(document.valueLoc(name ? *name : root))
        << "the model around '" << (*nested)->key
        << "' is not known: the text model's tensors are taken to be named "
           "\"language_model.*\"";
  }
  FailureOr<ModelNames> inner = readNames(document, **nested);
  if (mlir::failed(inner))
    return failure();
  return recogniseText(document, model, *inner);
}
