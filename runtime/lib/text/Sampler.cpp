//===- Sampler.cpp - The next token from logits ---------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file is built with -ffp-contract=off, so that every machine rounds at
// the same places.
//
//===----------------------------------------------------------------------===//

#include "text/Sampler.h"

#include "Text.h"

#include <algorithm>
#include <cmath>

using namespace moec::runtime;

/// exp(x) for x <= 0 to about 1e-15, from operations that IEEE 754 rounds
/// exactly: x = n ln 2 + r with |r| <= ln 2 / 2, and the Taylor series of r.
static double expNegative(double x) {
  if (!(x > -745.0)) // below the smallest double
    return 0.0;
  constexpr double log2e = 1.4426950408889634;
  constexpr double ln2High = 6.93147180369123816490e-01;
  constexpr double ln2Low = 1.90821492927058770002e-10;
  double n = std::floor(x * log2e + 0.5);
  double r = (x - n * ln2High) - n * ln2Low;
  double sum = 1.0;
  for (int term = 14; term >= 1; --term)
    sum = 1.0 + sum * r / term;
  return std::ldexp(sum, static_cast<int>(n));
}

Status moec::runtime::checkSamplerOptions(const SamplerOptions &options) {
  auto outside = [](const char *name, auto value, const char *expected) {
    return Status::invalidArgument(
        concat(name, " is ", value, ", expected ", expected));
  };
  // Written so that NaN fails each of them.
  if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
    return outside("temperature", options.temperature,
                   "a finite number of at least 0");
  if (!(options.top_p > 0 && options.top_p <= 1))
    return outside("top_p", options.top_p, "more than 0 and at most 1");
  if (!(options.min_p >= 0 && options.min_p <= 1))
    return outside("min_p", options.min_p, "0 to 1");
  if (options.top_k < 0)
    return outside("top_k", options.top_k, "at least 0 (0: all tokens)");
  return {};
}

Sampler::Sampler(SamplerOptions options)
    : options(options), generator(options.seed) {}

static int32_t greedy(std::span<const float> logits) {
  int32_t best = -1;
  float bestLogit = -INFINITY;
  for (std::size_t id = 0; id < logits.size(); ++id)
    if (logits[id] > bestLogit) { // false for NaN
      best = static_cast<int32_t>(id);
      bestLogit = logits[id];
    }
  return best;
}

/// The strict order "better first".
static constexpr auto better = [](const auto &a, const auto &b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
};

/// Lists all tokens that can be chosen, in the order of their ids.
bool Sampler::gather(std::span<const float> logits) {
  int32_t bestId = greedy(logits);
  if (bestId < 0)
    return false;
  float best = logits[static_cast<std::size_t>(bestId)];
  candidates.clear();
  candidates.reserve(logits.size());
  for (std::size_t id = 0; id < logits.size(); ++id) {
    float logit = logits[id];
    if (!(logit > -INFINITY))
      continue;
    // The difference of two infinities is NaN: they are equals.
    double below = logit == best ? 0.0 : static_cast<double>(logit) - best;
    candidates.push_back({logit, static_cast<int32_t>(id),
                          expNegative(below / options.temperature)});
  }
  return true;
}

void Sampler::keepTopK() {
  auto count = static_cast<std::size_t>(options.top_k);
  if (count == 0 || count >= candidates.size())
    return;
  auto end = candidates.begin() + options.top_k;
  std::nth_element(candidates.begin(), end, candidates.end(), better);
  candidates.erase(end, candidates.end());
  // nth_element leaves an order that differs between libraries, and with the
  // order the rounding of sums.
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate &a, const Candidate &b) { return a.id < b.id; });
}

/// Takes the best one after the other from a heap, for the set is usually small
/// next to the vocabulary.
void Sampler::keepTopP() {
  if (options.top_p >= 1)
    return;
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.weight;
  auto worse = [](const Candidate &a, const Candidate &b) {
    return better(b, a);
  };
  auto end = candidates.end();
  std::make_heap(candidates.begin(), end, worse);
  double share = 0;
  while (end != candidates.begin() && share < options.top_p * total) {
    std::pop_heap(candidates.begin(), end, worse);
    share += (--end)->weight;
  }
  candidates.erase(candidates.begin(), end);
}

void Sampler::keepMinP() {
  // The best token's weight is 1. Weights that underflowed to 0 go as well.
  std::erase_if(candidates, [&](const Candidate &candidate) {
    return candidate.weight < options.min_p || candidate.weight == 0;
  });
}

int32_t Sampler::draw() {
  // The upper 53 bits: every value is a multiple of 2^-53 below 1.
  double uniform = static_cast<double>(generator() >> 11) * 0x1p-53;
  double total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.weight;
  double target = uniform * total;
  double reached = 0;
  for (const Candidate &candidate : candidates) {
    reached += candidate.weight;
    if (target < reached)
      return candidate.id;
  }
  return candidates.back().id;
}

int32_t Sampler::sample(std::span<const float> logits) {
  if (options.temperature == 0)
    return greedy(logits);
  if (!gather(logits))
    return -1;
  keepTopK();
  keepTopP();
  keepMinP();
  return draw();
}
