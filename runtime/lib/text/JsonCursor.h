//===- JsonCursor.h - A place in a tokenizer's JSON -------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_JSONCURSOR_H
#define MOEC_RUNTIME_LIB_TEXT_JSONCURSOR_H

#include "Json.h"
#include "text/TokenizerParts.h"

#include <initializer_list>
#include <memory>

namespace moec::runtime {

/// A value and its place ("FILE: model.merges[3]"). What does not fit throws a
/// TokenizerFileError that names the place, what was found and what was
/// expected. A key that is missing reads as null.
class JsonCursor {
public:
  JsonCursor(const Json &value, std::string file)
      : value(&value),
        file(std::make_shared<const std::string>(std::move(file))) {}

  JsonCursor operator[](const std::string &key) const;
  /// The elements of an array.
  std::vector<JsonCursor> elements() const;

  bool isNull() const { return value->is_null(); }
  bool isText() const { return value->is_string(); }
  bool isArray() const { return value->is_array(); }
  bool isObject() const { return value->is_object(); }
  const std::string &text() const;
  int32_t id() const;
  /// `absent` if it is null.
  bool flag(bool absent) const;
  const Json &object() const;

  /// Refuses the value unless it is null or one of `harmless`: for settings
  /// that are not supported.
  void expectOff(std::initializer_list<Json> harmless) const;

  [[noreturn]] void invalid(const std::string &what) const;
  [[noreturn]] void unsupported(const std::string &what) const;
  /// "expected WHAT, found ..."
  [[noreturn]] void expected(const std::string &what) const;
  std::string found() const;

private:
  using FileName = std::shared_ptr<const std::string>;
  JsonCursor(const Json *value, FileName file, std::string path)
      : value(value), file(std::move(file)), path(std::move(path)) {}
  std::string place() const;

  const Json *value;
  FileName file;
  std::string path;
};

/// Parses the text of `source` or throws.
Json parseTokenizerJson(const Tokenizer::Source &source);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_JSONCURSOR_H
