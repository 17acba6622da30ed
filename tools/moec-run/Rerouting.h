//===- Rerouting.h - Rows that rounding sent to other experts -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A router that rounding tips to another expert changes its token by a whole
// expert: a largest difference over all rows then says nothing about the
// arithmetic. Leaving such rows out, and what they reach, keeps tolerances that
// a fault would exceed.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_REROUTING_H
#define MOEC_TOOLS_MOEC_RUN_REROUTING_H

#include "Golden.h"
#include "Recording.h"

#include <map>

namespace moec::run {

/// Which rows of which taps follow the reference's routing.
class Rerouting {
public:
  Rerouting(const Golden &golden, const Recording &recording);

  /// Rows of `name` that are comparable: those whose experts are the
  /// reference's, and from the next layer on those before the first token that
  /// went elsewhere, since attention carries its difference to later ones.
  Rows select(const std::string &name, const Rows &rows) const;

private:
  bool isComparable(int64_t layer, const std::string &value, int64_t row) const;

  std::map<int64_t, std::vector<bool>> reroutedInLayer;
};

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_REROUTING_H
