//===- TokenizerJsonReader.cpp - Byte-level BPE of tokenizer.json ---------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read: the vocabulary and merges of a BPE model over the byte-level
// alphabet, added tokens, the pre-tokenizer's components that SplitReader.h
// lists, and whether a BOS token goes first. What would change the ids and is
// not read is refused by name. Truncation and padding, which say how texts were
// cut for training, and unk_token, which a vocabulary with all bytes never
// needs, are left aside.
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "text/JsonCursor.h"
#include "text/SplitReader.h"
#include "text/TokenizerParts.h"
#include "text/Utf8.h"

#include <algorithm>
#include <unordered_map>

using namespace moec::runtime;

namespace {

/// The byte-level alphabet: bytes that print stand for themselves (as Latin-1),
/// the others for the characters from U+0100 on, in their order.
class ByteAlphabet {
public:
  ByteAlphabet() {
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      bool prints = (byte >= 0x21 && byte <= 0x7e) ||
                    (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
      characters[byte] = prints ? static_cast<char32_t>(byte) : next++;
    }
  }

  std::string nameOf(unsigned char byte) const {
    std::string name;
    appendUtf8(name, characters[byte]);
    return name;
  }

  /// The bytes that `name` spells, none if a character is not of the alphabet.
  std::optional<std::string> bytesOf(std::string_view name) const {
    std::string bytes;
    while (!name.empty()) {
      Utf8Step step = nextUtf8(name);
      auto found =
          std::find(characters.begin(), characters.end(), step.codePoint);
      if (found == characters.end())
        return std::nullopt;
      bytes += static_cast<char>(found - characters.begin());
      name.remove_prefix(step.length);
    }
    return bytes;
  }

private:
  std::array<char32_t, 256> characters;
};

class TokenizerJsonReader {
public:
  explicit TokenizerJsonReader(const JsonCursor &root)
      : root(root), result(std::make_unique<TokenizerParts>()) {}

  void read() {
    root["version"].expectOff({"1.0"});
    checkModel();
    readVocabulary();
    readAddedTokens();
    fillEncoder();
    readMerges();
    result->splitter = readSplitter(root["normalizer"], root["pre_tokenizer"]);
    checkDecoder();
    readPostProcessor(root["post_processor"]);
  }

  /// tokenizer_config.json's word on the BOS token goes before that of the
  /// post-processor.
  void readConfig(const JsonCursor &config) {
    config["add_eos_token"].expectOff({false});
    JsonCursor add = config["add_bos_token"];
    if (add.isNull())
      return;
    result->bos.reset();
    if (!add.flag(false))
      return;
    JsonCursor bos = config["bos_token"];
    result->bos = tokenNamed(bos.isObject() ? bos["content"] : bos);
  }

  std::unique_ptr<TokenizerParts> take() { return std::move(result); }

private:
  void checkModel() {
    JsonCursor model = root["model"];
    if (model["type"].text() != "BPE")
      model["type"].unsupported(
          concat("found ", model["type"].found(), ", supported is 'BPE'"));
    model["dropout"].expectOff({});
    model["continuing_subword_prefix"].expectOff({""});
    model["end_of_word_suffix"].expectOff({""});
    model["byte_fallback"].expectOff({false});
    if (model["ignore_merges"].flag(false))
      result->encoder.takeWholePieces();
  }

  void readVocabulary() {
    JsonCursor vocab = root["model"]["vocab"];
    int32_t largest = -1;
    for (const auto &member : vocab.object().items()) {
      int32_t id = vocab[member.key()].id();
      if (member.key().empty())
        vocab.invalid("found an empty token");
      vocabulary.emplace(member.key(), id);
      largest = std::max(largest, id);
    }
    names.resize(static_cast<std::size_t>(largest + 1));
    for (const auto &[name, id] : vocabulary) {
      std::string_view &place = names[static_cast<std::size_t>(id)];
      if (!place.empty())
        vocab.invalid(concat("token id ", id, " belongs to both ",
                             inQuotes(std::min(place, name)), " and ",
                             inQuotes(std::max(place, name))));
      place = name;
    }
  }

  void readAddedTokens() {
    for (const JsonCursor &token : elementsOf(root["added_tokens"])) {
      int32_t id = token["id"].id();
      const std::string &content = token["content"].text();
      if (content.empty() || content.size() > AddedTokens::maxBytes)
        token["content"].expected(
            concat("1 to ", AddedTokens::maxBytes, " bytes"));
      for (const char *key : {"single_word", "lstrip", "rstrip"})
        token[key].expectOff({false});
      checkAgainstVocabulary(token, content, id);
      auto index = static_cast<std::size_t>(id);
      if (index >= result->tokens.size()) {
        result->tokens.resize(index + 1);
        result->added.resize(index + 1);
      }
      // Without a normalizer the two kinds differ in this: names that are to be
      // normalized are looked for in what the others left over.
      bool normalized = token["normalized"].flag(!token["special"].flag(false));
      bool twice = result->added[index] ||
                   result->names[!normalized].idOf(content) ||
                   !result->names[normalized].add(content, id);
      if (twice)
        token.invalid(concat("token ", id, " ", inQuotes(content),
                             ": the id or the content is in the list already"));
      result->tokens[index] = content;
      result->added[index] = true;
    }
  }

