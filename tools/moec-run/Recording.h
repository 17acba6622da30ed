//===- Recording.h - What a model computed for a sequence -------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_RECORDING_H
#define MOEC_TOOLS_MOEC_RUN_RECORDING_H

#include "Golden.h"
#include "Session.h"

namespace moec::run {

/// One tap of one layer; offset and width count values of 4 bytes per token.
struct TapColumn {
  std::string name;
  runtime::DType dtype;
  int64_t offset;
  int64_t width;
};

/// The taps of an artifact with their layers spelled out.
std::vector<TapColumn> expandTaps(const runtime::Manifest &manifest);

/// Taps and logits of the tokens of one sequence, in order.
class Recording {
public:
  explicit Recording(const std::vector<TapColumn> &columns, int64_t vocabSize);

  /// Appends rows [firstRow, firstRow + count) of the session's last step;
  /// their logits begin at `firstLogit`.
  void append(const runtime::Session &session, int64_t firstRow, int64_t count,
              int64_t firstLogit);

  /// The recorded rows of this name, "logits" among them; null without.
  const Rows *find(const std::string &name) const;
  const std::vector<std::pair<std::string, Rows>> &all() const {
    return entries;
  }

private:
  std::vector<TapColumn> columns;
  std::vector<std::pair<std::string, Rows>> entries; ///< columns, then logits
};

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_RECORDING_H
