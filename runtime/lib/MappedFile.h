//===- MappedFile.h - A file mapped for reading -----------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_MAPPEDFILE_H
#define MOEC_RUNTIME_LIB_MAPPEDFILE_H

#include "Status.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace moec::runtime {

/// Owns a read-only mapping of a whole regular file. The file must not be
/// shortened while it is mapped.
class MappedFile {
public:
  static Expected<MappedFile> open(const std::filesystem::path &path);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return mapped; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(mapped.data()), mapped.size()};
  }
  /// Asks the system to read the file ahead; a hint without an effect on
  /// results.
  void readAhead() const;

private:
  explicit MappedFile(std::span<const std::byte> mapped) : mapped(mapped) {}

  std::span<const std::byte> mapped;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_MAPPEDFILE_H
