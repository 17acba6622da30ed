//===- SamplerTest.cpp - The next token from logits -----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/Sampler.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>

using namespace moec::runtime;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// How often each id comes in `draws` draws.
std::map<int32_t, int> counts(SamplerOptions options,
                              const std::vector<float> &logits,
                              int draws = 2000) {
  Sampler sampler(options);
  std::map<int32_t, int> result;
  for (int draw = 0; draw < draws; ++draw)
    ++result[sampler.sample(logits)];
  return result;
}

std::vector<int32_t> idsOf(const std::map<int32_t, int> &counted) {
  std::vector<int32_t> ids;
  for (const auto &[id, count] : counted)
    ids.push_back(id);
  return ids;
}

using Ids = std::vector<int32_t>;

TEST(Sampler, GreedyTakesTheLargestAndTheLowerIdOfEquals) {
  Sampler sampler({});
  EXPECT_EQ(sampler.sample(std::array{1.0f, 3.0f, 2.0f}), 1);
  EXPECT_EQ(sampler.sample(std::array{1.0f, 3.0f, 3.0f}), 1);
  EXPECT_EQ(sampler.sample(std::array{-0.0f, 0.0f}), 0);
  EXPECT_EQ(sampler.sample(std::array{nan, -5.0f, nan}), 1);
  EXPECT_EQ(sampler.sample(std::array{-infinity, -5.0f}), 1);
  EXPECT_EQ(sampler.sample(std::array{infinity, -5.0f}), 0);
}

TEST(Sampler, NothingToChoose) {
  for (double temperature : {0.0, 1.0}) {
    Sampler sampler({.temperature = temperature});
    EXPECT_EQ(sampler.sample({}), -1);
    EXPECT_EQ(sampler.sample(std::array{nan, nan}), -1);
    EXPECT_EQ(sampler.sample(std::array{-infinity, nan}), -1);
  }
}

TEST(Sampler, NaNAndMinusInfinityAreNeverDrawn) {
  EXPECT_EQ(idsOf(counts({.temperature = 1}, {nan, 0, -infinity, 0})),
            (Ids{1, 3}));
  EXPECT_EQ(idsOf(counts({.temperature = 1}, {infinity, 0, infinity})),
            (Ids{0, 2}));
}

TEST(Sampler, FrequenciesFollowTheProbabilities) {
  const int draws = 40'000;
  std::vector<float> logits;
  for (double share : {0.5, 0.3, 0.15, 0.05})
    logits.push_back(static_cast<float>(std::log(share)));
  auto counted = counts({.temperature = 1, .seed = 7}, logits, draws);
  // Four standard deviations of the widest one: 4 sqrt(0.25 / draws) = 0.01.
  EXPECT_NEAR(counted[0], 0.5 * draws, 0.01 * draws);
  EXPECT_NEAR(counted[1], 0.3 * draws, 0.01 * draws);
  EXPECT_NEAR(counted[2], 0.15 * draws, 0.01 * draws);
  EXPECT_NEAR(counted[3], 0.05 * draws, 0.01 * draws);
}

TEST(Sampler, TemperatureSharpensAndFlattens) {
  std::vector<float> logits = {0, 1};
  auto at = [&](double temperature) {
    return counts({.temperature = temperature}, logits)[1];
  };
  EXPECT_EQ(at(1e-300), 2000);
  EXPECT_GT(at(0.5), at(1.0));
  EXPECT_GT(at(1.0), at(10.0));
}

TEST(Sampler, TopK) {
  std::vector<float> logits = {1, 2, 2, 2, 0};
  EXPECT_EQ(idsOf(counts({.temperature = 5, .top_k = 1}, logits)), Ids{1});
  EXPECT_EQ(idsOf(counts({.temperature = 5, .top_k = 2}, logits)), (Ids{1, 2}));
  EXPECT_EQ(idsOf(counts({.temperature = 5, .top_k = 9}, logits)).size(), 5u);
}

TEST(Sampler, TopP) {
  std::vector<float> logits;
  for (double share : {0.05, 0.5, 0.15, 0.3})
    logits.push_back(static_cast<float>(std::log(share)));
  auto ids = [&](double topP, int32_t topK = 0) {
    return idsOf(
        counts({.temperature = 1, .top_p = topP, .top_k = topK}, logits));
  };
  EXPECT_EQ(ids(1e-9), Ids{1});
  EXPECT_EQ(ids(0.49), Ids{1});
  EXPECT_EQ(ids(0.51), (Ids{1, 3}));
  EXPECT_EQ(ids(0.9), (Ids{1, 2, 3}));
  EXPECT_EQ(ids(1.0).size(), 4u);
  // After top_k the shares are those of what is left: 0.5 / 0.8.
  EXPECT_EQ(ids(0.6, /*topK=*/2), Ids{1});
}

TEST(Sampler, MinP) {
  std::vector<float> logits;
  for (double share : {0.05, 0.5, 0.15, 0.3})
    logits.push_back(static_cast<float>(std::log(share)));
  auto ids = [&](double minP) {
    return idsOf(counts({.temperature = 1, .min_p = minP}, logits));
  };
  EXPECT_EQ(ids(0.5), (Ids{1, 3}));
  EXPECT_EQ(ids(0.2), (Ids{1, 2, 3}));
  EXPECT_EQ(ids(1.0), Ids{1});
}

// Also computed apart from this code, from the published recurrence of the
// generator; they are to be the same on every machine.
TEST(Sampler, SeedsAreReproducible) {
  std::vector<float> logits;
  for (int id = 0; id < 1000; ++id)
    logits.push_back(static_cast<float>((id * 7919) % 1009) / 100.0f);
  Sampler sampler({.temperature = 0.8,
                   .top_p = 0.95,
                   .min_p = 0.01,
                   .top_k = 200,
                   .seed = 42});
  Ids ids;
  for (int draw = 0; draw < 8; ++draw)
    ids.push_back(sampler.sample(logits));
  EXPECT_EQ(ids, (Ids{165, 508, 165, 680, 66, 535, 818, 528}));
}

TEST(Sampler, OptionsAreChecked) {
  EXPECT_TRUE(checkSamplerOptions({}));
  const double notANumber = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<SamplerOptions, std::string>> cases = {
      {{.temperature = -1}, "temperature is -1"},
      {{.temperature = notANumber}, "temperature is nan"},
      {{.temperature = HUGE_VAL}, "temperature is inf"},
      {{.top_p = 0}, "top_p is 0"},
      {{.top_p = 1.5}, "top_p is 1.5"},
      {{.top_p = notANumber}, "top_p is nan"},
      {{.min_p = -0.1}, "min_p is -0.1"},
      {{.min_p = 2}, "min_p is 2"},
      {{.top_k = -3}, "top_k is -3"},
  };
  for (const auto &[options, message] : cases) {
    Status status = checkSamplerOptions(options);
    EXPECT_FALSE(status);
    EXPECT_NE(status.message().find(message), std::string::npos)
        << status.message();
  }
}

} // namespace
