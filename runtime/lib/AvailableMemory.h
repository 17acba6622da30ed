//===- AvailableMemory.h - Memory that can still be used --------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_AVAILABLEMEMORY_H
#define MOEC_RUNTIME_LIB_AVAILABLEMEMORY_H

#include <cstdint>
#include <filesystem>
#include <optional>

namespace moec::runtime {

/// Bytes that this process can use without pushing others out: MemAvailable of
/// /proc/meminfo, or what the limit of a control group leaves, if that is less.
/// Nothing if the system does not say. `root` is where /proc and /sys lie.
std::optional<int64_t> availableMemory(const std::filesystem::path &root = "/");

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_AVAILABLEMEMORY_H
