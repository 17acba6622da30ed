//===- Cpu.cpp - Features of this machine's CPU ---------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cpu.h"

#include "Text.h"

#include <cpuid.h>

using namespace moec::runtime;

namespace {

enum Register { eax, ebx, ecx, edx };

/// Vector registers that the operating system must save (bits of XCR0).
enum State : uint64_t {
  noState = 0,
  avxState = 0x6,     // XMM, YMM
  avx512State = 0xe6, // and opmasks, upper halves of ZMM, ZMM16 to 31
};

struct FeatureBit {
  const char *name;
  unsigned leaf;
  unsigned subleaf;
  Register reg;
  unsigned bit;
  State state;
};

} // namespace

// Intel's Architecture Instruction Set Extensions reference, CPUID leaves 1, 7
// and 0x80000001.
static constexpr FeatureBit featureBits[] = {
    {"sse3", 1, 0, ecx, 0, noState},
    {"ssse3", 1, 0, ecx, 9, noState},
    {"fma", 1, 0, ecx, 12, avxState},
    {"sse4.1", 1, 0, ecx, 19, noState},
    {"sse4.2", 1, 0, ecx, 20, noState},
    {"movbe", 1, 0, ecx, 22, noState},
    {"popcnt", 1, 0, ecx, 23, noState},
    {"avx", 1, 0, ecx, 28, avxState},
    {"f16c", 1, 0, ecx, 29, avxState},
    {"bmi", 7, 0, ebx, 3, noState},
    {"avx2", 7, 0, ebx, 5, avxState},
    {"bmi2", 7, 0, ebx, 8, noState},
    {"avx512f", 7, 0, ebx, 16, avx512State},
    {"avx512dq", 7, 0, ebx, 17, avx512State},
    {"avx512ifma", 7, 0, ebx, 21, avx512State},
    {"avx512cd", 7, 0, ebx, 28, avx512State},
    {"avx512bw", 7, 0, ebx, 30, avx512State},
    {"avx512vl", 7, 0, ebx, 31, avx512State},
    {"avx512vbmi", 7, 0, ecx, 1, avx512State},
    {"avx512vbmi2", 7, 0, ecx, 6, avx512State},
    {"gfni", 7, 0, ecx, 8, noState},
    {"vaes", 7, 0, ecx, 9, avxState},
    {"vpclmulqdq", 7, 0, ecx, 10, avxState},
    {"avx512vnni", 7, 0, ecx, 11, avx512State},
    {"avx512bitalg", 7, 0, ecx, 12, avx512State},
    {"avx512vpopcntdq", 7, 0, ecx, 14, avx512State},
    {"avx512fp16", 7, 0, edx, 23, avx512State},
    {"avxvnni", 7, 1, eax, 4, avxState},
    {"avx512bf16", 7, 1, eax, 5, avx512State},
    {"avxifma", 7, 1, eax, 23, avxState},
    {"lzcnt", 0x80000001, 0, ecx, 5, noState},
};

static uint64_t savedState() {
  unsigned info[4];
  constexpr unsigned osxsave = 1u << 27;
  if (!__get_cpuid(1, &info[eax], &info[ebx], &info[ecx], &info[edx]) ||
      !(info[ecx] & osxsave))
    return 0;
  // xgetbv as bytes: the intrinsic needs a target feature of its own.
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

static CpuFeatures detect() {
  CpuFeatures features;
  uint64_t saved = savedState();
  for (const FeatureBit &feature : featureBits) {
    unsigned info[4];
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &info[eax],
                           &info[ebx], &info[ecx], &info[edx]))
      continue;
    bool stateSaved = (saved & feature.state) == feature.state;
    if (stateSaved && info[feature.reg] >> feature.bit & 1)
      features.insert(feature.name);
  }
  return features;
}

const CpuFeatures &moec::runtime::cpuFeatures() {
  static const CpuFeatures features = detect();
  return features;
}

/// "a, b": the features of a variant that are not there.
static std::string missing(const Manifest::Variant &variant,
                           const CpuFeatures &features) {
  std::string list;
  for (const std::string &feature : variant.features)
    if (!features.contains(feature))
      list += (list.empty() ? "" : ", ") + feature;
  return list;
}

static Status noSuchVariant(const std::vector<Manifest::Variant> &variants,
                            std::string_view name) {
  std::string list;
  for (const Manifest::Variant &variant : variants)
    list += (list.empty() ? "" : ", ") + variant.name;
  return Status::invalidArgument(
      concat("no code variant ", inQuotes(name), "; the artifact has: ", list));
}

Expected<std::vector<const Manifest::Variant *>>
moec::runtime::usableVariants(const std::vector<Manifest::Variant> &variants,
                              const CpuFeatures &features,
                              std::string_view name) {
  std::vector<const Manifest::Variant *> usable;
  bool found = false;
  std::string reasons;
  for (const Manifest::Variant &variant : variants) {
    if (!name.empty() && variant.name != name)
      continue;
    found = true;
    std::string lacks = missing(variant, features);
    if (lacks.empty())
      usable.push_back(&variant);
    else
      reasons += "\n  " + variant.name + " needs " + lacks;
  }
  if (!usable.empty())
    return usable;
  if (!found)
    return noSuchVariant(variants, name);
  return Status::unsupported("this CPU lacks features that the code needs:" +
                             reasons);
}
