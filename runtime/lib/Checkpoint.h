//===- Checkpoint.h - A folder of safetensors files -------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint is model.safetensors, or else the shards that
// model.safetensors.index.json names. No other file of the folder is read.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_CHECKPOINT_H
#define MOEC_RUNTIME_LIB_CHECKPOINT_H

#include "Safetensors.h"

#include <deque>

namespace moec::runtime {

/// An index file's weight_map: tensor name to file name.
using WeightMap = std::map<std::string, std::string, std::less<>>;

/// Reads the text of an index file; file names must be plain names.
Expected<WeightMap> parseIndex(std::string_view text, const std::string &place);

class Checkpoint {
public:
  /// Maps all files; missing shards are listed together.
  static Expected<Checkpoint> open(const std::filesystem::path &folder);

  /// A tensor and the file that holds it.
  struct Found {
    const Tensor *tensor;
    const SafetensorsFile *file;
  };
  /// The failure says whether the checkpoint, its index or a shard lacks it.
  Expected<Found> find(const std::string &name) const;

  const std::filesystem::path &folder() const { return root; }
  std::size_t numFiles() const { return files.size(); }
  int64_t bytes() const;
  void readAhead() const;

private:
  explicit Checkpoint(std::filesystem::path folder) : root(std::move(folder)) {}
  Status openShards(const std::filesystem::path &index);
  const SafetensorsFile *holderOf(std::string_view name) const;

  std::filesystem::path root;
  std::deque<SafetensorsFile> files;
  /// Of a sharded checkpoint: the file that the index names for a tensor.
  std::map<std::string, const SafetensorsFile *, std::less<>> indexed;
  bool hasIndex = false;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_CHECKPOINT_H