  void checkAgainstVocabulary(const JsonCursor &token,
                              const std::string &content, int32_t id) const {
    auto known = vocabulary.find(content);
    if (known != vocabulary.end() && known->second != id)
      token["id"].expected(concat(known->second, ", the id that model.vocab ",
                                  "gives ", inQuotes(content)));
    auto index = static_cast<std::size_t>(id);
    if (index < names.size() && !names[index].empty() &&
        names[index] != content)
      token["content"].expected(concat(inQuotes(names[index]),
                                       ", the token that model.vocab gives id ",
                                       id));
  }

  /// Gives the encoder the texts of all tokens but the added ones: these come
  /// from their names only.
  void fillEncoder() {
    std::vector<std::string> &tokens = result->tokens;
    tokens.resize(std::max(tokens.size(), names.size()));
    result->added.resize(tokens.size());
    for (std::size_t index = 0; index < names.size(); ++index) {
      if (names[index].empty() || result->added[index])
        continue;
      // A name with other characters is its own text, and no text makes it.
      std::optional<std::string> bytes = alphabet.bytesOf(names[index]);
      tokens[index] = bytes ? std::move(*bytes) : std::string(names[index]);
      if (bytes)
        result->encoder.addToken(tokens[index], static_cast<int32_t>(index));
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      auto value = static_cast<unsigned char>(byte);
      auto found = vocabulary.find(alphabet.nameOf(value));
      if (found == vocabulary.end())
        root["model"]["vocab"].invalid(
            concat("no token for byte ", byte, ", expected ",
                   inQuotes(alphabet.nameOf(value))));
      result->encoder.setByte(value, found->second);
    }
  }

  void readMerges() {
    std::vector<JsonCursor> merges = root["model"]["merges"].elements();
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
      auto [left, right] = mergeNames(merges[rank]);
      auto idOf = [&](const std::string &name) {
        auto found = vocabulary.find(name);
        if (found == vocabulary.end())
          merges[rank].invalid(
              concat("token ", inQuotes(name), " is not in model.vocab"));
        return found->second;
      };
      BytePairEncoder::Merge merge{static_cast<int32_t>(rank),
                                   idOf(left + right)};
      if (!result->encoder.addMerge(idOf(left), idOf(right), merge))
        merges[rank].invalid(concat("the merge of ", inQuotes(left), " and ",
                                    inQuotes(right), " is there already"));
    }
  }

  /// "LEFT RIGHT" or ["LEFT", "RIGHT"].
  static std::pair<std::string, std::string>
  mergeNames(const JsonCursor &merge) {
    const char *form = "two tokens, \"LEFT RIGHT\" or [\"LEFT\", \"RIGHT\"]";
    if (merge.isArray()) {
      std::vector<JsonCursor> parts = merge.elements();
      if (parts.size() != 2)
        merge.expected(form);
      return {parts[0].text(), parts[1].text()};
    }
    if (!merge.isText())
      merge.expected(form);
    const std::string &text = merge.text();
    std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != text.npos)
      merge.expected(form);
    return {text.substr(0, space), text.substr(space + 1)};
  }

  void checkDecoder() {
    JsonCursor decoder = root["decoder"];
    if (!decoder.isNull() && decoder["type"].text() != "ByteLevel")
      decoder["type"].unsupported(concat("found ", decoder["type"].found(),
                                         ", supported is ", "'ByteLevel'"));
  }

  void readPostProcessor(const JsonCursor &processor) {
    if (processor.isNull())
      return;
    const std::string &type = processor["type"].text();
    if (type == "ByteLevel")
      return;
    if (type == "Sequence") {
      for (const JsonCursor &part : processor["processors"].elements())
        readPostProcessor(part);
      return;
    }
    if (type != "TemplateProcessing")
      processor["type"].unsupported(
          concat("component ", inQuotes(type), " is not supported"));
    readTemplate(processor["single"]);
  }

  /// BOS and the text, or the text alone.
  void readTemplate(const JsonCursor &single) {
    std::vector<JsonCursor> parts = single.elements();
    if (parts.empty() || parts.size() > 2 || parts.back()["Sequence"].isNull())
      single.unsupported("a template other than the text with at most one "
                         "token before it is not supported");
    if (parts.size() == 2)
      result->bos = tokenNamed(parts[0]["SpecialToken"]["id"]);
  }

  int32_t tokenNamed(const JsonCursor &name) const {
    for (const AddedTokens &set : result->names)
      if (std::optional<int32_t> id = set.idOf(name.text()))
        return *id;
    name.expected("an added token of tokenizer.json");
  }

  static std::vector<JsonCursor> elementsOf(const JsonCursor &list) {
    return list.isNull() ? std::vector<JsonCursor>() : list.elements();
  }

  JsonCursor root;
  std::unique_ptr<TokenizerParts> result;
  const ByteAlphabet alphabet;
  /// Of the model, by name and by id.
  std::unordered_map<std::string_view, int32_t> vocabulary;
  std::vector<std::string_view> names;
};

} // namespace

std::unique_ptr<TokenizerParts> moec::runtime::readTokenizerJson(
    const Tokenizer::Source &tokenizer,
    const std::optional<Tokenizer::Source> &config) {
  Json json = parseTokenizerJson(tokenizer);
  TokenizerJsonReader reader(JsonCursor(json, tokenizer.name));
  reader.read();
  if (config) {
    Json configJson = parseTokenizerJson(*config);
    reader.readConfig(JsonCursor(configJson, config->name));
  }
  return reader.take();
}
