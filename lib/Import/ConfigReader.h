//===- ConfigReader.h - From JSON to a ModelConfig --------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_IMPORT_CONFIGREADER_H
#define MOEC_LIB_IMPORT_CONFIGREADER_H

#include "FamilyTable.h"
#include "moec/Import/JsonReader.h"
#include "moec/Import/ModelConfig.h"

namespace moec {

/// What a configuration file is about: the model's rules, and the objects that
/// hold its keys.
struct TextModel {
  const Family *family;
  /// The text model's object.
  const JsonValue *object;
  /// The object around it, or null where the text model is the whole file.
  const JsonValue *outer;
  llvm::StringRef tensorPrefix;
  llvm::ArrayRef<llvm::StringRef> otherParts;
};

/// Recognises the model by `architectures` and `model_type`; refused and
/// unknown models are a diagnostic.
mlir::FailureOr<TextModel> recogniseModel(const JsonDocument &document);

/// Reads all fields of a recognised model. `generation` is the file
/// generation_config.json, or null.
mlir::FailureOr<ModelConfig> readFields(const JsonDocument &document,
                                        const TextModel &model,
                                        const JsonDocument *generation);

} // namespace moec

#endif // MOEC_LIB_IMPORT_CONFIGREADER_H
