//===- Tokenizer.cpp - Text to token ids and back -------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/Tokenizer.h"

#include "MappedFile.h"
#include "Text.h"
#include "text/KimiSlicer.h"
#include "text/TokenizerParts.h"
#include "text/Utf8.h"

#include <algorithm>

using namespace moec::runtime;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Tokenizer::Tokenizer(std::unique_ptr<const TokenizerParts> parts)
    : parts(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Expected<std::unique_ptr<Tokenizer>>
Tokenizer::fromTiktoken(const Source &model, const Source &config) {
  try {
    return std::unique_ptr<Tokenizer>(
        new Tokenizer(readTiktoken(model, config)));
  } catch (const TokenizerFileError &error) {
    return Status(error.code, error.what());
  }
}

Expected<std::unique_ptr<Tokenizer>>
Tokenizer::fromJson(const Source &tokenizer,
                    const std::optional<Source> &config) {
  try {
    return std::unique_ptr<Tokenizer>(
        new Tokenizer(readTokenizerJson(tokenizer, config)));
  } catch (const TokenizerFileError &error) {
    return Status(error.code, error.what());
  }
}

static bool present(const fs::path &path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Kimi's two files in `folder`.
static Expected<std::unique_ptr<Tokenizer>> openKimi(const fs::path &folder) {
  fs::path modelPath = folder / "tiktoken.model";
  fs::path configPath = folder / "tokenizer_config.json";
  Expected<MappedFile> model = MappedFile::open(modelPath);
  if (!model)
    return model.status();
  if (!present(configPath))
    return Status::invalidFile(
        concat(configPath.string(), ": not found, expected beside ",
               "tiktoken.model: it names the special tokens"));
  Expected<MappedFile> config = MappedFile::open(configPath);
  if (!config)
    return config.status();
  return Tokenizer::fromTiktoken({model->text(), modelPath.string()},
                                 {config->text(), configPath.string()});
}

static Expected<std::unique_ptr<Tokenizer>> openJson(const fs::path &folder) {
  fs::path path = folder / "tokenizer.json";
  fs::path configPath = folder / "tokenizer_config.json";
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  Tokenizer::Source source{file->text(), path.string()};
  if (!present(configPath))
    return Tokenizer::fromJson(source, std::nullopt);
  Expected<MappedFile> config = MappedFile::open(configPath);
  if (!config)
    return config.status();
  return Tokenizer::fromJson(
      source, Tokenizer::Source{config->text(), configPath.string()});
}

Expected<std::unique_ptr<Tokenizer>>
Tokenizer::open(const std::vector<fs::path> &folders) {
  std::string looked;
  for (const fs::path &folder : folders) {
    if (present(folder / "tiktoken.model"))
      return openKimi(folder);
    if (present(folder / "tokenizer.json"))
      return openJson(folder);
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  return Status::invalidFile(concat(
      "no tokenizer: found neither tiktoken.model nor tokenizer.json in ",
      looked.empty() ? "any folder, for none was given" : looked));
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

namespace {

/// One call of encode: the result and the memory that its steps share.
class Encoding {
public:
  explicit Encoding(const TokenizerParts &parts) : parts(parts) {}

  Status add(std::string_view text, bool allowSpecial) {
    std::size_t firstSet = allowSpecial ? 0 : parts.names.size();
    if (!parts.slices)
      return addNamed(text, firstSet);
    KimiSlicer slicer(text);
    while (std::optional<std::string_view> slice = slicer.next())
      if (Status status = addNamed(*slice, firstSet); !status)
        return status;
    return {};
  }

  std::vector<int32_t> ids;

private:
  /// Text in which the names of the sets from `set` on are tokens.
  Status addNamed(std::string_view text, std::size_t set) {
    if (set == parts.names.size())
      return addPlain(text);
    std::size_t done = 0;
    while (auto match = parts.names[set].find(text, done)) {
      Status status = addNamed(text.substr(done, match->begin - done), set + 1);
      if (!status)
        return status;
      ids.push_back(match->id);
      done = match->end;
    }
    return addNamed(text.substr(done), set + 1);
  }

  Status addPlain(std::string_view text) {
    std::size_t valid = validUtf8Prefix(text);
    Status status =
        parts.splitter.split(text.substr(0, valid), matcher, pieces);
    if (!status)
      return status;
    std::size_t begin = ids.size(), lastPiece = begin;
    for (std::string_view piece : pieces) {
      lastPiece = ids.size();
      parts.encoder.encode(piece, scratch, ids);
    }
    if (valid < text.size())
      addInvalid(begin, lastPiece, text.substr(valid));
    return {};
  }

  /// Merges `rest`, which begins with a byte that is not UTF-8, with the tokens
  /// of the last piece before it, and with the white space before these if they
  /// are white space: tiktoken's rule for such bytes.
  void addInvalid(std::size_t begin, std::size_t lastPiece,
                  std::string_view rest) {
    if (lastPiece < ids.size() && isSpace(ids[lastPiece]))
      while (lastPiece > begin && isSpace(ids[lastPiece - 1]))
        --lastPiece;
    std::string piece;
    for (std::size_t at = lastPiece; at < ids.size(); ++at)
      piece += parts.tokens[static_cast<std::size_t>(ids[at])];
    piece += rest;
    ids.resize(lastPiece);
    parts.encoder.encode(piece, scratch, ids);
  }

  bool isSpace(int32_t id) const {
    return parts.tokens[static_cast<std::size_t>(id)].find_first_not_of(
               " \n\t") == std::string::npos;
  }

  const TokenizerParts &parts;
  RegexMatcher matcher;
  BytePairEncoder::Scratch scratch;
  std::vector<std::string_view> pieces;
};

} // namespace

Expected<std::vector<int32_t>> Tokenizer::encode(std::string_view text,
                                                 bool allowSpecial) const {
  if (text.size() >= UINT32_MAX)
    return Status::invalidArgument(concat("the text has ", text.size(),
                                          " bytes, expected less than ",
                                          UINT32_MAX));
  Encoding encoding(*parts);
  if (Status status = encoding.add(text, allowSpecial); !status)
    return status;
  return std::move(encoding.ids);
}

Expected<std::vector<int32_t>>
Tokenizer::encodePrompt(std::string_view text) const {
  Expected<std::vector<int32_t>> ids = encode(text, /*allowSpecial=*/true);
  if (ids && parts->bos && (ids->empty() || ids->front() != *parts->bos))
    ids->insert(ids->begin(), *parts->bos);
  return ids;
}

//===----------------------------------------------------------------------===//
// Decoding and questions
//===----------------------------------------------------------------------===//

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string out;
  for (int32_t id : ids)
    out += bytes(id);
  return out;
}

std::string_view Tokenizer::bytes(int32_t id) const {
  if (id < 0 || id >= size())
    return {};
  return parts->tokens[static_cast<std::size_t>(id)];
}

int32_t Tokenizer::size() const {
  return static_cast<int32_t>(parts->tokens.size());
}

std::optional<int32_t> Tokenizer::bosToBeAdded() const { return parts->bos; }

std::optional<int32_t> Tokenizer::addedToken(std::string_view name) const {
  for (const AddedTokens &set : parts->names)
    if (std::optional<int32_t> id = set.idOf(name))
      return id;
  return std::nullopt;
}

bool Tokenizer::isAddedToken(int32_t id) const {
  return id >= 0 && id < size() && parts->added[static_cast<std::size_t>(id)];
}
