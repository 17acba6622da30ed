//===- JsonCursor.cpp - A place in a tokenizer's JSON ---------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/JsonCursor.h"

#include "Text.h"

#include <algorithm>

using namespace moec::runtime;

static const Json null;

JsonCursor JsonCursor::operator[](const std::string &key) const {
  std::string keyPath = path.empty() ? key : path + "." + key;
  auto member = object().find(key);
  return {member == value->end() ? &null : &*member, file, std::move(keyPath)};
}

std::vector<JsonCursor> JsonCursor::elements() const {
  if (!value->is_array())
    expected("an array");
  std::vector<JsonCursor> result;
  result.reserve(value->size());
  for (const Json &element : *value)
    result.push_back(
        {&element, file, path + "[" + std::to_string(result.size()) + "]"});
  return result;
}

const std::string &JsonCursor::text() const {
  if (!value->is_string())
    expected("a text");
  return value->get_ref<const std::string &>();
}

int32_t JsonCursor::id() const {
  if (!value->is_number_unsigned() || value->get<uint64_t>() > maxTokenId)
    expected(concat("a token id from 0 to ", maxTokenId));
  return value->get<int32_t>();
}

bool JsonCursor::flag(bool absent) const {
  if (isNull())
    return absent;
  if (!value->is_boolean())
    expected("true or false");
  return value->get<bool>();
}

const Json &JsonCursor::object() const {
  if (!value->is_object())
    expected("an object");
  return *value;
}

void JsonCursor::expectOff(std::initializer_list<Json> harmless) const {
  if (!isNull() &&
      std::find(harmless.begin(), harmless.end(), *value) == harmless.end())
    unsupported(found() + " is not supported");
}

std::string JsonCursor::found() const {
  if (value->is_string())
    return inQuotes(value->get_ref<const std::string &>());
  if (value->is_structured())
    return concat("an ", value->type_name());
  return value->dump();
}

std::string JsonCursor::place() const {
  return path.empty() ? *file : *file + ": " + path;
}

void JsonCursor::invalid(const std::string &what) const {
  invalidTokenizer(concat(place(), ": ", what));
}

void JsonCursor::unsupported(const std::string &what) const {
  unsupportedTokenizer(concat(place(), ": ", what));
}

void JsonCursor::expected(const std::string &what) const {
  invalid(concat("expected ", what, ", found ", found()));
}

Json moec::runtime::parseTokenizerJson(const Tokenizer::Source &source) {
  Expected<Json> json = parseJson(source.text, source.name);
  if (!json)
    invalidTokenizer(json.status().message());
  return std::move(*json);
}
