//===- AvailableMemory.cpp - Memory that can still be used ----------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AvailableMemory.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

using namespace moec::runtime;

/// The number after `key` at the start of a line.
static std::optional<int64_t> readNumber(const std::filesystem::path &path,
                                         const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    int64_t number;
    if (!key.empty() && (!(words >> word) || word != key))
      continue;
    if (words >> number && number >= 0)
      return number;
    return std::nullopt; // "max": no limit
  }
  return std::nullopt;
}

/// What the limit of one group (of version 2) leaves. Pages of files can be
/// dropped, so they do not count as used.
static std::optional<int64_t> leftOf(const std::filesystem::path &group) {
  std::optional<int64_t> limit = readNumber(group / "memory.max", "");
  std::optional<int64_t> used = readNumber(group / "memory.current", "");
  if (!limit || !used)
    return std::nullopt;
  int64_t files = readNumber(group / "memory.stat", "file").value_or(0);
  return std::max<int64_t>(*limit - std::max<int64_t>(*used - files, 0), 0);
}

/// This process's group, as a path below the mount point.
static std::filesystem::path ownGroup(const std::filesystem::path &root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::/"))
      return line.substr(4);
  return {};
}

std::optional<int64_t>
moec::runtime::availableMemory(const std::filesystem::path &root) {
  std::optional<int64_t> least =
      readNumber(root / "proc/meminfo", "MemAvailable:");
  if (least)
    *least = *least > (INT64_MAX >> 10) ? INT64_MAX : *least * 1024;
  std::filesystem::path mount = root / "sys/fs/cgroup";
  std::filesystem::path group = mount / ownGroup(root);
  // A limit holds for the groups below it, too.
  for (;; group = group.parent_path()) {
    if (std::optional<int64_t> left = leftOf(group))
      least = std::min(least.value_or(*left), *left);
    if (group == mount || group == group.parent_path())
      return least;
  }
}
