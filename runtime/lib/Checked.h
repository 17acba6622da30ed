//===- Checked.h - Arithmetic that notices overflow -------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes come from files; each sum and product of them goes through here.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_CHECKED_H
#define MOEC_RUNTIME_LIB_CHECKED_H

#include <cstdint>
#include <optional>

namespace moec::runtime {

inline std::optional<int64_t> checkedAdd(int64_t left, int64_t right) {
  int64_t result;
  if (__builtin_add_overflow(left, right, &result))
    return std::nullopt;
  return result;
}

inline std::optional<int64_t> checkedMultiply(int64_t left, int64_t right) {
  int64_t result;
  if (__builtin_mul_overflow(left, right, &result))
    return std::nullopt;
  return result;
}

/// fixed + count * each.
inline std::optional<int64_t> checkedLinear(int64_t fixed, int64_t count,
                                            int64_t each) {
  std::optional<int64_t> product = checkedMultiply(count, each);
  return product ? checkedAdd(fixed, *product) : std::nullopt;
}

/// ceil(count / unit) without overflow; count >= 0, unit >= 1.
inline int64_t ceilDivide(int64_t count, int64_t unit) {
  return count / unit + (count % unit != 0);
}

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_CHECKED_H
