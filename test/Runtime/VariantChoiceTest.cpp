//===- VariantChoiceTest.cpp - Tests of the choice of a code variant ------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VariantChoice.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

using namespace moec::runtime;

static const Manifest::Variant first = {"first", "", {}};
static const Manifest::Variant second = {"second", "", {}};
static const Manifest::Variant third = {"third", "", {}};

static std::string fastestOf(double a, double b, double c) {
  VariantRate rates[] = {{&first, a}, {&second, b}, {&third, c}};
  return fastest(rates)->name;
}

TEST(Fastest, IsTheOneThatDoesMost) {
  EXPECT_EQ(fastestOf(5, 1, 1), "first");
  EXPECT_EQ(fastestOf(1, 5, 1), "second");
  EXPECT_EQ(fastestOf(1, 1, 5), "third");
}

TEST(Fastest, IsTheLastOfNearEquals) {
  EXPECT_EQ(fastestOf(100, 91, 89), "second");
  EXPECT_EQ(fastestOf(100, 89, 91), "third");
  EXPECT_EQ(fastestOf(100, 89, 89), "first");
}

/// A manifest with two variants that any CPU runs.
static Json twoVariants(const char *probe, const char *otherProbe) {
  Json manifest = standInManifest();
  Json &variants = manifest["code"]["variants"];
  variants[1]["features"] = Json::array();
  variants[0]["probe"]["symbol"] = probe;
  variants[1]["probe"]["symbol"] = otherProbe;
  return manifest;
}

TEST(VariantChoice, TakesTheFastestOnce) {
  for (bool slowFirst : {false, true}) {
    const char *fast = "stand_in_probe", *slow = "stand_in_slow_probe";
    StandIn model(slowFirst ? twoVariants(slow, fast)
                            : twoVariants(fast, slow));
    auto &numProbes = model.variable<int64_t>("standInNumProbes");
    EXPECT_EQ(numProbes, 0);
    EXPECT_TRUE(model.artifact->variantRates().empty());
    const char *expected = slowFirst ? "future" : "plain";
    EXPECT_EQ(model.artifact->code()->variant->name, expected);
    ASSERT_EQ(model.artifact->variantRates().size(), 2u);
    int64_t probesOfTheChoice = numProbes;
    EXPECT_GT(probesOfTheChoice, 0);
    EXPECT_EQ(model.artifact->code()->variant->name, expected);
    EXPECT_EQ(numProbes, probesOfTheChoice);
  }
}

TEST(VariantChoice, TakesTheOneThatIsNamed) {
  StandIn model(twoVariants("stand_in_probe", "stand_in_slow_probe"));
  EXPECT_EQ(model.artifact->code("future")->variant->name, "future");
  EXPECT_EQ(model.variable<int64_t>("standInNumProbes"), 0);
}

TEST(VariantChoice, MeasuresNothingWhereThereIsNoChoice) {
  StandIn model;
  EXPECT_EQ(model.artifact->code()->variant->name, "plain");
  EXPECT_EQ(model.variable<int64_t>("standInNumProbes"), 0);
}

TEST(VariantChoice, NeedsTheProbe) {
  TempFolder folder;
  writeArtifact(folder / "x.moec", twoVariants("stand_in_probe", "absent"));
  Expected<std::unique_ptr<Artifact>> artifact =
      Artifact::open(folder / "x.moec");
  ASSERT_FALSE(artifact.ok());
  EXPECT_NE(artifact.status().message().find(
                "has no probe 'absent' of variant 'future'"),
            std::string::npos)
      << artifact.status().message();
}
