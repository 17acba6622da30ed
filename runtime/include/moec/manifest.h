//===- manifest.h - What compiler and runtime agree on ----------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants of manifest.json that the compiler writes and the runtime checks.
// docs/artifact-format.md says what they mean.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_MANIFEST_H
#define MOEC_MANIFEST_H

#include <cstdint>

namespace moec {

inline constexpr char manifestFileName[] = "manifest.json";
inline constexpr char manifestFormat[] = "moec-artifact";
inline constexpr int64_t manifestVersion = 1;

/// Placeholders of parameter and tap names.
inline constexpr char layerPlaceholder[] = "{layer}";
inline constexpr char expertPlaceholder[] = "{expert}";

/// Alignment of the workspace, in bytes.
inline constexpr int64_t workspaceAlignment = 64;

} // namespace moec

#endif // MOEC_MANIFEST_H
