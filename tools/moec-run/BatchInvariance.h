//===- BatchInvariance.h - Does company change a result? --------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_BATCHINVARIANCE_H
#define MOEC_TOOLS_MOEC_RUN_BATCHINVARIANCE_H

#include "Model.h"
#include "Recording.h"

namespace moec::run {

/// One way to run the prompt, compared with the plain one.
struct InvarianceResult {
  std::string way;
  bool identical = true;
  /// Of the first tap (or "logits") that differs in any bit:
  std::string firstDifference;
  int64_t differingValues = 0;
};

/// Runs the prompt alone, in one chunk, on one thread; then in a batch with
/// other sequences, on other thread counts, in chunks, on shuffled pages and
/// over a cache that holds NaN; and compares all taps and logits bit for bit.
runtime::Expected<std::vector<InvarianceResult>>
checkBatchInvariance(const Model &model, const std::string &variant,
                     const std::vector<int32_t> &prompt);

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_BATCHINVARIANCE_H
