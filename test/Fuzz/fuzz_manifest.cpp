//===- fuzz_manifest.cpp - Any bytes as manifest.json ---------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include <cstdlib>

using namespace moec::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Expected<Manifest> manifest = parseManifest(text, "manifest");
  if (!manifest) {
    if (!manifest.status().message().starts_with("manifest:"))
      std::abort();
    return 0;
  }
  // What is accepted must be safe to index with.
  for (const Manifest::Parameter &parameter : manifest->parameters) {
    int64_t slots = parameter.layers.count() * parameter.experts;
    if (parameter.slot < 0 || slots < 1 ||
        parameter.slot + slots > manifest->numSlots)
      std::abort();
  }
  if (manifest->variants.empty() || manifest->tapBytesPerToken() < 0 ||
      manifest->cache.pageSize < 1 || manifest->workspace.bytesPerToken < 1)
    std::abort();
  return 0;
}
