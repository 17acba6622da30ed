//===- JsonTest.cpp - Tests of strict JSON --------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "JsonObject.h"

#include <gtest/gtest.h>

using namespace moec::runtime;

namespace {

struct Broken {
  const char *name;
  std::string text;
  const char *message;
};

class BrokenJson : public ::testing::TestWithParam<Broken> {};

} // namespace

TEST_P(BrokenJson, IsRefusedWithItsPlace) {
  Expected<Json> json = parseJson(GetParam().text, "file.json");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.status().code(), MOEC_INVALID_FILE);
  EXPECT_NE(json.status().message().find(GetParam().message), std::string::npos)
      << json.status().message();
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenJson,
    ::testing::Values(
        Broken{"Empty", "", "file.json:1:1 (byte 0): "},
        Broken{"Word", "hello", "file.json:1:1 (byte 0): syntax error"},
        Broken{"CutOff", "{\n \"a\": [1,",
               "file.json:2:9 (byte 10): syntax error"},
        Broken{"TrailingText", "{} x", "file.json:1:4 (byte 3): "},
        Broken{"TrailingComma", "[1,]", "file.json:1:4 (byte 3): "},
        Broken{"Comment", "{} // no", "file.json:1:4 (byte 3): "},
        Broken{"DuplicateKey", "{\"a\": 1,\n\"a\": 2}",
               "file.json:2:3 (byte 11): duplicate key 'a'"},
        Broken{"DuplicateKeyByEscape", R"({"a": 1, "\u0061": 2})",
               "duplicate key 'a'"},
        Broken{"DeepArray", std::string(100'000, '['),
               "file.json:1:65 (byte 64): nested deeper than 64 levels"},
        Broken{"NulByte", std::string("{}\0", 3),
               "file.json:1:3 (byte 2): NUL byte"},
        Broken{"InvalidUtf8", "[\"\xff\"]", "file.json:1:3 (byte 2): "},
        Broken{"LoneSurrogate", R"(["\ud800"])", "file.json:1:"},
        Broken{"NotANumber", "[NaN]", "file.json:1:2 (byte 1): "},
        Broken{"TooLargeNumber", "[1e999]", "file.json:1:"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(Json, ControlCharactersOfAFileDoNotReachTheMessage) {
  Expected<Json> json =
      parseJson("{\"\\u001b[31m\": 1, \"\\u001b[31m\": 2}", "f");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.status().message().find('\x1b'), std::string::npos);
}

TEST(Json, AcceptsWhatIsValid) {
  Expected<Json> json = parseJson(
      R"( {"a": [1, -2, 1.5e3, "é", null, true, {}], "b": {"a": []}} )", "f");
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ((*json)["a"][2], 1500.0);
  EXPECT_EQ((*json)["a"][3], "é");
}

TEST(JsonObject, KeepsTheFirstFailure) {
  Json json = Json::parse(R"({"one": {"size": "text"}, "two": -1})");
  JsonObject object(json, "f");
  object.object("one").integer("size");
  object.integer("two");
  EXPECT_EQ(object.status().message(),
            "f: one: key 'size': expected a whole number of at least 0, found "
            "string \"text\"");
}

TEST(JsonObject, ReadsNumbersOf63Bits) {
  Json json = Json::parse(
      R"({"most": 9223372036854775807, "more": 9223372036854775808})");
  JsonObject object(json, "f");
  EXPECT_EQ(object.integer("most"), INT64_MAX);
  EXPECT_TRUE(object.ok());
  object.integer("more");
  EXPECT_FALSE(object.ok());
}
