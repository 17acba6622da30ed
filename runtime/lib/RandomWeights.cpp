//===- RandomWeights.cpp - Weights of no checkpoint -----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights to measure with: of the artifact's dtypes and shapes, normally
// distributed, so that the numbers that a step computes stay ordinary ones.
//
//===----------------------------------------------------------------------===//

#include "AvailableMemory.h"
#include "Checked.h"
#include "Weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <sys/mman.h>

using namespace moec::runtime;

static constexpr double weightDeviation = 0.02;
// Of e4m3 codes with a scale: checkpoints scale a block's largest weight, some
// 4 deviations, to the largest code, which is 448.
static constexpr double codeDeviation = 107;
static constexpr double biasDeviation = 0.01;
static constexpr int64_t alignment = 64;
static constexpr int64_t chunkBytes = 1 << 20;

namespace {

/// What the values of a tensor are: normally distributed about a mean.
struct Distribution {
  double mean;
  double deviation;
};

/// Equally probable values of a distribution, in some dtype, side by side.
struct Table {
  static constexpr int indexBits = 12;
  static constexpr int numValues = 1 << indexBits;
  std::vector<std::byte> values;
  int64_t width = 1;
};

/// A piece of a tensor that one thread fills.
struct Chunk {
  std::byte *begin;
  int64_t bytes;
  const Table *table;
  uint64_t seed;
};

} // namespace

/// The number that a normally distributed one is below with this probability.
static double normalQuantile(double probability) {
  double low = -8, high = 8;
  for (int step = 0; step < 60; ++step) {
    double middle = (low + high) / 2;
    bool below = std::erfc(-middle / std::sqrt(2.0)) / 2 < probability;
    (below ? low : high) = middle;
  }
  return low;
}

/// The nearest code of e4m3, of the even ones where two are equally near; at
/// most 448 and never a NaN.
static uint8_t toFloat8(double value) {
  double magnitude = std::min(std::fabs(value), 448.0);
  int exponent = magnitude < 0x1p-6 ? -6 : std::ilogb(magnitude);
  // Units of the last place: a carry into the exponent is the right code.
  auto units =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));
  int code = exponent == -6 ? units : (exponent + 6) * 8 + units;
  return static_cast<uint8_t>(code | (value < 0 ? 0x80 : 0));
}

/// One value in the dtype, or nothing if weights of that dtype are not known.
static std::optional<std::vector<std::byte>> encode(double value, DType dtype) {
  auto number = static_cast<float>(value);
  auto bytesOf = [](auto bits) {
    const auto *begin = reinterpret_cast<const std::byte *>(&bits);
    return std::vector<std::byte>(begin, begin + sizeof(bits));
  };
  switch (dtype) {
  case DType::F8_E4M3:
    return bytesOf(toFloat8(value));
  case DType::BF16:
    return bytesOf(static_cast<uint16_t>(
        (std::bit_cast<uint32_t>(number) + 0x8000u) >> 16));
  case DType::F16:
    return bytesOf(static_cast<_Float16>(number));
  case DType::F32:
    return bytesOf(number);
  default:
    return std::nullopt;
  }
}

static Expected<Table> makeTable(Distribution distribution, DType dtype) {
  Table table;
  for (int index = 0; index < Table::numValues; ++index) {
    double quantile = normalQuantile((index + 0.5) / Table::numValues);
    auto value =
        encode(distribution.mean + distribution.deviation * quantile, dtype);
    if (!value)
      return Status::unsupported(concat(
          "random weights of dtype ", dtypeName(dtype), " are not supported"));
    table.width = static_cast<int64_t>(value->size());
    table.values.insert(table.values.end(), value->begin(), value->end());
  }
  return table;
}

