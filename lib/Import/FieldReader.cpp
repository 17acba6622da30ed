//===- FieldReader.cpp - Checked access to a JSON object's keys -----------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FieldReader.h"

#include "FamilyTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace moec;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<double> toReal(const JsonValue &value) {
  double number = 0;
  if (value.kind != JsonKind::Number ||
      StringRef(value.text).getAsDouble(number) || !std::isfinite(number))
    return std::nullopt;
  return number;
}

/// A whole number in any spelling: 40, 40.0, 4e1.
static std::optional<int64_t> toInteger(const JsonValue &value) {
  if (value.kind != JsonKind::Number)
    return std::nullopt;
  int64_t number = 0;
  if (!StringRef(value.text).getAsInteger(10, number))
    return number;
  std::optional<double> real = toReal(value);
  constexpr double exactlyWhole = 9007199254740992.0; // 2^53
  if (!real || *real != std::trunc(*real) || std::abs(*real) > exactlyWhole)
    return std::nullopt;
  return static_cast<int64_t>(*real);
}

/// Whether two values mean the same, numbers by value.
static bool isSame(const JsonValue &lhs, const JsonValue &rhs) {
  std::optional<double> left = toReal(lhs), right = toReal(rhs);
  if (left && right)
    return *left == *right;
  return lhs.kind == rhs.kind && lhs.boolean == rhs.boolean &&
         lhs.text == rhs.text && lhs.children == rhs.children;
}

static std::string toString(IntegerRange range) {
  return llvm::formatv("a whole number from {0} to {1}", range.min, range.max);
}

std::string moec::plain(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

static std::string toString(RealRange range) {
  if (range.min == range.max)
    return plain(range.min);
  return std::string("a number ") +
         (range.withMin ? "of at least " : "above ") + plain(range.min) +
         " and at most " + plain(range.max);
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

std::string FieldReader::fullName(StringRef key) const {
  return group.empty() ? key.str() : group + "." + key.str();
}

const JsonValue *FieldReader::findIn(const JsonValue &where, StringRef key) {
  const JsonValue *found = nullptr;
  auto consider = [&](StringRef spelling) {
    const JsonValue *value = where.find(spelling);
    if (!value)
      return;
    bool isFirstTime = used.insert(spelling).second;
    if (isFirstTime)
      state.config.addLocation(fullName(key), state.document.keyLoc(*value));
    if (!found) {
      found = value;
      return;
    }
    if (isFirstTime && !isSame(*found, *value)) {
      markBad(key);
      error(*value)
              .append("'", spelling, "' is ", describe(*value), ", but '",
                      found->key, "' is ", describe(*found),
                      "; expected the same value or one of the two")
              .attachNote(state.document.keyLoc(*found))
          << "'" << found->key << "' stands here";
    }
  };
  consider(key);
  for (StringRef spelling : otherSpellings(key))
    consider(spelling);
  return found;
}

const JsonValue *FieldReader::find(StringRef key) {
  if (const JsonValue *value = findIn(object, key))
    return value;
  return outer ? findIn(*outer, key) : nullptr;
}

const JsonValue *FieldReader::findSet(StringRef key) {
  const JsonValue *value = find(key);
  return value && !value->isNull() ? value : nullptr;
}

const JsonValue *FieldReader::findPresent(StringRef key, Presence presence,
                                          const Twine &expected) {
  const JsonValue *value = find(key);
  if (!value && presence != Presence::Optional) {
    markBad(key);
    error(object) << "missing key '" << fullName(key) << "'; expected "
                  << expected;
  }
  if (!value || !value->isNull())
    return value;
  if (presence == Presence::Required)
    wrong(key, *value, expected);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Typed reads
//===----------------------------------------------------------------------===//

std::optional<int64_t> FieldReader::integer(StringRef key,
                                            const JsonValue &value,
                                            IntegerRange range) {
  std::optional<int64_t> number = toInteger(value);
  if (number && *number >= range.min && *number <= range.max)
    return number;
  wrong(key, value, toString(range));
  return std::nullopt;
}

void FieldReader::read(StringRef key, int64_t &field, IntegerRange range,
                       Presence presence) {
  if (const JsonValue *value = findPresent(key, presence, toString(range)))
    if (std::optional<int64_t> number = integer(key, *value, range))
      field = *number;
}

void FieldReader::read(StringRef key, double &field, RealRange range,
                       Presence presence) {
  const JsonValue *value = findPresent(key, presence, toString(range));
  if (!value)
    return;
  std::optional<double> number = toReal(*value);
  if (!number || *number > range.max || *number < range.min ||
      (!range.withMin && *number == range.min))
    return wrong(key, *value, toString(range));
  field = *number;
}

void FieldReader::read(StringRef key, bool &field) {
  const JsonValue *value = findSet(key);
  if (!value)
    return;
  if (value->kind != JsonKind::Boolean)
    return wrong(key, *value, "true or false");
  field = value->boolean;
}

void FieldReader::read(StringRef key, unsigned &field,
                       llvm::ArrayRef<StringRef> words) {
  const JsonValue *value = findSet(key);
  if (!value)
    return;
  const auto *word = llvm::find(words, value->text);
  if (value->kind == JsonKind::String && word != words.end()) {
    field = word - words.begin();
    return;
  }
  wrong(key, *value, "one of \"" + llvm::join(words, "\", \"") + "\"");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

mlir::InFlightDiagnostic FieldReader::error(const JsonValue &value) {
  state.failed = true;
  return mlir::emitError(state.document.valueLoc(value));
}

mlir::InFlightDiagnostic FieldReader::error(StringRef key) {
  const JsonValue *value = find(key);
  return error(value ? *value : object);
}

void FieldReader::wrong(StringRef key, const JsonValue &value,
                        const Twine &expected) {
  markBad(key);
  StringRef name = value.key.empty() ? key : StringRef(value.key);
  error(value) << "'" << fullName(name) << "' is " << describe(value)
               << "; expected " << expected;
}

bool FieldReader::isGood(llvm::ArrayRef<StringRef> keys) const {
  return llvm::none_of(
      keys, [&](StringRef key) { return state.bad.contains(fullName(key)); });
}

std::vector<const JsonValue *> FieldReader::unusedMembers() const {
  std::vector<const JsonValue *> members;
  for (const JsonValue *where : {&object, outer})
    if (where)
      for (const JsonValue &member : where->children)
        if (!used.contains(member.key))
          members.push_back(&member);
  return members;
}
