//===- Recording.cpp - What a model computed for a sequence ---------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recording.h"

#include <cstring>

using namespace moec::run;
using namespace moec::runtime;

std::vector<TapColumn> moec::run::expandTaps(const Manifest &manifest) {
  std::vector<TapColumn> columns;
  for (const Manifest::Tap &tap : manifest.taps)
    for (int64_t layer = tap.layers.begin; layer < tap.layers.end; ++layer)
      columns.push_back({expandName(tap.name, layer, /*expert=*/0), tap.dtype,
                         tap.offset + (layer - tap.layers.begin) * tap.stride,
                         tap.width});
  return columns;
}

Recording::Recording(const std::vector<TapColumn> &columns, int64_t vocabSize)
    : columns(columns) {
  for (const TapColumn &column : columns)
    entries.emplace_back(column.name, Rows{column.dtype, column.width, {}});
  entries.emplace_back("logits", Rows{DType::F32, vocabSize, {}});
}

static void appendBits(Rows &rows, const void *source, int64_t count) {
  std::size_t before = rows.bits.size();
  rows.bits.resize(before + count * rows.width);
  std::memcpy(rows.bits.data() + before, source,
              count * rows.width * sizeof(uint32_t));
}

void Recording::append(const Session &session, int64_t firstRow, int64_t count,
                       int64_t firstLogit) {
  // A tap is a dense [N, width] array that begins at value N * offset.
  const auto *values = reinterpret_cast<const uint32_t *>(session.taps());
  for (std::size_t index = 0; index < columns.size(); ++index) {
    const TapColumn &column = columns[index];
    appendBits(entries[index].second,
               values + session.numTokens() * column.offset +
                   firstRow * column.width,
               count);
  }
  appendBits(entries.back().second, session.logits(firstLogit).data(), count);
}

const Rows *Recording::find(const std::string &name) const {
  for (const auto &[entryName, rows] : entries)
    if (entryName == name)
      return &rows;
  return nullptr;
}
