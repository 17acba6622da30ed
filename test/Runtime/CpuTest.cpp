//===- CpuTest.cpp - Tests of code variants and CPU features --------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cpu.h"

#include <gtest/gtest.h>

using namespace moec::runtime;

static const std::vector<Manifest::Variant> variants = {
    {"x86-64-v3", "v3", {"avx2", "fma"}},
    {"x86-64-v4", "v4", {"avx2", "avx512f", "fma"}},
};

static std::string usable(const CpuFeatures &features,
                          std::string_view name = {}) {
  Expected<std::vector<const Manifest::Variant *>> found =
      usableVariants(variants, features, name);
  if (!found)
    return found.status().message();
  std::string list;
  for (const Manifest::Variant *variant : *found)
    list += variant->name + ";";
  return list;
}

TEST(UsableVariants, AreThoseThatTheCpuHas) {
  EXPECT_EQ(usable({"avx2", "fma", "avx512f", "gfni"}), "x86-64-v3;x86-64-v4;");
  EXPECT_EQ(usable({"avx2", "fma"}), "x86-64-v3;");
}

TEST(UsableVariants, AreTheOneThatIsAskedFor) {
  EXPECT_EQ(usable({"avx2", "fma", "avx512f"}, "x86-64-v3"), "x86-64-v3;");
}

TEST(UsableVariants, NamesMissingFeatures) {
  EXPECT_EQ(usable({"avx2"}),
            "this CPU lacks features that the code needs:\n"
            "  x86-64-v3 needs fma\n  x86-64-v4 needs avx512f, fma");
  EXPECT_EQ(usable({"avx2", "fma"}, "x86-64-v4"),
            "this CPU lacks features that the code needs:\n"
            "  x86-64-v4 needs avx512f");
}

TEST(UsableVariants, ListsTheVariantsThereAre) {
  EXPECT_EQ(usable({"avx2"}, "x86-64-v5"),
            "no code variant 'x86-64-v5'; the artifact has: x86-64-v3, "
            "x86-64-v4");
}

TEST(CpuFeatures, AgreeWithTheCompilersOwnTest) {
  EXPECT_EQ(cpuFeatures().contains("avx2"), !!__builtin_cpu_supports("avx2"));
  EXPECT_EQ(cpuFeatures().contains("fma"), !!__builtin_cpu_supports("fma"));
  EXPECT_EQ(cpuFeatures().contains("avx512f"),
            !!__builtin_cpu_supports("avx512f"));
  EXPECT_EQ(cpuFeatures().contains("avx512vbmi"),
            !!__builtin_cpu_supports("avx512vbmi"));
  EXPECT_EQ(cpuFeatures().contains("avx512bf16"),
            !!__builtin_cpu_supports("avx512bf16"));
}
