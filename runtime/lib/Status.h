//===- Status.h - Errors as values ------------------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Status is success, or a code of the C header plus a message that names the
// place (file, tensor, key, index), what was found and what was expected. An
// Expected<T> is a value or such a failure:
//
//   Expected<MappedFile> file = MappedFile::open(path);
//   if (!file)
//     return file.status();
//   use(*file);
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_STATUS_H
#define MOEC_RUNTIME_LIB_STATUS_H

#include "moec/moec_runtime.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace moec::runtime {

class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  /// A failure; `code` is not MOEC_OK.
  Status(moec_code code, std::string message)
      : failureCode(code), text(std::move(message)) {
    assert(code != MOEC_OK && "a failure needs a code");
  }

  bool ok() const { return failureCode == MOEC_OK; }
  /// True on success.
  explicit operator bool() const { return ok(); }
  moec_code code() const { return failureCode; }
  const std::string &message() const { return text; }

  static Status invalidArgument(std::string message) {
    return {MOEC_INVALID_ARGUMENT, std::move(message)};
  }
  static Status invalidFile(std::string message) {
    return {MOEC_INVALID_FILE, std::move(message)};
  }
  static Status unsupported(std::string message) {
    return {MOEC_UNSUPPORTED, std::move(message)};
  }
  static Status outOfRange(std::string message) {
    return {MOEC_OUT_OF_RANGE, std::move(message)};
  }
  static Status outOfMemory(std::string message) {
    return {MOEC_OUT_OF_MEMORY, std::move(message)};
  }

private:
  moec_code failureCode = MOEC_OK;
  std::string text;
};

template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : held(std::move(value)) {}
  /// A failure; `status` is not success.
  Expected(Status status) : failure(std::move(status)) {
    assert(!failure.ok() && "an Expected without a value needs a failure");
  }

  bool ok() const { return held.has_value(); }
  /// True if there is a value.
  explicit operator bool() const { return ok(); }
  /// Success, or why there is no value.
  const Status &status() const { return failure; }

  T &operator*() & { return *held; }
  const T &operator*() const & { return *held; }
  T &&operator*() && { return *std::move(held); }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

private:
  std::optional<T> held;
  Status failure;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_STATUS_H
