//===- TiktokenReader.cpp - Kimi's tiktoken.model -------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "text/JsonCursor.h"
#include "text/TokenizerParts.h"

#include <charconv>
#include <map>

using namespace moec::runtime;

/// Ids after the last rank that Kimi's tokenizer sets aside for special tokens.
static constexpr int32_t specialTokens = 256;

/// How Kimi's tokenizer splits text, in order of preference: Han; words that
/// end in lower case, words in upper case, each with the sign before them and
/// an English contraction after them; up to three digits; signs; white space
/// with line breaks; white space, less the last before other text.
///
/// A letter class is written as "none of all other categories and no Han": so
/// it stays one class, which PCRE2 repeats without keeping a record of each
/// step. The two ranges are Han of Unicode 15 and later, which PCRE2 10.42
/// (Unicode 14) takes for unassigned.
static std::string kimiPattern() {
  const std::string newHan = "\\x{2ebf0}-\\x{2ee5d}\\x{31350}-\\x{323af}";
  const std::string han = "\\p{sc:Han}" + newHan;
  const std::string noLetter = "\\p{N}\\p{P}\\p{S}\\p{Z}\\p{C}" + han;
  const std::string lower = "[^\\p{Lu}\\p{Lt}" + noLetter + "]";
  const std::string upper = "[^\\p{Ll}" + noLetter + "]";
  const std::string lead = "[^\\r\\n\\p{L}\\p{N}" + newHan + "]?";
  const std::string tail = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
  const std::string space = "\\p{White_Space}";
  return concat("[", han, "]+",                                        //
                "|", lead, upper, "*", lower, "+", tail,               //
                "|", lead, upper, "+", lower, "*", tail,               //
                "|\\p{N}{1,3}",                                        //
                "| ?[^", space, "\\p{L}\\p{N}", newHan, "]+[\\r\\n]*", //
                "|", space, "*[\\r\\n]+",                              //
                "|", space, "+(?!\\P{White_Space})",                   //
                "|", space, "+");
}

/// Appends what `text` encodes; false if it isn't canonical base64.
static bool decodeBase64(std::string_view text, std::string &out) {
  static constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0)
    return false;
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  uint32_t bits = 0;
  unsigned count = 0;
  for (char character : text) {
    std::size_t value = alphabet.find(character);
    if (value == std::string_view::npos)
      return false;
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xffff;
    count += 6;
    if (count < 8)
      continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  // The bits that are left over don't count and are 0.
  return (bits & ((1u << count) - 1)) == 0;
}

namespace {

/// One line of the file.
struct RankLine {
  std::size_t number;
  std::string bytes;
  int32_t rank;
};

class TiktokenReader {
public:
  TiktokenReader(const Tokenizer::Source &model,
                 const Tokenizer::Source &config)
      : model(model), config(config),
        result(std::make_unique<TokenizerParts>()) {}

  std::unique_ptr<TokenizerParts> run() {
    readRanks();
    fillEncoder();
    readSpecialTokens();
    Expected<Regex> regex = Regex::compile(kimiPattern());
    if (!regex)
      unsupportedTokenizer("Kimi's split rule: " + regex.status().message());
    std::vector<SplitStage> stages;
    stages.push_back({std::move(*regex)});
    result->splitter = Splitter(std::move(stages));
    result->slices = true;
    return std::move(result);
  }

private:
  [[noreturn]] void invalid(std::size_t line, const std::string &what) const {
    invalidTokenizer(concat(model.name, ":", line, ": ", what));
  }

  RankLine parseLine(std::string_view line, std::size_t number) const {
    std::size_t space = line.find(' ');
    if (space == std::string_view::npos)
      invalid(number, "expected \"base64 rank\", found " + inQuotes(line));
    std::string_view code = line.substr(0, space);
    std::string_view rank = line.substr(space + 1);
    RankLine result{number, {}, 0};
    if (!decodeBase64(code, result.bytes))
      invalid(number, "expected base64, found " + inQuotes(code));
    if (result.bytes.empty())
      invalid(number, "the token has no bytes");
    const char *end = rank.data() + rank.size();
    auto [stop, error] = std::from_chars(rank.data(), end, result.rank);
    if (error != std::errc() || stop != end || result.rank < 0 ||
        result.rank > maxTokenId - specialTokens)
      invalid(number,
              concat("expected a rank from 0 to ", maxTokenId - specialTokens,
                     ", found ", inQuotes(rank)));
    return result;
  }

