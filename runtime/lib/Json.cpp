//===- Json.cpp - Strict JSON ---------------------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include "MappedFile.h"
#include "Text.h"

#include <algorithm>
#include <iterator>
#include <vector>

using namespace moec::runtime;

namespace {

/// Hands bytes to the lexer and keeps count, so that a failure knows where it
/// is.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *at, const char **furthest)
      : at(at), furthest(furthest) {}

  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    *furthest = ++at;
    return *this;
  }
  bool operator==(const CountingIterator &other) const {
    return at == other.at;
  }
  bool operator!=(const CountingIterator &other) const {
    return at != other.at;
  }

private:
  const char *at;
  const char **furthest;
};

/// Builds the value from the parser's events. Values nest by pointers into
/// their parents, which do not move while a child is open.
class Builder {
public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(number_integer_t value) { return put(value); }
  bool number_unsigned(number_unsigned_t value) { return put(value); }
  bool number_float(number_float_t value, const string_t &) {
    return put(value);
  }
  bool string(string_t &value) { return put(std::move(value)); }
  bool binary(binary_t &) { return fail("binary values are not JSON"); }

  bool start_object(std::size_t) { return push(Json::object()); }
  bool start_array(std::size_t) { return push(Json::array()); }
  bool end_object() { return pop(); }
  bool end_array() { return pop(); }

  bool key(string_t &name) {
    if (open.back()->contains(name))
      return fail("duplicate key " + inQuotes(name));
    pendingKey = std::move(name);
    return true;
  }

  template <typename Exception>
  bool parse_error(std::size_t, const std::string &, const Exception &error) {
    // "[json.exception...] parse error at line 1, column 2: syntax error ...":
    // the place is said by the caller.
    std::string_view text = error.what();
    std::size_t end = text.find(": ");
    if (end != std::string_view::npos)
      text.remove_prefix(end + 2);
    return fail(std::string(text.substr(0, 200)));
  }

  Json root;
  std::string failure;

private:
  bool fail(std::string message) {
    failure = std::move(message);
    std::replace_if(
        failure.begin(), failure.end(),
        [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; }, '?');
    return false;
  }

  Json *place(Json value) {
    if (open.empty())
      return &(root = std::move(value));
    Json &parent = *open.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[pendingKey] = std::move(value));
  }

  bool put(Json value) {
    place(std::move(value));
    return true;
  }

  bool push(Json value) {
    if (open.size() == maxJsonDepth)
      return fail(concat("nested deeper than ", maxJsonDepth, " levels"));
    open.push_back(place(std::move(value)));
    return true;
  }

  bool pop() {
    open.pop_back();
    return true;
  }

  std::vector<Json *> open;
  std::string pendingKey;
};

} // namespace

static Status failureAt(std::string_view text, std::size_t offset,
                        const std::string &place, const std::string &what) {
  std::string_view before = text.substr(0, offset);
  auto line = 1 + std::count(before.begin(), before.end(), '\n');
  std::size_t lineStart = before.rfind('\n');
  std::size_t column =
      lineStart == std::string_view::npos ? offset + 1 : offset - lineStart;
  return Status::invalidFile(
      concat(place, ":", line, ":", column, " (byte ", offset, "): ", what));
}

Expected<Json> moec::runtime::parseJson(std::string_view text,
                                        const std::string &place) {
  // The library takes a NUL byte for the end of the input.
  if (std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return failureAt(text, nul, place, "NUL byte in JSON");
  const char *furthest = text.data();
  Builder builder;
  CountingIterator begin(text.data(), &furthest);
  CountingIterator end(text.data() + text.size(), &furthest);
  bool parsed = Json::sax_parse(begin, end, &builder,
                                nlohmann::detail::input_format_t::json,
                                /*strict=*/true);
  if (parsed)
    return std::move(builder.root);
  auto read = static_cast<std::size_t>(furthest - text.data());
  return failureAt(text, read > 0 ? read - 1 : 0, place, builder.failure);
}

Expected<Json> moec::runtime::readJsonFile(const std::filesystem::path &path,
                                           std::size_t maxBytes) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  if (file->bytes().size() > maxBytes)
    return Status::invalidFile(concat(path.string(), ": has ",
                                      file->bytes().size(),
                                      " bytes, expected at most ", maxBytes));
  return parseJson(file->text(), path.string());
}
