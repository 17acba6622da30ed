//===- JsonObject.cpp - Members of a JSON object by type ------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonObject.h"

#include "Text.h"

using namespace moec::runtime;

static std::string found(const Json &value) {
  std::string type = value.type_name();
  if (value.is_structured())
    return "an " + type;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return type + " " + (text.size() > 60 ? text.substr(0, 60) + "..." : text);
}

JsonObject::JsonObject(const Json &value, std::string place)
    : JsonObject(value, std::move(place), std::make_shared<Status>()) {}

JsonObject::JsonObject(const Json &value, std::string place,
                       std::shared_ptr<Status> failure)
    : json(&value), name(std::move(place)), failure(std::move(failure)) {
  if (!value.is_object())
    fail("expected an object, found " + found(value));
}

void JsonObject::fail(const std::string &what, moec_code code) const {
  if (failure->ok())
    *failure = Status(code, name + ": " + what);
}

bool JsonObject::has(const std::string &key) const {
  return json->is_object() && json->contains(key);
}

const Json *JsonObject::member(const std::string &key, Json::value_t type,
                               const char *typeName) const {
  if (!failure->ok())
    return nullptr;
  auto position = json->find(key);
  if (position == json->end()) {
    fail(concat("key ", inQuotes(key), " is missing, expected ", typeName));
    return nullptr;
  }
  if (type != Json::value_t::discarded && position->type() != type) {
    fail(concat("key ", inQuotes(key), ": expected ", typeName, ", found ",
                found(*position)));
    return nullptr;
  }
  return &*position;
}

bool JsonObject::integerInRange(const Json &value, const std::string &where,
                                int64_t least, int64_t most,
                                int64_t &result) const {
  bool fits = value.is_number_integer() &&
              !(value.is_number_unsigned() &&
                value.get<uint64_t>() > static_cast<uint64_t>(maxInteger));
  if (fits)
    result = value.get<int64_t>();
  if (fits && result >= least && result <= most)
    return true;
  result = 0;
  std::string range = most == maxInteger ? concat("of at least ", least)
                                         : concat("from ", least, " to ", most);
  fail(concat(where, ": expected a whole number ", range, ", found ",
              found(value)));
  return false;
}

int64_t JsonObject::integer(const std::string &key, int64_t least,
                            int64_t most) const {
  const Json *value = member(key, Json::value_t::discarded, "a whole number");
  int64_t result = 0;
  if (value)
    integerInRange(*value, "key " + inQuotes(key), least, most, result);
  return result;
}

std::string JsonObject::text(const std::string &key) const {
  const Json *value = member(key, Json::value_t::string, "a text");
  return value ? value->get<std::string>() : std::string();
}

JsonObject JsonObject::object(const std::string &key) const {
  static const Json empty = Json::object();
  const Json *value = member(key, Json::value_t::object, "an object");
  return JsonObject(value ? *value : empty, name + ": " + key, failure);
}

std::vector<JsonObject> JsonObject::objects(const std::string &key) const {
  std::vector<JsonObject> result;
  const Json *value = member(key, Json::value_t::array, "an array of objects");
  if (!value)
    return result;
  for (std::size_t index = 0; index < value->size() && failure->ok(); ++index)
    result.push_back(JsonObject(
        (*value)[index], concat(name, ": ", key, "[", index, "]"), failure));
  return result;
}

std::vector<std::string> JsonObject::texts(const std::string &key) const {
  std::vector<std::string> result;
  const Json *value = member(key, Json::value_t::array, "an array of texts");
  if (!value)
    return result;
  for (const Json &element : *value) {
    if (!element.is_string()) {
      fail(concat("key ", inQuotes(key), ": element ", result.size(),
                  ": expected a text, found ", found(element)));
      return {};
    }
    result.push_back(element.get<std::string>());
  }
  return result;
}

std::vector<int64_t> JsonObject::integers(const std::string &key, int64_t least,
                                          int64_t most) const {
  std::vector<int64_t> result;
  const Json *value =
      member(key, Json::value_t::array, "an array of whole numbers");
  if (!value)
    return result;
  for (const Json &element : *value) {
    int64_t number;
    std::string where =
        concat("key ", inQuotes(key), ": element ", result.size());
    if (!integerInRange(element, where, least, most, number))
      return {};
    result.push_back(number);
  }
  return result;
}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> result;
  if (failure->ok())
    for (const auto &entry : json->items())
      result.push_back(entry.key());
  return result;
}