/// The next number of a sequence (SplitMix64).
static uint64_t next(uint64_t &state) {
  uint64_t mixed = state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

template <typename Value> static void fillValues(const Chunk &chunk) {
  const std::byte *values = chunk.table->values.data();
  constexpr int perNumber = 64 / Table::indexBits;
  uint64_t state = chunk.seed;
  for (int64_t at = 0; at < chunk.bytes;) {
    uint64_t bits = next(state);
    for (int part = 0; part < perNumber && at < chunk.bytes; ++part) {
      std::size_t index = bits & (Table::numValues - 1);
      bits >>= Table::indexBits;
      std::memcpy(chunk.begin + at, values + index * sizeof(Value),
                  sizeof(Value));
      at += sizeof(Value);
    }
  }
}

static void fill(const Chunk &chunk) {
  if (chunk.table->width == 1)
    fillValues<uint8_t>(chunk);
  else if (chunk.table->width == 2)
    fillValues<uint16_t>(chunk);
  else
    fillValues<uint32_t>(chunk);
}

static int64_t bytesOf(const Manifest::TensorSpec &spec) {
  int64_t bits = dtypeBits(spec.dtype);
  for (int64_t size : spec.shape)
    bits *= size; // The manifest's reader has excluded an overflow.
  return bits / 8;
}

/// Gains of norms are about 1; other vectors are biases.
static Distribution distributionOf(const Manifest::Parameter &parameter) {
  const std::string &name = parameter.tensor.name;
  if (parameter.scale)
    return {0, codeDeviation};
  if (parameter.tensor.shape.size() > 1)
    return {0, weightDeviation};
  if (name.find("norm") != std::string::npos)
    return {1, 0.05};
  return {0, biasDeviation};
}

static constexpr Distribution scaleDistribution = {
    weightDeviation / codeDeviation, 0.1 * weightDeviation / codeDeviation};

namespace {

/// Places tensors one behind the other, then cuts them into chunks.
class Layout {
public:
  Layout(const Manifest &manifest, uint64_t seed)
      : manifest(manifest), seed(seed) {}

  /// Bytes of all tensors; nothing if they overflow.
  std::optional<int64_t> totalBytes() const {
    std::optional<int64_t> total = 0;
    for (const Manifest::Parameter &parameter : manifest.parameters)
      for (const Manifest::TensorSpec *spec : tensorsOf(parameter))
        if (total)
          total = checkedLinear(*total, copiesOf(parameter), spaceOf(*spec));
    return total;
  }

  /// Pointers into `memory`, and what to fill.
  Status place(std::byte *memory, std::vector<const void *> &pointers) {
    for (const Manifest::Parameter &parameter : manifest.parameters) {
      int64_t side = 0;
      for (const Manifest::TensorSpec *spec : tensorsOf(parameter)) {
        Expected<Table> table = makeTable(
            side ? scaleDistribution : distributionOf(parameter), spec->dtype);
        if (!table)
          return Status(table.status().code(),
                        inQuotes(spec->name) + ": " + table.status().message());
        tables.push_back(std::make_unique<Table>(*std::move(table)));
        for (int64_t copy = 0; copy < copiesOf(parameter); ++copy) {
          pointers[2 * (parameter.slot + copy) + side] = memory;
          addChunks(memory, bytesOf(*spec));
          memory += spaceOf(*spec);
        }
        ++side;
      }
    }
    return Status();
  }

  const std::vector<Chunk> &chunksToFill() const { return chunks; }

private:
  static int64_t copiesOf(const Manifest::Parameter &parameter) {
    return parameter.layers.count() * parameter.experts;
  }
  static int64_t spaceOf(const Manifest::TensorSpec &spec) {
    return ceilDivide(bytesOf(spec), alignment) * alignment;
  }
  static std::vector<const Manifest::TensorSpec *>
  tensorsOf(const Manifest::Parameter &parameter) {
    if (parameter.scale)
      return {&parameter.tensor, &*parameter.scale};
    return {&parameter.tensor};
  }
  void addChunks(std::byte *begin, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += chunkBytes)
      chunks.push_back({begin + at, std::min(chunkBytes, bytes - at),
                        tables.back().get(), next(seed)});
  }

  const Manifest &manifest;
  uint64_t seed;
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<Chunk> chunks;
};

} // namespace

static Status tooLarge(const Manifest &manifest, int64_t needed,
                       int64_t available) {
  return Status::outOfMemory(
      concat("random weights of ", inQuotes(manifest.model.name), " need ",
             needed, " bytes, ", available, " bytes of memory are available"));
}

Expected<std::unique_ptr<Weights>> Weights::makeRandom(const Manifest &manifest,
                                                       uint64_t seed) {
  Layout layout(manifest, seed);
  std::optional<int64_t> total = layout.totalBytes();
  if (!total)
    return Status::outOfMemory("the bytes of all weights overflow 63 bits");
  std::optional<int64_t> available = availableMemory();
  if (available && *total > *available)
    return tooLarge(manifest, *total, *available);
  Expected<Memory> memory =
      Memory::allocate(std::max<int64_t>(*total, 1), "random weights");
  if (!memory)
    return memory.status();
  madvise(memory->data(), static_cast<std::size_t>(memory->bytes()),
          MADV_HUGEPAGE); // A hint; without it all is right, too.
  std::unique_ptr<Weights> weights(new Weights(manifest, std::nullopt));
  weights->pointers.resize(2 * manifest.numSlots);
  weights->usedBytes = *total;
  weights->random = *std::move(memory);
  if (Status status = layout.place(weights->random.data(), weights->pointers);
      !status)
    return status;
  const std::vector<Chunk> &chunks = layout.chunksToFill();
#pragma omp parallel for schedule(dynamic)
  for (std::size_t index = 0; index < chunks.size(); ++index)
    fill(chunks[index]);
  return weights;
}
