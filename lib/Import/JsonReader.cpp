//===- JsonReader.cpp - JSON that remembers where it stood ----------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Import/JsonReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#define JSON_NOEXCEPTION
#define JSON_NO_IO
#include <nlohmann/json.hpp>

#include <limits>

using namespace moec;
using llvm::StringRef;

namespace {

/// The parser reads numbers into these types before it hands them on; the
/// widest float keeps a large number under an unknown key from being an error.
using PreciseJson = nlohmann::basic_json<std::map, std::vector, std::string,
                                         bool, int64_t, uint64_t, long double>;

constexpr StringRef byteOrderMark = "\xEF\xBB\xBF";

bool isNumberCharacter(char character) {
  return llvm::isDigit(character) || StringRef("+-.eE").contains(character);
}

/// Follows the parser through the text. The parser reports each token when it
/// has been read, so the next token's first character is the first one after
/// the last token that is neither white space nor punctuation.
class Cursor {
public:
  explicit Cursor(StringRef text)
      : text(text),
        position(text.starts_with(byteOrderMark) ? byteOrderMark.size() : 0) {}

  uint32_t seekToken() {
    position = text.find_first_not_of(" \t\r\n,:", position);
    return position;
  }
  void skipCharacter() { ++position; }
  void skipWord() {
    while (position < text.size() && llvm::isAlpha(text[position]))
      ++position;
  }
  void skipString() {
    // The text is known to be a well-formed string.
    for (++position; text[position] != '"'; ++position)
      if (text[position] == '\\')
        ++position;
    ++position;
  }
  StringRef skipNumber() {
    size_t begin = position;
    if (text[position] == '-')
      ++position;
    // Nothing but a point or an exponent continues a zero.
    bool isZero = text[position++] == '0';
    if (isZero && !text.substr(position).starts_with_insensitive("e") &&
        !text.substr(position).starts_with("."))
      return text.slice(begin, position);
    while (position < text.size() && isNumberCharacter(text[position]))
      ++position;
    return text.slice(begin, position);
  }

private:
  StringRef text;
  size_t position;
};

struct Problem {
  uint32_t offset = 0;
  std::string message;
  /// The place of the first of two equal keys.
  std::optional<uint32_t> first;
};

/// Turns the parser's events into a tree; an event returns false to stop.
class TreeBuilder {
public:
  TreeBuilder(StringRef text, JsonValue &root)
      : text(text), cursor(text), root(root) {}

  std::optional<Problem> problem;

  bool null() { return word(JsonKind::Null, false); }
  bool boolean(bool value) { return word(JsonKind::Boolean, value); }
  bool number_integer(int64_t) { return number(); }
  bool number_unsigned(uint64_t) { return number(); }
  bool number_float(long double, const std::string &) { return number(); }

  bool string(std::string &contents) {
    JsonValue *value = append(JsonKind::String);
    if (!value)
      return false;
    value->text = std::move(contents);
    cursor.skipString();
    return true;
  }

  /// JSON text has no binary values.
  bool binary(PreciseJson::binary_t &) { return false; }

  bool start_object(std::size_t) { return open(JsonKind::Object); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(JsonKind::Array); }
  bool end_array() { return close(); }

  bool key(std::string &contents) {
    nextKeyOffset = cursor.seekToken();
    cursor.skipString();
    auto [entry, isNew] = keys.back().try_emplace(contents, nextKeyOffset);
    if (!isNew)
      return fail(nextKeyOffset,
                  "duplicate key " + quoteText(contents) +
                      "; a key may stand once in an object",
                  entry->second);
    nextKey = std::move(contents);
    return true;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const PreciseJson::exception &error);

private:
  bool fail(uint32_t offset, std::string message,
            std::optional<uint32_t> first = std::nullopt) {
    problem = Problem{offset, std::move(message), first};
    return false;
  }

  /// A new value in the innermost open array or object; null if there are too
  /// many.
  JsonValue *append(JsonKind kind) {
    uint32_t offset = cursor.seekToken();
    if (++values > JsonDocument::maxValues) {
      fail(offset, "more than " + llvm::utostr(JsonDocument::maxValues) +
                       " values in one file");
      return nullptr;
    }
    JsonValue *value = &root;
    if (!open_.empty())
      value = &open_.back()->children.emplace_back();
    value->kind = kind;
    value->offset = offset;
    value->keyOffset = nextKeyOffset;
    value->key = std::move(nextKey);
    nextKey.clear();
    return value;
  }

  bool word(JsonKind kind, bool truth) {
    JsonValue *value = append(kind);
    if (!value)
      return false;
    value->boolean = truth;
    cursor.skipWord();
    return true;
  }

  bool number() {
    JsonValue *value = append(JsonKind::Number);
    if (!value)
      return false;
    value->text = cursor.skipNumber().str();
    return true;
  }

  bool open(JsonKind kind) {
    JsonValue *value = append(kind);
    if (!value)
      return false;
    if (open_.size() == JsonDocument::maxDepth)
      return fail(value->offset, "nested more than " +
                                     llvm::utostr(JsonDocument::maxDepth) +
                                     " levels deep");
    cursor.skipCharacter();
    // The pointer stays good: a parent's vector grows only when no child of
    // it is open.
    open_.push_back(value);
    keys.emplace_back();
    return true;
  }

