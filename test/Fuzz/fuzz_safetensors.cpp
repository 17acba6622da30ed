//===- fuzz_safetensors.cpp - Any bytes as a safetensors file -------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes are read as a whole file, and as the header of one whose data part
// is what follows the first '\n'. What is accepted must tile the data.
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"

#include <cstdlib>
#include <cstring>

using namespace moec::runtime;

static void check(std::string_view file) {
  auto bytes = std::as_bytes(std::span(file));
  Expected<TensorMap> tensors = parseSafetensors(bytes, "file");
  if (!tensors) {
    if (!tensors.status().message().starts_with("file: "))
      std::abort();
    return;
  }
  std::size_t covered = 0;
  for (const auto &[name, tensor] : *tensors) {
    const std::byte *begin = tensor.data.data();
    if (begin < bytes.data() ||
        begin + tensor.data.size() > bytes.data() + bytes.size())
      std::abort();
    covered += tensor.data.size();
  }
  uint64_t headerBytes;
  std::memcpy(&headerBytes, file.data(), sizeof(headerBytes));
  if (covered != file.size() - sizeof(headerBytes) - headerBytes)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  check(bytes);
  std::size_t newline = bytes.find('\n');
  std::string header(bytes.substr(0, newline));
  uint64_t headerBytes = header.size();
  std::string file(sizeof(headerBytes), '\0');
  std::memcpy(file.data(), &headerBytes, sizeof(headerBytes));
  file += header;
  if (newline != std::string_view::npos)
    file += bytes.substr(newline + 1);
  check(file);
  return 0;
}
