//===- Utf8.cpp - Characters of UTF-8 text --------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/Utf8.h"

using namespace moec::runtime;

namespace {
/// What a lead byte asks of the bytes after it.
struct Lead {
  std::size_t length;        ///< of the character, 0 if this is no lead byte
  unsigned char least, most; ///< range of the second byte
  unsigned char payload;     ///< bits of the lead byte itself
};
} // namespace

/// The rows of table 3-7 of the Unicode standard: the second byte's range shuts
/// out overlong forms, surrogates and values above U+10FFFF.
static Lead classify(unsigned char byte) {
  if (byte < 0x80)
    return {1, 0, 0, byte};
  if (byte < 0xc2)
    return {0, 0, 0, 0};
  auto low = [&](unsigned mask) {
    return static_cast<unsigned char>(byte & mask);
  };
  if (byte < 0xe0)
    return {2, 0x80, 0xbf, low(0x1f)};
  if (byte < 0xf0) {
    unsigned char least = byte == 0xe0 ? 0xa0 : 0x80;
    unsigned char most = byte == 0xed ? 0x9f : 0xbf;
    return {3, least, most, low(0x0f)};
  }
  if (byte < 0xf5) {
    unsigned char least = byte == 0xf0 ? 0x90 : 0x80;
    unsigned char most = byte == 0xf4 ? 0x8f : 0xbf;
    return {4, least, most, low(0x07)};
  }
  return {0, 0, 0, 0};
}

Utf8Step moec::runtime::nextUtf8(std::string_view bytes) {
  Lead lead = classify(static_cast<unsigned char>(bytes[0]));
  if (lead.length == 0)
    return {Utf8Step::Invalid, 1, 0};
  char32_t codePoint = lead.payload;
  unsigned char least = lead.least, most = lead.most;
  for (std::size_t at = 1; at < lead.length; ++at) {
    if (at == bytes.size())
      return {Utf8Step::Unfinished, at, 0};
    auto byte = static_cast<unsigned char>(bytes[at]);
    if (byte < least || byte > most)
      return {Utf8Step::Invalid, at, 0};
    codePoint = codePoint << 6 | (byte & 0x3f);
    least = 0x80;
    most = 0xbf;
  }
  return {Utf8Step::Character, lead.length, codePoint};
}

std::size_t moec::runtime::validUtf8Prefix(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    Utf8Step step = nextUtf8(bytes.substr(at));
    if (step.kind != Utf8Step::Character)
      break;
    at += step.length;
  }
  return at;
}

void moec::runtime::appendUtf8(std::string &out, char32_t codePoint) {
  auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  auto putTail = [&](unsigned shift) {
    put(0x80 | (codePoint >> shift & 0x3f));
  };
  if (codePoint < 0x80)
    return put(codePoint);
  if (codePoint < 0x800) {
    put(0xc0 | codePoint >> 6);
  } else if (codePoint < 0x10000) {
    put(0xe0 | codePoint >> 12);
    putTail(6);
  } else {
    put(0xf0 | codePoint >> 18);
    putTail(12);
    putTail(6);
  }
  putTail(0);
}

std::string moec::runtime::replaceInvalidUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    Utf8Step step = nextUtf8(bytes);
    if (step.kind == Utf8Step::Character)
      out += bytes.substr(0, step.length);
    else
      appendUtf8(out, U'\uFFFD');
    bytes.remove_prefix(step.length);
  }
  return out;
}
