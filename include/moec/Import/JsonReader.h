//===- JsonReader.h - JSON that remembers where it stood --------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A JSON text as a tree whose every key and value knows its line and column,
// so that a diagnostic about a value can point at it. The text may come from
// anywhere: size, depth and the number of values are bounded, duplicate keys
// and everything outside RFC 8259 are errors.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_IMPORT_JSONREADER_H
#define MOEC_IMPORT_JSONREADER_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace moec {

enum class JsonKind { Null, Boolean, Number, String, Array, Object };

/// A value, and its key where it is a member of an object.
struct JsonValue {
  JsonKind kind = JsonKind::Null;
  bool boolean = false;
  /// Byte offsets of the value's and of the key's first character.
  uint32_t offset = 0;
  uint32_t keyOffset = 0;
  std::string key;
  /// A number as it was written (it may not fit any machine type), or a
  /// string's contents.
  std::string text;
  /// Elements of an array, or members of an object in the file's order.
  std::vector<JsonValue> children;

  /// The member called `key` of an object, or null.
  const JsonValue *find(llvm::StringRef key) const;
  bool isNull() const { return kind == JsonKind::Null; }
};

/// True if both are the same value; numbers are compared as written.
bool operator==(const JsonValue &lhs, const JsonValue &rhs);

/// What a diagnostic calls the value: `null`, `-3.5`, `the string "abc"`, ...
/// Long and unprintable texts are shortened and escaped.
std::string describe(const JsonValue &value);

/// A quoted, shortened, printable form of a text from outside.
std::string quoteText(llvm::StringRef text);

class JsonDocument {
public:
  static constexpr uint64_t maxBytes = uint64_t(16) << 20;
  static constexpr unsigned maxDepth = 64;
  static constexpr unsigned maxValues = 500000;

  /// Parses a buffer, whose identifier is the file's name; the buffer need not
  /// outlive the document. Errors are diagnostics of `context`.
  static mlir::FailureOr<JsonDocument> parse(mlir::MLIRContext *context,
                                             llvm::MemoryBufferRef buffer);

  const JsonValue &root() const { return rootValue; }
  llvm::StringRef fileName() const { return name; }

  mlir::FileLineColLoc locate(uint32_t offset) const;
  mlir::FileLineColLoc valueLoc(const JsonValue &value) const {
    return locate(value.offset);
  }
  mlir::FileLineColLoc keyLoc(const JsonValue &member) const {
    return locate(member.keyOffset);
  }

private:
  JsonDocument(mlir::MLIRContext *context, llvm::MemoryBufferRef buffer);

  mlir::MLIRContext *context;
  std::string name;
  std::vector<uint32_t> lineStarts;
  JsonValue rootValue;
};

} // namespace moec

#endif // MOEC_IMPORT_JSONREADER_H
