//===- Text.h - Pieces of messages ------------------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small helpers that put error messages together. Names that come from files
// are quoted, shortened and stripped of control characters, for they may be
// hostile and end on a terminal.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_H
#define MOEC_RUNTIME_LIB_TEXT_H

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace moec::runtime {

/// The parts, printed one after the other.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// `text` in quotes, at most 120 bytes of it, control characters as '?'. (Were
/// it called `quoted`, argument-dependent lookup would find std::quoted
/// instead.)
inline std::string inQuotes(std::string_view text) {
  constexpr std::size_t limit = 120;
  std::string out = "'";
  for (unsigned char byte : text.substr(0, limit))
    out += byte < 0x20 || byte == 0x7f ? '?' : static_cast<char>(byte);
  out += text.size() > limit ? "...'" : "'";
  return out;
}

/// "[3, 5]".
inline std::string shapeText(const std::vector<int64_t> &shape) {
  std::string out = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    out += (axis ? ", " : "") + std::to_string(shape[axis]);
  return out + "]";
}

/// A list of findings under one heading, cut after a number of lines.
class Findings {
public:
  explicit Findings(std::size_t limit = 20) : limit(limit) {}

  void add(std::string line) {
    if (++total <= limit)
      lines += "\n  " + line;
  }
  bool empty() const { return total == 0; }
  std::size_t count() const { return total; }
  /// The lines, each on its own, and "and N more" if some were cut.
  std::string text() const {
    if (total <= limit)
      return lines;
    return lines + "\n  and " + std::to_string(total - limit) + " more";
  }

private:
  std::size_t limit;
  std::size_t total = 0;
  std::string lines;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_H