  /// Fills tokens and lineOf.
  void readRanks() {
    std::vector<RankLine> lines;
    std::string_view rest = model.text;
    while (!rest.empty()) {
      std::size_t end = std::min(rest.find('\n'), rest.size());
      lines.push_back(parseLine(rest.substr(0, end), lines.size() + 1));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (lines.empty())
      invalid(1, "the file is empty, expected lines \"base64 rank\"");
    result->tokens.resize(lines.size());
    lineOf.resize(lines.size());
    for (RankLine &line : lines) {
      auto rank = static_cast<std::size_t>(line.rank);
      if (rank >= lines.size())
        invalid(line.number,
                concat("rank ", rank, " leaves a gap: ", lines.size(),
                       " lines hold the ranks 0 to ", lines.size() - 1));
      if (lineOf[rank] != 0)
        invalid(line.number, concat("rank ", rank, " stands in line ",
                                    lineOf[rank], " already"));
      lineOf[rank] = line.number;
      result->tokens[rank] = std::move(line.bytes);
    }
  }

  void fillEncoder() {
    std::vector<std::string> &tokens = result->tokens;
    auto count = static_cast<int32_t>(tokens.size());
    // The encoder refers to the texts, so their places must not change.
    tokens.reserve(tokens.size() + specialTokens);
    BytePairEncoder &encoder = result->encoder;
    encoder.mergeByBytes();
    encoder.takeWholePieces();
    for (int32_t rank = 0; rank < count; ++rank) {
      auto index = static_cast<std::size_t>(rank);
      if (encoder.addToken(tokens[index], rank))
        continue;
      auto other = static_cast<std::size_t>(*encoder.tokenOf(tokens[index]));
      invalid(std::max(lineOf[index], lineOf[other]),
              concat("the token stands in line ",
                     std::min(lineOf[index], lineOf[other]), " already"));
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      char character = static_cast<char>(byte);
      std::optional<int32_t> id = encoder.tokenOf({&character, 1});
      if (!id)
        invalid(tokens.size(), concat("the file ends without a token for byte ",
                                      byte, ", expected one for each byte"));
      encoder.setByte(static_cast<unsigned char>(byte), *id);
    }
  }

  void readSpecialTokens() {
    auto base = static_cast<int32_t>(result->tokens.size());
    Json json = parseTokenizerJson(config);
    JsonCursor named = JsonCursor(json, config.name)["added_tokens_decoder"];
    std::map<int32_t, JsonCursor> entries;
    for (const auto &member : named.object().items())
      entries.emplace(specialId(named, member.key(), base),
                      named[member.key()]);

    result->added.resize(static_cast<std::size_t>(base + specialTokens));
    for (int32_t id = base; id < base + specialTokens; ++id) {
      auto entry = entries.find(id);
      bool isNamed = entry != entries.end();
      std::string name = isNamed ? specialName(entry->second)
                                 : concat("<|reserved_token_", id, "|>");
      if (!result->names[0].add(name, id))
        (isNamed ? entry->second : named)
            .invalid(concat("name ", inQuotes(name), " of token ", id,
                            " belongs to token ", *result->names[0].idOf(name),
                            " already"));
      result->tokens.push_back(std::move(name));
      result->added[static_cast<std::size_t>(id)] = true;
    }
  }

  static int32_t specialId(const JsonCursor &named, const std::string &key,
                           int32_t base) {
    int32_t id = -1;
    const char *end = key.data() + key.size();
    auto [stop, error] = std::from_chars(key.data(), end, id);
    bool canonical =
        error == std::errc() && stop == end && std::to_string(id) == key;
    if (!canonical || id < base || id >= base + specialTokens)
      named.invalid(concat("expected keys from ", base, " to ",
                           base + specialTokens - 1, " (", specialTokens,
                           " ids after the last rank), found ", inQuotes(key)));
    return id;
  }

  static std::string specialName(const JsonCursor &entry) {
    for (const char *key : {"lstrip", "rstrip", "single_word", "normalized"})
      entry[key].expectOff({false});
    const std::string &name = entry["content"].text();
    if (name.empty() || name.size() > AddedTokens::maxBytes)
      entry["content"].expected(
          concat("1 to ", AddedTokens::maxBytes, " bytes"));
    return name;
  }

  const Tokenizer::Source &model;
  const Tokenizer::Source &config;
  std::unique_ptr<TokenizerParts> result;
  std::vector<std::size_t> lineOf; ///< by rank; 0: none
};

} // namespace

std::unique_ptr<TokenizerParts>
moec::runtime::readTiktoken(const Tokenizer::Source &model,
                            const Tokenizer::Source &config) {
  return TiktokenReader(model, config).run();
}
