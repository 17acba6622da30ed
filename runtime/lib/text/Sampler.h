//===- Sampler.h - The next token from logits -------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Temperature 0 is greedy: the largest logit, the lower id among equals. Above
// 0 the order is: logits / temperature, top_k, top_p, min_p, then one draw from
// what is left. NaN logits are never chosen.
//
// The same options and logits give the same ids on every machine: the generator
// is std::mt19937_64, whose output the C++ standard fixes; the way from its
// numbers to [0, 1) and the exponential are our own, for the library's
// distributions and std::exp differ between machines.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_SAMPLER_H
#define MOEC_RUNTIME_LIB_TEXT_SAMPLER_H

#include "Status.h"

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace moec::runtime {

struct SamplerOptions {
  double temperature = 0; ///< 0: greedy
  double top_p = 1;  ///< the smallest set of best tokens whose share of the
                     ///< probability is at least this; 1: all
  double min_p = 0;  ///< least probability relative to the best token's
  int32_t top_k = 0; ///< the best so many; 0: all
  uint64_t seed = 0;
};

/// Names the option that is out of its range.
Status checkSamplerOptions(const SamplerOptions &options);

class Sampler {
public:
  /// `options` pass checkSamplerOptions.
  explicit Sampler(SamplerOptions options);

  /// The index of the chosen logit; -1 if none can be chosen (no logits, or
  /// each is NaN or minus infinity). Draws one number from the generator unless
  /// greedy. Allocates only when there are more logits than ever before.
  int32_t sample(std::span<const float> logits);

private:
  struct Candidate {
    float logit;
    int32_t id;
    double weight; ///< exp((logit - best) / temperature)
  };

  bool gather(std::span<const float> logits);
  void keepTopK();
  void keepTopP();
  void keepMinP();
  int32_t draw();

  SamplerOptions options;
  std::mt19937_64 generator;
  std::vector<Candidate> candidates;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_SAMPLER_H
