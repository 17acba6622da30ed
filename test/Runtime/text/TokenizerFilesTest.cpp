//===- TokenizerFilesTest.cpp - Broken tokenizer files --------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row breaks one thing; the message names the file and the place.
//
//===----------------------------------------------------------------------===//

#include "TestTokenizers.h"

#include <nlohmann/json.hpp>

using namespace moec::runtime;
using nlohmann::json;

namespace {

/// tiktoken.model with the 256 bytes and "ab".
std::string smallModel() {
  static const char *alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (unsigned byte = 0; byte < 256; ++byte) {
    text += {alphabet[byte >> 2], alphabet[(byte & 3) << 4], '=', '='};
    text += " " + std::to_string(byte) + "\n";
  }
  return text + "YWI= 256\n";
}

const char *smallConfig = R"({"added_tokens_decoder": {
  "257": {"content": "[BOS]"}, "258": {"content": "[EOS]"}}})";

/// `text` with the first `from` replaced.
std::string with(std::string text, const std::string &from,
                 const std::string &to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expectMessage(const Expected<std::unique_ptr<Tokenizer>> &tokenizer,
                   const std::vector<std::string> &parts) {
  ASSERT_FALSE(tokenizer) << parts.back();
  const std::string &message = tokenizer.status().message();
  for (const std::string &part : parts)
    EXPECT_NE(message.find(part), std::string::npos)
        << "'" << part << "' is not in: " << message;
}

TEST(TokenizerFiles, SmallModelIsGood) {
  auto tokenizer = Tokenizer::fromTiktoken({smallModel(), "tiktoken.model"},
                                           {smallConfig, "config"});
  ASSERT_TRUE(tokenizer) << tokenizer.status().message();
  EXPECT_EQ(encoded(**tokenizer, "xab[EOS]", /*allowSpecial=*/true),
            (Ids{'x', 256, 258}));
  // Without the last line break.
  std::string text = smallModel();
  text.pop_back();
  EXPECT_TRUE(Tokenizer::fromTiktoken({text, "m"}, {smallConfig, "c"}));
}

TEST(TokenizerFiles, BrokenTiktokenModel) {
  const std::string good = smallModel();
  struct Row {
    std::string text, place, message;
  };
  const std::vector<Row> rows = {
      {"", "m:1:", "the file is empty"},
      {with(good, "AQ== 1\n", "\n"), "m:2:", "expected \"base64 rank\""},
      {with(good, "AQ== 1\n", "AQ==\n"), "m:2:", "found 'AQ=='"},
      {with(good, "AQ== 1\n", "AQ== 1 \n"), "m:2:", "found '1 '"},
      {with(good, "AQ== 1\n", "AQ== 1\r\n"), "m:2:", "found '1?'"},
      {with(good, "AQ== 1\n", "AQ== one\n"), "m:2:", "found 'one'"},
      {with(good, "AQ== 1\n", "AQ== -1\n"), "m:2:", "found '-1'"},
      {with(good, "AQ== 1\n", "AQ== 99999999999999999999\n"),
       "m:2:", "expected a rank from 0 to"},
      {with(good, "AQ== 1\n", "AQ== \n"), "m:2:", "found ''"},
      {with(good, "AQ==", "A*=="), "m:2:", "expected base64, found 'A*=='"},
      {with(good, "AQ==", "AQ="), "m:2:", "expected base64"},
      {with(good, "AQ==", "AR=="), "m:2:", "expected base64"},
      {with(good, "AQ==", "===="), "m:2:", "expected base64"},
      {with(good, "AQ==", ""), "m:2:", "the token has no bytes"},
      {with(good, "AQ== 1\n", "AQ== 7\n"), "m:8:", "in line 2 already"},
      {with(good, "AQ== 1\n", ""), "m:256:", "rank 256 leaves a gap"},
      {with(good, "AQ== 1\n", "AQ== 300\n"), "m:2:", "leaves a gap"},
      {with(good, "YWI=", "Yw=="), "m:257:", "in line 100 already"},
      {with(good, "AQ==", "YmI="), "m:257:", "without a token for byte 1,"},
      {std::string(1, '\0'), "m:1:", "found '?'"},
  };
  for (const Row &row : rows)
    expectMessage(Tokenizer::fromTiktoken({row.text, "m"}, {smallConfig, "c"}),
                  {row.place, row.message});
}

TEST(TokenizerFiles, BrokenSpecialTokens) {
  const std::string good = smallConfig, model = smallModel();
  struct Row {
    std::string text, place, message;
  };
  const std::vector<Row> rows = {
      {"", "c:1:1", ""},
      {"{", "c:1:", ""},
      {"[]", "c", "expected an object, found an array"},
      {"{}", "c: added_tokens_decoder", "expected an object, found null"},
      {with(good, "257", "12"), "added_tokens_decoder", "found '12'"},
      {with(good, "257", "513"), "added_tokens_decoder", "from 257 to 512"},
      {with(good, "257", "x"), "added_tokens_decoder", "found 'x'"},
      {with(good, "257", "0257"), "added_tokens_decoder", "found '0257'"},
      {with(good, "257", "258"), "c:2:", "duplicate key '258'"},
      {with(good, "{\"content\": \"[BOS]\"}", "3"), "added_tokens_decoder.257",
       "expected an object, found 3"},
      {with(good, "\"[BOS]\"", "null"), "257.content",
       "expected a text, found null"},
      {with(good, "[BOS]", ""), "257.content", "1 to 512 bytes"},
      {with(good, "[BOS]", std::string(600, 'x')), "257.content",
       "1 to 512 bytes"},
      {with(good, "[BOS]", "[EOS]"), "added_tokens_decoder.258",
       "belongs to token 257 already"},
      {with(good, "[BOS]", "<|reserved_token_300|>"), "added_tokens_decoder",
       "belongs to token 257 already"},
      {with(good, "\"[BOS]\"", "\"[BOS]\", \"lstrip\": true"), "257.lstrip",
       "true is not supported"},
  };
  for (const Row &row : rows)
    expectMessage(Tokenizer::fromTiktoken({model, "m"}, {row.text, "c"}),
                  {row.place, row.message});
}

/// byte-level/tokenizer.json, changed by a JSON patch.
std::string patched(const json &patch) {
  static const json good =
      json::parse(readText(byteLevelFolder() / "tokenizer.json"));
  return good.patch(patch).dump();
}
json replaced(const std::string &path, const json &value) {
  return json::array({{{"op", "add"}, {"path", path}, {"value", value}}});
}
json removed(const std::string &path) {
  return json::array({{{"op", "remove"}, {"path", path}}});
}

TEST(TokenizerFiles, BrokenTokenizerJson) {
  const std::string split = "/pre_tokenizer/pretokenizers/0";
  struct Row {
    json patch;
    std::string place, message;
  };
  const std::vector<Row> rows = {
      {removed("/model"), "model", "expected an object, found null"},
      {replaced("/version", "2.0"), "version", "'2.0' is not supported"},
      {replaced("/model/type", "Unigram"), "model.type", "'Unigram'"},
      {replaced("/model/type", 3), "model.type", "expected a text, found 3"},
      {replaced("/model/dropout", 0.1), "model.dropout", "not supported"},
      {replaced("/model/byte_fallback", true), "model.byte_fallback",
       "true is not supported"},
      {replaced("/model/end_of_word_suffix", "</w>"),
       "model.end_of_word_suffix", "'</w>' is not supported"},
      {replaced("/model/ignore_merges", 1), "model.ignore_merges",
       "expected true or false"},
      {replaced("/model/vocab", json::array()), "model.vocab",
       "expected an object"},
      {replaced("/model/vocab/a", -1), "model.vocab.a",
       "expected a token id from 0 to 2097151, found -1"},
      {replaced("/model/vocab/a", 1.5), "model.vocab.a", "found 1.5"},
      {replaced("/model/vocab/a", 4000000000u), "model.vocab.a",
       "found 4000000000"},
      {replaced("/model/vocab/a", 100), "model.vocab",
       "token id 100 belongs to both"},
      {replaced("/model/vocab/", 5000), "model.vocab", "an empty token"},
      {replaced("/model/merges", nullptr), "model.merges", "expected an array"},
      {replaced("/model/merges/3", "ab"), "model.merges[3]", "found 'ab'"},
      {replaced("/model/merges/3", "a b c"), "model.merges[3]", "LEFT RIGHT"},
      {replaced("/model/merges/3", {"a"}), "model.merges[3]", "LEFT RIGHT"},
      {replaced("/model/merges/3", {"a", 1}), "model.merges[3][1]",
       "expected a text, found 1"},
      {replaced("/model/merges/3", "a \u4e16"), "model.merges[3]",
       "'a\u4e16' is not in model.vocab"},
      {replaced("/added_tokens/0/id", 5), "added_tokens[0].id",
       "expected 0, the id that model.vocab gives"},
      {replaced("/added_tokens/3/id", 40), "added_tokens[3].content",
       "the token that model.vocab gives id 40"},
      {replaced("/added_tokens/4/id", 906), "added_tokens[4]",
       "in the list already"},
      {replaced("/added_tokens/4/content", "<｜User｜>"), "added_tokens[4]",
       "in the list already"},
      {replaced("/added_tokens/4/content", ""), "added_tokens[4].content",
       "1 to 512 bytes"},
      {replaced("/added_tokens/4/rstrip", true), "added_tokens[4].rstrip",
       "true is not supported"},
      {replaced("/normalizer", {{"type", "NFC"}}), "normalizer.type",
       "component 'NFC' is not supported"},
      {replaced("/normalizer/normalizers", {{{"type", "Lowercase"}}}),
       "normalizer.normalizers[0].type", "'Lowercase' is not supported"},
      {replaced("/pre_tokenizer", nullptr), "pre_tokenizer",
       "expected components that end in 'ByteLevel'"},
      {replaced(split, {{"type", "Whitespace"}}),
       "pre_tokenizer.pretokenizers[0].type",
       "component 'Whitespace' is not supported"},
      {removed("/pre_tokenizer/pretokenizers/3"), "pre_tokenizer",
       "without 'ByteLevel' is not supported"},
      {replaced(split, {{"type", "ByteLevel"}, {"add_prefix_space", false}}),
       "pre_tokenizer.pretokenizers[1]", "after 'ByteLevel'"},
      {replaced("/pre_tokenizer/pretokenizers/3/add_prefix_space", true),
       "pre_tokenizer.pretokenizers[3].add_prefix_space", "supported is false"},
      {replaced(split + "/behavior", "Kept"),
       "pre_tokenizer.pretokenizers[0].behavior", "found 'Kept'"},
      {replaced(split + "/pattern", json::object()),
       "pre_tokenizer.pretokenizers[0].pattern", "'String' or 'Regex'"},
      {replaced(split + "/pattern/Regex", "(a"),
       "pre_tokenizer.pretokenizers[0].pattern.Regex",
       "missing closing parenthesis"},
      {replaced(split + "/pattern/Regex", "[a&&b]"),
       "pre_tokenizer.pretokenizers[0].pattern.Regex", "'&&'"},
      {replaced(split + "/pattern/Regex", "\\p{Nothing}"),
       "pre_tokenizer.pretokenizers[0].pattern.Regex", "unknown property"},
      {replaced(split + "/pattern/Regex", std::string(20000, 'a')),
       "pre_tokenizer.pretokenizers[0].pattern.Regex", "20000 bytes"},
      {replaced("/decoder/type", "Metaspace"), "decoder.type", "'Metaspace'"},
      {replaced("/post_processor/processors/0/type", "BertProcessing"),
       "post_processor.processors[0].type", "'BertProcessing'"},
      {replaced("/post_processor/processors/1/single/0/SpecialToken/id", "x"),
       "post_processor.processors[1].single[0].SpecialToken.id",
       "expected an added token of tokenizer.json, found 'x'"},
      {removed("/post_processor/processors/1/single/1"),
       "post_processor.processors[1].single", "not supported"},
  };
  for (const Row &row : rows)
    expectMessage(
        Tokenizer::fromJson({patched(row.patch), "t.json"}, std::nullopt),
        {"t.json: " + row.place, row.message});
}

TEST(TokenizerFiles, BytesWithoutToken) {
  std::string text = patched(removed("/model/vocab/!"));
  text = patched(json::array({{{"op", "remove"}, {"path", "/model/vocab/Ā"}}}));
  expectMessage(Tokenizer::fromJson({text, "t.json"}, std::nullopt),
                {"t.json: model.vocab", "no token for byte 0, expected 'Ā'"});
}

TEST(TokenizerFiles, TokenizerJsonThatIsNoJson) {
  auto open = [](const std::string &text) {
    return Tokenizer::fromJson({text, "t.json"}, std::nullopt);
  };
  expectMessage(open(""), {"t.json:1:1"});
  expectMessage(open("{\"a\": 1,\n \"a\": 2}"), {"t.json:2:", "'a'"});
  expectMessage(open(std::string(100'000, '[')), {"t.json:1:65", "nested"});
  expectMessage(open("[]"), {"t.json", "expected an object"});
  expectMessage(open("{\"version\": \"\xff\"}"), {"t.json:1:"});
}

TEST(TokenizerFiles, ConfigDecidesOnBos) {
  const std::string good = readText(byteLevelFolder() / "tokenizer.json");
  auto open = [&](const std::string &config) {
    return Tokenizer::fromJson({good, "t.json"},
                               Tokenizer::Source{config, "c.json"});
  };
  auto bosWith = [&](const std::string &config) {
    auto tokenizer = open(config);
    EXPECT_TRUE(tokenizer) << tokenizer.status().message();
    return (*tokenizer)->bosToBeAdded();
  };
  EXPECT_EQ(bosWith("{}"), 0);
  EXPECT_EQ(bosWith(R"({"add_bos_token": false})"), std::nullopt);
  EXPECT_EQ(bosWith(R"({"add_bos_token": true, "bos_token": "<｜User｜>"})"),
            906);
  EXPECT_EQ(bosWith(R"({"add_bos_token": true,
                        "bos_token": {"content": "<think>"}})"),
            908);
  expectMessage(open(R"({"add_bos_token": true})"),
                {"c.json: bos_token", "found null"});
  expectMessage(open(R"({"add_bos_token": true, "bos_token": "x"})"),
                {"c.json: bos_token", "found 'x'"});
  expectMessage(open(R"({"add_bos_token": "yes"})"),
                {"c.json: add_bos_token", "found 'yes'"});
  expectMessage(open(R"({"add_eos_token": true})"),
                {"c.json: add_eos_token", "true is not supported"});
}

TEST(TokenizerFiles, MissingConfigOfKimi) {
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "moec-kimi-alone";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "tiktoken.model") << smallModel();
  expectMessage(Tokenizer::open({folder}),
                {"tokenizer_config.json: not found"});
  std::filesystem::remove_all(folder);
}

} // namespace
