//===- Safetensors.h - One safetensors file ---------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format (https://github.com/huggingface/safetensors):
//
//   u64 little-endian header size | JSON header, padded with spaces | data
//
// The header maps each tensor's name to {"dtype", "shape", "data_offsets"}, and
// "__metadata__" to texts. Opening a file checks, before anything is read:
//   - the header's size: at least 2 bytes, at most 100,000,000 and the file;
//   - the header: starts with '{', ends with '}' and spaces, is strict JSON;
//   - each tensor: a known dtype, sizes of 0 or more, begin <= end, and
//     end - begin the bytes of dtype x shape, without overflow;
//   - all tensors together: no overlap, no hole, and the file ends with the
//     last one.
// A tensor may start at any byte: the format does not align data.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_SAFETENSORS_H
#define MOEC_RUNTIME_LIB_SAFETENSORS_H

#include "MappedFile.h"
#include "Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace moec::runtime {

enum class DType : uint8_t {
  BOOL,
  F4,
  F6_E2M3,
  F6_E3M2,
  U8,
  I8,
  F8_E5M2,
  F8_E4M3,
  F8_E8M0,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  I64,
  U64,
  F64,
};

const char *dtypeName(DType dtype);
int64_t dtypeBits(DType dtype);
std::optional<DType> parseDType(std::string_view name);

struct Tensor {
  DType dtype;
  std::vector<int64_t> shape;
  int64_t begin = 0; ///< offset in the file's data part
  std::span<const std::byte> data;
};

using TensorMap = std::map<std::string, Tensor, std::less<>>;

/// Validates the bytes of a whole file; `place` names it in messages. The
/// tensors' data point into `bytes`.
Expected<TensorMap> parseSafetensors(std::span<const std::byte> bytes,
                                     const std::string &place);

/// A mapped and validated file.
class SafetensorsFile {
public:
  static Expected<SafetensorsFile> open(const std::filesystem::path &path);

  const std::filesystem::path &path() const { return filePath; }
  const TensorMap &tensors() const { return entries; }
  /// The tensor of this name, or null.
  const Tensor *find(std::string_view name) const;
  int64_t bytes() const { return static_cast<int64_t>(file.bytes().size()); }
  void readAhead() const { file.readAhead(); }

private:
  SafetensorsFile(std::filesystem::path path, MappedFile file,
                  TensorMap entries)
      : filePath(std::move(path)), file(std::move(file)),
        entries(std::move(entries)) {}

  std::filesystem::path filePath;
  MappedFile file;
  TensorMap entries;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_SAFETENSORS_H
