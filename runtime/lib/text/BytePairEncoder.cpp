//===- BytePairEncoder.cpp - Merges of byte pairs -------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/BytePairEncoder.h"

#include <algorithm>
#include <cassert>

using namespace moec::runtime;

static constexpr uint32_t none = UINT32_MAX;

static uint64_t pairKey(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 |
         static_cast<uint32_t>(right);
}

bool BytePairEncoder::addToken(std::string_view bytes, int32_t id) {
  longestToken = std::max(longestToken, bytes.size());
  return tokens.emplace(bytes, id).second;
}

bool BytePairEncoder::addMerge(int32_t left, int32_t right, Merge merge) {
  return merges.emplace(pairKey(left, right), merge).second;
}

std::optional<int32_t> BytePairEncoder::tokenOf(std::string_view bytes) const {
  if (bytes.size() > longestToken)
    return std::nullopt;
  auto found = tokens.find(bytes);
  return found == tokens.end() ? std::nullopt : std::optional(found->second);
}

std::optional<BytePairEncoder::Merge>
BytePairEncoder::mergeOf(int32_t left, int32_t right,
                         std::string_view joined) const {
  if (byBytes) {
    std::optional<int32_t> id = tokenOf(joined);
    return id ? std::optional(Merge{*id, *id}) : std::nullopt;
  }
  auto found = merges.find(pairKey(left, right));
  return found == merges.end() ? std::nullopt : std::optional(found->second);
}

bool BytePairEncoder::Scratch::later(const Pair &a, const Pair &b) {
  return a.merge.rank != b.merge.rank ? a.merge.rank > b.merge.rank
                                      : a.left > b.left;
}

/// Makes one part for each byte and lists the pairs that can be joined.
void BytePairEncoder::begin(std::string_view piece, Scratch &scratch) const {
  auto size = static_cast<uint32_t>(piece.size());
  scratch.parts.resize(size);
  for (uint32_t at = 0; at < size; ++at)
    scratch.parts[at] = {byteIds[static_cast<unsigned char>(piece[at])], at,
                         at + 1, at ? at - 1 : none,
                         at + 1 < size ? at + 1 : none};
  scratch.heap.clear();
  for (uint32_t at = 0; at < size; ++at)
    list(piece, at, scratch);
  std::make_heap(scratch.heap.begin(), scratch.heap.end(), Scratch::later);
}

/// Puts the pair of the part `left` and its neighbour at the heap's end, if
/// they can be joined.
bool BytePairEncoder::list(std::string_view piece, uint32_t left,
                           Scratch &scratch) const {
  if (left == none || scratch.parts[left].next == none)
    return false;
  const Scratch::Part &first = scratch.parts[left];
  const Scratch::Part &second = scratch.parts[first.next];
  ++scratch.lookups;
  std::optional<Merge> merge = mergeOf(
      first.id, second.id, piece.substr(first.begin, second.end - first.begin));
  if (merge)
    scratch.heap.push_back({*merge, left, first.id, second.id});
  return merge.has_value();
}

/// Joins the parts of `pair`; false if one of them has changed since.
bool BytePairEncoder::Scratch::join(const Pair &pair) {
  Part &left = parts[pair.left];
  bool gone = left.begin == left.end;
  if (gone || left.id != pair.leftId || left.next == none)
    return false;
  Part &right = parts[left.next];
  if (right.id != pair.rightId)
    return false;
  left.id = pair.merge.id;
  left.end = right.end;
  right.begin = right.end;
  left.next = right.next;
  if (left.next != none)
    parts[left.next].previous = pair.left;
  return true;
}

void BytePairEncoder::encode(std::string_view piece, Scratch &scratch,
                             std::vector<int32_t> &ids) const {
  assert(piece.size() < none && "positions have 32 bits");
  if (piece.empty())
    return;
  if (wholePieces)
    if (std::optional<int32_t> id = tokenOf(piece))
      return ids.push_back(*id);

  begin(piece, scratch);
  std::vector<Scratch::Pair> &heap = scratch.heap;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), Scratch::later);
    Scratch::Pair pair = heap.back();
    heap.pop_back();
    if (!scratch.join(pair))
      continue;
    for (uint32_t changed : {scratch.parts[pair.left].previous, pair.left})
      if (list(piece, changed, scratch))
        std::push_heap(heap.begin(), heap.end(), Scratch::later);
  }
  for (uint32_t at = 0; at != none; at = scratch.parts[at].next)
    ids.push_back(scratch.parts[at].id);
}
