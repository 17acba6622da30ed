//===- Json.h - Strict JSON -------------------------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON from outside: stricter than the library's own parser. Refused are
// duplicate keys, nesting deeper than `maxJsonDepth`, NUL bytes, invalid UTF-8
// and anything after the value. Messages name the place as "PLACE:LINE:COLUMN
// (byte OFFSET)".
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_JSON_H
#define MOEC_RUNTIME_LIB_JSON_H

#include "Status.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string_view>

namespace moec::runtime {

using Json = nlohmann::json;

inline constexpr std::size_t maxJsonDepth = 64;

/// Parses `text`; `place` names it in messages.
Expected<Json> parseJson(std::string_view text, const std::string &place);

/// Parses a file of at most `maxBytes`.
Expected<Json> readJsonFile(const std::filesystem::path &path,
                            std::size_t maxBytes = std::size_t(256) << 20);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_JSON_H
