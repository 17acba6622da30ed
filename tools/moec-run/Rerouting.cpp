//===- Rerouting.cpp - Rows that rounding sent to other experts -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rerouting.h"

#include <algorithm>
#include <charconv>
#include <limits>

using namespace moec::run;

/// "layers.3.ffn_output" as 3 and "ffn_output"; what stands behind the layers
/// (the logits) gets a layer behind all others, what stands before them -1.
static std::pair<int64_t, std::string> splitName(const std::string &name) {
  constexpr std::string_view prefix = "layers.";
  if (!name.starts_with(prefix))
    return {name == "logits" ? std::numeric_limits<int64_t>::max() : -1, name};
  int64_t layer = 0;
  const char *begin = name.data() + prefix.size();
  const char *end = name.data() + name.size();
  auto [rest, error] = std::from_chars(begin, end, layer);
  if (error != std::errc() || rest == end)
    return {-1, name};
  return {layer, std::string(rest + 1, end)};
}

Rerouting::Rerouting(const Golden &golden, const Recording &recording) {
  for (const auto &[name, expected] : golden.taps) {
    auto [layer, value] = splitName(name);
    if (value != "router_indices")
      continue;
    const Rows &found = *recording.find(name);
    std::vector<bool> &rerouted = reroutedInLayer[layer];
    for (int64_t row = 0; row < expected.count(); ++row) {
      auto begin = expected.bits.begin() + row * expected.width;
      rerouted.push_back(
          !std::equal(begin, begin + expected.width,
                      found.bits.begin() + row * expected.width));
    }
  }
}

bool Rerouting::isComparable(int64_t layer, const std::string &value,
                             int64_t row) const {
  // In its own layer a rerouted token shows behind the router only.
  bool behindRouter = value == "router_weights" || value == "ffn_output" ||
                      value == "block_output";
  for (const auto &[other, rerouted] : reroutedInLayer) {
    if (other == layer && behindRouter && rerouted[row])
      return false;
    if (other >= layer)
      continue;
    auto first = std::find(rerouted.begin(), rerouted.end(), true);
    if (row >= first - rerouted.begin())
      return false;
  }
  return true;
}

Rows Rerouting::select(const std::string &name, const Rows &rows) const {
  auto [layer, value] = splitName(name);
  Rows selected{rows.dtype, rows.width, {}};
  for (int64_t row = 0; row < rows.count(); ++row) {
    if (!isComparable(layer, value, row))
      continue;
    auto begin = rows.bits.begin() + row * rows.width;
    selected.bits.insert(selected.bits.end(), begin, begin + rows.width);
  }
  return selected;
}
