//===- RegexSyntax.cpp - Patterns of tokenizer.json for PCRE2 -------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/RegexSyntax.h"

#include "Text.h"
#include "text/Regex.h"

#include <array>

using namespace moec::runtime;

namespace {

class Translator {
public:
  explicit Translator(std::string_view pattern) : pattern(pattern) {}

  Expected<std::string> run() {
    while (failure.ok() && at < pattern.size())
      outside();
    if (failure.ok() && inClass)
      refuse("a class without its ']'");
    if (!failure.ok())
      return failure;
    return std::move(out);
  }

private:
  void refuse(const std::string &what) {
    if (failure.ok())
      failure =
          Status::unsupported(concat("pattern ", inQuotes(pattern), ", byte ",
                                     at, ": ", what, " is not supported"));
  }
  bool ahead(std::string_view text) const {
    return pattern.substr(at).starts_with(text);
  }
  void copy(std::size_t count) {
    out += pattern.substr(at, count);
    at += count;
  }

  void outside() {
    if (inClass)
      return insideClass();
    switch (pattern[at]) {
    case '\\':
      return escape();
    case '[':
      return openClass();
    case '(':
      return group();
    case '{':
      if (ahead("{,"))
        return refuse("a repetition without its least number");
      return copy(1);
    case '}':
      // A possessive repetition in one syntax, a repeated one in the other.
      if (ahead("}+"))
        return refuse("'+' after a counted repetition");
      return copy(1);
    default:
      return copy(1);
    }
  }

  void openClass() {
    std::size_t length = ahead("[^") ? 2 : 1;
    copy(length);
    inClass = true;
    if (ahead("]"))
      refuse("an empty class");
  }

  void insideClass() {
    if (ahead("&&"))
      return refuse("the class intersection '&&'");
    switch (pattern[at]) {
    case '[':
      return refuse("a class inside a class");
    case '\\':
      return escape();
    case ']':
      inClass = false;
      return copy(1);
    default:
      return copy(1);
    }
  }

  void group() {
    static constexpr std::array<std::string_view, 7> known = {
        "(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"};
    for (std::string_view opening : known)
      if (ahead(opening))
        return copy(opening.size());
    if (ahead("(?") || ahead("(*"))
      return refuse(concat("the group ", inQuotes(pattern.substr(at, 4))));
    copy(1);
  }

  void escape() {
    if (at + 1 == pattern.size())
      return refuse("a '\\' at the end");
    char letter = pattern[at + 1];
    switch (letter) {
    // White space is what Unicode calls so; PCRE2's \s has U+180E as well.
    case 's':
      return replace("\\p{White_Space}");
    case 'S':
      return replace("\\P{White_Space}");
    case 'w':
      return replace(inClass ? word : concat("[", word, "]"));
    case 'W':
      if (inClass)
        return refuse("'\\W' in a class");
      return replace(concat("[^", word, "]"));
    case 'p':
    case 'P':
      return property();
    case 'u':
      return unicode();
    case 'd':
    case 'D':
    case 'r':
    case 'n':
    case 't':
    case 'f':
    case 'x':
      return copy(2);
    default:
      break;
    }
    auto byte = static_cast<unsigned char>(letter);
    bool sign = byte < 0x80 && byte > 0x20 && byte != 0x7f &&
                !(letter >= '0' && letter <= '9') &&
                !(letter >= 'a' && letter <= 'z') &&
                !(letter >= 'A' && letter <= 'Z');
    if (!sign)
      return refuse(concat("the escape ", inQuotes(pattern.substr(at, 2))));
    copy(2);
  }

  void replace(const std::string &text) {
    out += text;
    at += 2;
  }

  /// \p{Han} means the script here; PCRE2 takes a bare name for the script's
  /// extensions, which hold punctuation as well.
  void property() {
    std::size_t close = pattern.find('}', at);
    if (!ahead("\\p{") && !ahead("\\P{"))
      return refuse("a property without '{'");
    if (close == std::string_view::npos)
      return refuse("a property without its '}'");
    std::string_view start = pattern.substr(at, 3);
    std::string name(pattern.substr(at + 3, close - at - 3));
    bool negated = name.starts_with('^');
    if (negated)
      name.erase(0, 1);
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_ ") !=
        std::string::npos)
      return refuse(concat("the property ", inQuotes(name)));
    // Categories have one or two letters.
    bool script = name.size() > 2 && Regex::compile("\\p{sc:" + name + "}");
    out += concat(start, negated ? "^" : "", script ? "sc:" : "", name, "}");
    at = close + 1;
  }

  /// \uHHHH
  void unicode() {
    std::string_view digits = pattern.substr(at + 2, 4);
    if (digits.size() < 4 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") !=
            std::string_view::npos)
      return refuse("'\\u' without four hexadecimal digits");
    out += concat("\\x{", digits, "}");
    at += 6;
  }

  const std::string word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";

  std::string_view pattern;
  std::size_t at = 0;
  bool inClass = false;
  std::string out;
  Status failure;
};

} // namespace

Expected<std::string> moec::runtime::translateRegex(std::string_view pattern) {
  return Translator(pattern).run();
}

std::string moec::runtime::literalRegex(std::string_view text) {
  static constexpr std::string_view special = "\\^$.[]|()?*+{}";
  std::string out;
  for (char byte : text) {
    if (special.find(byte) != std::string_view::npos)
      out += '\\';
    out += byte;
  }
  return out;
}
