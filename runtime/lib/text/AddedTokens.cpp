//===- AddedTokens.cpp - Tokens that stand in the text by name ------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/AddedTokens.h"

#include <algorithm>

using namespace moec::runtime;

static auto place(const std::vector<std::pair<unsigned char, uint32_t>> &next,
                  unsigned char byte) {
  return std::lower_bound(next.begin(), next.end(), byte,
                          [](const auto &entry, unsigned char value) {
                            return entry.first < value;
                          });
}

const AddedTokens::Node *AddedTokens::step(const Node &node, char byte) const {
  auto value = static_cast<unsigned char>(byte);
  auto found = place(node.next, value);
  if (found == node.next.end() || found->first != value)
    return nullptr;
  return &nodes[found->second];
}

bool AddedTokens::add(std::string_view content, int32_t id) {
  uint32_t at = 0;
  for (char byte : content) {
    auto value = static_cast<unsigned char>(byte);
    auto found = place(nodes[at].next, value);
    if (found != nodes[at].next.end() && found->first == value) {
      at = found->second;
      continue;
    }
    auto made = static_cast<uint32_t>(nodes.size());
    nodes[at].next.insert(found, {value, made});
    nodes.emplace_back();
    at = made;
  }
  if (nodes[at].id >= 0)
    return false;
  nodes[at].id = id;
  return true;
}

std::optional<AddedTokens::Match> AddedTokens::find(std::string_view text,
                                                    std::size_t start) const {
  for (std::size_t begin = start; begin < text.size(); ++begin) {
    std::optional<Match> longest;
    const Node *node = &nodes[0];
    for (std::size_t at = begin; at < text.size(); ++at) {
      node = step(*node, text[at]);
      if (!node)
        break;
      if (node->id >= 0)
        longest = Match{begin, at + 1, node->id};
    }
    if (longest)
      return longest;
  }
  return std::nullopt;
}

std::optional<int32_t> AddedTokens::idOf(std::string_view content) const {
  const Node *node = &nodes[0];
  for (char byte : content)
    if (!(node = step(*node, byte)))
      return std::nullopt;
  return node->id < 0 ? std::nullopt : std::optional(node->id);
}
