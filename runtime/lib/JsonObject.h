//===- JsonObject.h - Members of a JSON object by type ----------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the members of an object with their types checked. The first failure
// is kept and every later read returns a neutral value, so that a reader of
// many members checks once at its end:
//
//   JsonObject code = object.object("code");
//   manifest.abi = code.integer("abi", 0, maxVersion);
//   if (!object.status()) ...
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_JSONOBJECT_H
#define MOEC_RUNTIME_LIB_JSONOBJECT_H

#include "Json.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace moec::runtime {

class JsonObject {
public:
  static constexpr int64_t maxInteger = std::numeric_limits<int64_t>::max();

  /// `place` names the value in messages: a file, later a path of keys.
  JsonObject(const Json &value, std::string place);

  bool has(const std::string &key) const;
  /// A whole number in [least, most].
  int64_t integer(const std::string &key, int64_t least = 0,
                  int64_t most = maxInteger) const;
  std::string text(const std::string &key) const;
  JsonObject object(const std::string &key) const;
  /// The elements of an array of objects.
  std::vector<JsonObject> objects(const std::string &key) const;
  std::vector<std::string> texts(const std::string &key) const;
  /// The elements of an array of whole numbers in [least, most].
  std::vector<int64_t> integers(const std::string &key, int64_t least = 0,
                                int64_t most = maxInteger) const;
  /// The keys of the object.
  std::vector<std::string> keys() const;

  /// Success, or the first failure of this object and of those read from it.
  const Status &status() const { return *failure; }
  bool ok() const { return failure->ok(); }
  /// Records a failure of the whole object, unless there is one already.
  void fail(const std::string &what, moec_code code = MOEC_INVALID_FILE) const;
  const std::string &place() const { return name; }

private:
  JsonObject(const Json &value, std::string place,
             std::shared_ptr<Status> failure);
  const Json *member(const std::string &key, Json::value_t type,
                     const char *typeName) const;
  bool integerInRange(const Json &value, const std::string &where,
                      int64_t least, int64_t most, int64_t &result) const;

  const Json *json;
  std::string name;
  std::shared_ptr<Status> failure;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_JSONOBJECT_H
