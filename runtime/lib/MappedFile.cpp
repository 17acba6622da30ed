//===- MappedFile.cpp - A file mapped for reading -------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MappedFile.h"

#include "Text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace moec::runtime;

namespace {
/// Closes a descriptor at the end of its scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};
} // namespace

static Status failed(const std::filesystem::path &path, const char *what) {
  return Status::invalidFile(
      concat(path.string(), ": ", what, ": ", std::strerror(errno)));
}

Expected<MappedFile> MappedFile::open(const std::filesystem::path &path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0)
    return failed(path, "cannot open");
  struct stat info;
  if (fstat(file.number, &info) != 0)
    return failed(path, "cannot read the size");
  if (!S_ISREG(info.st_mode))
    return Status::invalidFile(concat(path.string(), ": not a regular file"));
  auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) // mmap refuses empty ranges.
    return MappedFile(std::span<const std::byte>());
  void *address =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, /*offset=*/0);
  if (address == MAP_FAILED)
    return failed(path, "cannot map");
  return MappedFile({static_cast<const std::byte *>(address), size});
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : mapped(std::exchange(other.mapped, {})) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(mapped, other.mapped);
  return *this;
}

MappedFile::~MappedFile() {
  if (!mapped.empty())
    munmap(const_cast<std::byte *>(mapped.data()), mapped.size());
}

void MappedFile::readAhead() const {
  if (!mapped.empty())
    madvise(const_cast<std::byte *>(mapped.data()), mapped.size(),
            MADV_WILLNEED);
}
