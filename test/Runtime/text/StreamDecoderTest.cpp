//===- StreamDecoderTest.cpp - Text that comes in halves of characters ----===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestTokenizers.h"

#include "text/StreamDecoder.h"
#include "text/Utf8.h"

using namespace moec::runtime;

namespace {

/// The id of the token of one byte: the tokens of bytes that are no character.
int32_t byteId(unsigned char byte) {
  char character = static_cast<char>(byte);
  return encoded(kimi(), std::string_view(&character, 1))[0];
}

/// What comes out for each byte and at the end.
std::vector<std::string> streamed(std::string_view bytes) {
  StreamDecoder decoder(kimi());
  std::vector<std::string> result;
  for (char byte : bytes)
    result.push_back(decoder.push(byteId(static_cast<unsigned char>(byte))));
  result.push_back(decoder.finish());
  return result;
}

std::string joined(const std::vector<std::string> &parts) {
  std::string result;
  for (const std::string &part : parts)
    result += part;
  return result;
}

TEST(StreamDecoder, CharactersComeWhole) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(streamed("aé"), (Parts{"a", "", "é", ""}));
  EXPECT_EQ(streamed("世"), (Parts{"", "", "世", ""}));
  EXPECT_EQ(streamed("😀"), (Parts{"", "", "", "😀", ""}));
}

TEST(StreamDecoder, EverySplitGivesTheSameText) {
  const std::string text = "aé世😀한\u0301\U0010ffffz";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    StreamDecoder decoder(kimi());
    std::string out;
    for (std::string_view half : {std::string_view(text).substr(0, at),
                                  std::string_view(text).substr(at)})
      for (int32_t id : encoded(kimi(), half)) {
        out += decoder.push(id);
        EXPECT_EQ(validUtf8Prefix(out), out.size());
      }
    EXPECT_EQ(out + decoder.finish(), text) << at;
  }
}

// The expected texts are those of Python's bytes.decode(errors="replace").
TEST(StreamDecoder, BytesThatAreNoCharacterAreReplaced) {
  const std::string bad = "\xef\xbf\xbd";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xff", bad},
      {"a\x80z", "a" + bad + "z"},
      {"\xc3", bad},
      {"\xc3(", bad + "("},
      {"\xc0\x80", bad + bad},
      {"\xe4\xb8", bad},
      {"\xe4\xb8z", bad + "z"},
      {"\xe4\xb8\xe4\xb8\x96", bad + "世"},
      {"\xe0\x80\x80", bad + bad + bad},
      {"\xed\xa0\x80", bad + bad + bad},
      {"\xf0\x9f\x98", bad},
      {"\xf0\x9f\x98\xf0\x9f\x98\x80", bad + "😀"},
      {"\xf0\x80\x80\x80", bad + bad + bad + bad},
      {"\xf4\x90\x80\x80", bad + bad + bad + bad},
      {"\xf5\x80", bad + bad},
  };
  for (const auto &[bytes, text] : cases) {
    EXPECT_EQ(joined(streamed(bytes)), text);
    EXPECT_EQ(replaceInvalidUtf8(bytes), text);
  }
}

TEST(StreamDecoder, FinishBeginsAnew) {
  StreamDecoder decoder(kimi());
  EXPECT_EQ(decoder.push(byteId(0xe4)), "");
  EXPECT_EQ(decoder.finish(), "\xef\xbf\xbd");
  EXPECT_EQ(decoder.push(byteId('a')), "a");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamDecoder, UnknownIdsAreNoText) {
  StreamDecoder decoder(kimi());
  EXPECT_EQ(decoder.push(byteId(0xc3)), "");
  EXPECT_EQ(decoder.push(100'000), "");
  EXPECT_EQ(decoder.push(-1), "");
  EXPECT_EQ(decoder.push(byteId(0xa9)), "é");
}

} // namespace
