//===- FieldReader.h - Checked access to a JSON object's keys ---*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads keys of an object into typed fields. A value that is wrong becomes a
// diagnostic at its place and reading goes on, so that one run reports all of
// a file's errors.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_IMPORT_FIELDREADER_H
#define MOEC_LIB_IMPORT_FIELDREADER_H

#include "moec/Import/JsonReader.h"
#include "moec/Import/ModelConfig.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

namespace moec {

/// Whether a key may be absent, or null for "off"; then its field keeps the
/// value it has.
enum class Presence { Required, RequiredOrNull, Optional };

struct IntegerRange {
  int64_t min = 1;
  int64_t max = std::numeric_limits<int32_t>::max();
};

struct RealRange {
  double min;
  double max;
  /// Whether `min` itself is allowed.
  bool withMin = true;
};

/// What readers of one file share.
struct ReadState {
  const JsonDocument &document;
  ModelConfig &config;
  /// Canonical names of keys whose value is missing or wrong.
  llvm::StringSet<> bad = {};
  bool failed = false;
};

/// A number as a message shows it: 10000, 0.5, 1e-06.
std::string plain(double number);

class FieldReader {
public:
  /// Keys that `object` lacks are looked up in `outer`, if there is one.
  /// Locations are kept under `group` + "." + key if there is a group.
  FieldReader(ReadState &state, const JsonValue &object,
              const JsonValue *outer = nullptr, llvm::StringRef group = "")
      : state(state), object(object), outer(outer), group(group) {}

  ReadState &state;
  const JsonValue &object;

  /// The key's value under any of its spellings, or null. Two spellings with
  /// different values are an error.
  const JsonValue *find(llvm::StringRef key);
  /// The same, where JSON's null counts as absent.
  const JsonValue *findSet(llvm::StringRef key);

  void read(llvm::StringRef key, int64_t &field, IntegerRange range,
            Presence presence);
  void read(llvm::StringRef key, double &field, RealRange range,
            Presence presence);
  void read(llvm::StringRef key, bool &field);
  /// One of several words; `field` becomes the index of the word.
  void read(llvm::StringRef key, unsigned &field,
            llvm::ArrayRef<llvm::StringRef> words);

  /// Reads a value that is no member of its own, such as a list's element.
  std::optional<int64_t> integer(llvm::StringRef key, const JsonValue &value,
                                 IntegerRange range);

  /// Reports a key's wrong value: "'KEY' is FOUND; expected EXPECTED".
  void wrong(llvm::StringRef key, const JsonValue &value,
             const llvm::Twine &expected);
  /// Reports at a key's value, or at the object if the key is absent.
  mlir::InFlightDiagnostic error(llvm::StringRef key);
  mlir::InFlightDiagnostic error(const JsonValue &value);

  /// Whether all of these keys were read without an error.
  bool isGood(llvm::ArrayRef<llvm::StringRef> keys) const;
  void markBad(llvm::StringRef key) { state.bad.insert(fullName(key)); }

  /// Says that a key is understood, though not read here.
  void markUsed(llvm::StringRef key) { used.insert(key); }
  /// Members of the object (and of `outer`) that no call has asked for.
  std::vector<const JsonValue *> unusedMembers() const;

private:
  std::string fullName(llvm::StringRef key) const;
  const JsonValue *findIn(const JsonValue &where, llvm::StringRef key);
  const JsonValue *findPresent(llvm::StringRef key, Presence presence,
                               const llvm::Twine &expected);

  const JsonValue *outer;
  std::string group;
  llvm::StringSet<> used;
};

} // namespace moec

#endif // MOEC_LIB_IMPORT_FIELDREADER_H
