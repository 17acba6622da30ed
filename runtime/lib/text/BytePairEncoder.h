//===- BytePairEncoder.h - Merges of byte pairs -----------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_BYTEPAIRENCODER_H
#define MOEC_RUNTIME_LIB_TEXT_BYTEPAIRENCODER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace moec::runtime {

/// Turns the bytes of a piece into tokens: begins with one token for each byte
/// and joins, as long as there is one, the pair of neighbours of the lowest
/// rank, the leftmost among equals. A heap holds the pairs, so a piece of B
/// bytes takes time in the order of B log B, whatever its bytes are.
class BytePairEncoder {
public:
  struct Merge {
    int32_t rank;
    int32_t id; ///< of the joined token
  };
  /// The memory of one call of encode, to be used again by the next.
  class Scratch;

  /// Makes `bytes`, which outlives this object, the text of a token.
  /// False if another token has it already.
  bool addToken(std::string_view bytes, int32_t id);
  /// Makes the token of one byte.
  void setByte(unsigned char byte, int32_t id) { byteIds[byte] = id; }
  /// False if there is one for the same pair already.
  bool addMerge(int32_t left, int32_t right, Merge merge);

  /// Without merges of its own, two tokens join if their bytes together are a
  /// token, whose id is the rank.
  void mergeByBytes() { byBytes = true; }
  /// A piece that is a token as a whole is that token without any merging.
  void takeWholePieces() { wholePieces = true; }

  std::optional<int32_t> tokenOf(std::string_view bytes) const;

  /// Appends the tokens of `piece`, shorter than 4 GiB, to `ids`. Every byte
  /// has a token.
  void encode(std::string_view piece, Scratch &scratch,
              std::vector<int32_t> &ids) const;

private:
  void begin(std::string_view piece, Scratch &scratch) const;
  bool list(std::string_view piece, uint32_t left, Scratch &scratch) const;
  std::optional<Merge> mergeOf(int32_t left, int32_t right,
                               std::string_view joined) const;

  std::unordered_map<std::string_view, int32_t> tokens;
  std::unordered_map<uint64_t, Merge> merges; ///< by left << 32 | right
  std::array<int32_t, 256> byteIds = {};
  std::size_t longestToken = 0;
  bool byBytes = false;
  bool wholePieces = false;
};

class BytePairEncoder::Scratch {
public:
  /// Merges looked up so far: the measure of work.
  std::size_t lookups = 0;

private:
  friend class BytePairEncoder;
  /// A token of the piece, in a list linked both ways.
  struct Part {
    int32_t id;
    uint32_t begin, end; ///< bytes; empty once joined to the part before
    uint32_t previous, next;
  };
  /// A pair that could be joined when it was listed; it still can if both
  /// parts have the same ids.
  struct Pair {
    Merge merge;
    uint32_t left;
    int32_t leftId, rightId;
  };
  static bool later(const Pair &a, const Pair &b);
  bool join(const Pair &pair);

  std::vector<Part> parts;
  std::vector<Pair> heap;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_BYTEPAIRENCODER_H
