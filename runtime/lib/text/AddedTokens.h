//===- AddedTokens.h - Tokens that stand in the text by name ----*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_ADDEDTOKENS_H
#define MOEC_RUNTIME_LIB_TEXT_ADDEDTOKENS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moec::runtime {

/// A set of texts, each with an id, that finds the first of them in a text: the
/// leftmost, the longest among those at one place. A search takes time in the
/// order of the text's length times `maxBytes` at worst, and its length alone
/// in texts that are not made for it.
class AddedTokens {
public:
  static constexpr std::size_t maxBytes = 512;

  /// `content` has 1 to maxBytes bytes. False if it is there already.
  bool add(std::string_view content, int32_t id);

  struct Match {
    std::size_t begin, end;
    int32_t id;
  };
  std::optional<Match> find(std::string_view text, std::size_t start) const;
  std::optional<int32_t> idOf(std::string_view content) const;
  bool empty() const { return nodes.size() == 1; }

private:
  /// A node of a tree over bytes.
  struct Node {
    int32_t id = -1;
    std::vector<std::pair<unsigned char, uint32_t>> next; ///< sorted
  };
  const Node *step(const Node &node, char byte) const;

  std::vector<Node> nodes = std::vector<Node>(1);
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_ADDEDTOKENS_H
