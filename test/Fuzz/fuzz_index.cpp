//===- fuzz_index.cpp - Any bytes as model.safetensors.index.json ---------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint.h"

#include <cstdlib>

using namespace moec::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Expected<WeightMap> map = parseIndex(text, "index");
  if (!map) {
    if (!map.status().message().starts_with("index:"))
      std::abort();
    return 0;
  }
  // No accepted name may leave the folder.
  for (const auto &[tensor, file] : *map)
    if (file.empty() || file == ".." ||
        std::filesystem::path(file).has_parent_path())
      std::abort();
  return 0;
}
