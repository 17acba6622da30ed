//===- Checkpoint.cpp - A folder of safetensors files ---------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint.h"

#include "JsonObject.h"
#include "Text.h"

#include <algorithm>

using namespace moec::runtime;

static constexpr char singleFileName[] = "model.safetensors";
static constexpr char indexFileName[] = "model.safetensors.index.json";

/// A name within the folder: no path, no parent, no hidden trick.
static bool isPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos &&
         name.find('\\') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Expected<WeightMap> moec::runtime::parseIndex(std::string_view text,
                                              const std::string &place) {
  Expected<Json> json = parseJson(text, place);
  if (!json)
    return json.status();
  JsonObject object(*json, place);
  JsonObject map = object.object("weight_map");
  WeightMap result;
  for (const std::string &tensor : map.keys()) {
    std::string file = map.text(tensor);
    if (!map.ok())
      break;
    if (!isPlainName(file))
      return Status::invalidFile(
          concat(place, ": weight_map: tensor ", inQuotes(tensor), ": file ",
                 inQuotes(file), " is not a plain file name"));
    result.emplace(tensor, std::move(file));
  }
  if (!object.ok())
    return object.status();
  if (result.empty())
    return Status::invalidFile(concat(place, ": weight_map is empty"));
  return result;
}

Status Checkpoint::openShards(const std::filesystem::path &index) {
  Expected<MappedFile> indexFile = MappedFile::open(index);
  if (!indexFile)
    return indexFile.status();
  Expected<WeightMap> weightMap = parseIndex(indexFile->text(), index.string());
  if (!weightMap)
    return weightMap.status();
  std::map<std::string, const SafetensorsFile *> shards;
  for (const auto &[tensor, file] : *weightMap)
    shards.emplace(file, nullptr);
  Findings missing;
  for (const auto &[file, shard] : shards) {
    std::error_code error;
    if (!std::filesystem::exists(root / file, error))
      missing.add(inQuotes(file));
  }
  if (!missing.empty())
    return Status::invalidFile(concat(
        root.string(), ": ", missing.count(), " of ", shards.size(),
        " files named by ", indexFileName, " are missing:", missing.text()));
  for (auto &[file, shard] : shards) {
    Expected<SafetensorsFile> opened = SafetensorsFile::open(root / file);
    if (!opened)
      return opened.status();
    shard = &files.emplace_back(*std::move(opened));
  }
  for (const auto &[tensor, file] : *weightMap)
    indexed.emplace(tensor, shards[file]);
  return Status();
}

Expected<Checkpoint> Checkpoint::open(const std::filesystem::path &folder) {
  Checkpoint checkpoint(folder);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    return Status::invalidFile(
        concat(folder.string(), ": no such folder of weights"));
  std::filesystem::path single = folder / singleFileName;
  if (std::filesystem::exists(single, error)) {
    Expected<SafetensorsFile> file = SafetensorsFile::open(single);
    if (!file)
      return file.status();
    checkpoint.files.push_back(*std::move(file));
    return checkpoint;
  }
  std::filesystem::path index = folder / indexFileName;
  if (!std::filesystem::exists(index, error))
    return Status::invalidFile(concat(folder.string(), ": holds neither ",
                                      singleFileName, " nor ", indexFileName));
  checkpoint.hasIndex = true;
  if (Status status = checkpoint.openShards(index); !status)
    return status;
  return checkpoint;
}

const SafetensorsFile *Checkpoint::holderOf(std::string_view name) const {
  for (const SafetensorsFile &file : files)
    if (file.find(name))
      return &file;
  return nullptr;
}

Expected<Checkpoint::Found> Checkpoint::find(const std::string &name) const {
  if (!hasIndex) {
    if (const Tensor *tensor = files.front().find(name))
      return Found{tensor, &files.front()};
    return Status::invalidFile(
        concat(inQuotes(name), " is missing from ", singleFileName));
  }
  auto entry = indexed.find(name);
  const SafetensorsFile *holder = nullptr;
  if (entry == indexed.end()) {
    holder = holderOf(name);
    if (!holder)
      return Status::invalidFile(
          concat(inQuotes(name), " is missing from the checkpoint"));
    return Status::invalidFile(
        concat(inQuotes(name), " is missing from ", indexFileName, ", though ",
               holder->path().filename().string(), " holds it"));
  }
  if (const Tensor *tensor = entry->second->find(name))
    return Found{tensor, entry->second};
  holder = holderOf(name);
  std::string shard = entry->second->path().filename().string();
  return Status::invalidFile(concat(
      inQuotes(name), ": ", indexFileName, " says it is in ", shard,
      ", but that file lacks it",
      holder ? "; " + holder->path().filename().string() + " holds it" : ""));
}

int64_t Checkpoint::bytes() const {
  int64_t total = 0;
  for (const SafetensorsFile &file : files)
    total += file.bytes();
  return total;
}

void Checkpoint::readAhead() const {
  for (const SafetensorsFile &file : files)
    file.readAhead();
}