  bool close() {
    cursor.seekToken();
    cursor.skipCharacter();
    open_.pop_back();
    keys.pop_back();
    return true;
  }

  StringRef text;
  Cursor cursor;
  JsonValue &root;
  std::vector<JsonValue *> open_;
  std::vector<llvm::StringMap<uint32_t>> keys;
  std::string nextKey;
  uint32_t nextKeyOffset = 0;
  unsigned values = 0;
};

/// The library's message without its prefix and without the token it quotes,
/// which may be megabytes of anything.
std::string reasonOf(StringRef message) {
  size_t column = message.find("column ");
  if (column != StringRef::npos)
    message = message.drop_front(column).split(": ").second;
  StringRef expected = message.rsplit("; expected ").second;
  StringRef reason = message.split("; last read: ").first;
  std::string result = reason.take_front(120).str();
  if (!expected.empty() && !reason.contains("; expected "))
    result += "; expected " + expected.take_front(60).str();
  return llvm::all_of(result, llvm::isPrint) ? result : "syntax error";
}

bool TreeBuilder::parse_error(std::size_t position, const std::string &,
                              const PreciseJson::exception &error) {
  // The position counts the characters read, the wrong one included.
  size_t offset = position == 0 ? 0 : position - 1;
  offset = std::min(offset, text.size());
  StringRef rest = text.drop_front(offset);
  bool isInfinity = rest.starts_with("Infinity") || rest.starts_with("inf");
  if (isInfinity || rest.starts_with("NaN") || rest.starts_with("nan")) {
    bool hasSign = offset > 0 && text[offset - 1] == '-';
    return fail(offset - hasSign,
                std::string(isInfinity ? "Infinity" : "NaN") +
                    " is no JSON number; expected a finite number");
  }
  constexpr int outOfRange = 406;
  if (error.id == outOfRange)
    return fail(cursor.seekToken(), "the number is too large to be read");
  std::string reason = reasonOf(error.what());
  // A whole token that is wrong is shown at its beginning.
  if (StringRef(reason).contains("unexpected "))
    offset = std::min<size_t>(offset, cursor.seekToken());
  return fail(offset, "invalid JSON: " + reason);
}

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const JsonValue *JsonValue::find(StringRef wanted) const {
  for (const JsonValue &child : children)
    if (child.key == wanted)
      return &child;
  return nullptr;
}

bool moec::operator==(const JsonValue &lhs, const JsonValue &rhs) {
  return lhs.kind == rhs.kind && lhs.boolean == rhs.boolean &&
         lhs.key == rhs.key && lhs.text == rhs.text &&
         lhs.children == rhs.children;
}

std::string moec::quoteText(StringRef text) {
  constexpr size_t longest = 60;
  std::string result = "\"";
  llvm::raw_string_ostream out(result);
  out.write_escaped(text.take_front(longest));
  if (text.size() > longest)
    out << "...";
  out << '"';
  return result;
}

std::string moec::describe(const JsonValue &value) {
  switch (value.kind) {
  case JsonKind::Null:
    return "null";
  case JsonKind::Boolean:
    return value.boolean ? "true" : "false";
  case JsonKind::Number: {
    constexpr size_t longest = 40;
    if (value.text.size() <= longest)
      return value.text;
    return value.text.substr(0, longest) + "...";
  }
  case JsonKind::String:
    return "the string " + quoteText(value.text);
  case JsonKind::Array:
    return "an array of " + llvm::utostr(value.children.size());
  case JsonKind::Object:
    return "an object";
  }
  llvm_unreachable("unknown kind of JSON value");
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

JsonDocument::JsonDocument(mlir::MLIRContext *context,
                           llvm::MemoryBufferRef buffer)
    : context(context), name(buffer.getBufferIdentifier()), lineStarts{0} {
  StringRef text = buffer.getBuffer();
  for (size_t newline = text.find('\n'); newline != StringRef::npos;
       newline = text.find('\n', newline + 1))
    lineStarts.push_back(newline + 1);
}

mlir::FileLineColLoc JsonDocument::locate(uint32_t offset) const {
  auto next = llvm::upper_bound(lineStarts, offset);
  unsigned line = next - lineStarts.begin();
  return mlir::FileLineColLoc::get(context, name, line,
                                   offset - lineStarts[line - 1] + 1);
}

mlir::FailureOr<JsonDocument>
JsonDocument::parse(mlir::MLIRContext *context, llvm::MemoryBufferRef buffer) {
  StringRef text = buffer.getBuffer();
  if (text.size() > maxBytes) {
    auto loc =
        mlir::FileLineColLoc::get(context, buffer.getBufferIdentifier(), 1, 1);
    mlir::emitError(loc) << "the file has " << text.size()
                         << " bytes; expected at most " << maxBytes;
    return mlir::failure();
  }
  JsonDocument document(context, buffer);
  TreeBuilder builder(text, document.rootValue);
  if (PreciseJson::sax_parse(text.begin(), text.end(), &builder))
    return document;
  Problem problem = builder.problem.value_or(Problem{0, "invalid JSON", {}});
  mlir::InFlightDiagnostic error =
      mlir::emitError(document.locate(problem.offset)) << problem.message;
  if (problem.first)
    error.attachNote(document.locate(*problem.first)) << "it stands here first";
  return error;
}
