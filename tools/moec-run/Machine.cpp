//===- Machine.cpp - What this machine can do at most ---------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "AvailableMemory.h"
#include "Memory.h"
#include "Model.h"
#include "Parallel.h"
#include "Text.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace moec::run;
using namespace moec::runtime;

static constexpr int64_t leastBytes = int64_t(1) << 30;
static constexpr int64_t blockBytes = int64_t(1) << 21;
static constexpr int numPasses = 6;

namespace {

using Words = uint64_t __attribute__((vector_size(64)));

struct Reading {
  const std::byte *memory;
  std::atomic<uint64_t> sum{0};
};

} // namespace

/// Wide loads where the CPU has them; several sums, so that none waits.
__attribute__((target_clones("avx512f", "avx2", "default"))) static uint64_t
sumBlocks(const std::byte *memory, int64_t bytes) {
  const auto *words = reinterpret_cast<const Words *>(memory);
  Words sums[4] = {};
  for (int64_t index = 0; index < bytes / int64_t(sizeof(Words)); index += 4)
    for (int part = 0; part < 4; ++part)
      sums[part] += words[index + part];
  Words all = sums[0] + sums[1] + sums[2] + sums[3];
  uint64_t sum = 0;
  for (int lane = 0; lane < 8; ++lane)
    sum += all[lane];
  return sum;
}

static void readBlocks(void *env, int64_t begin, int64_t end) {
  auto &reading = *static_cast<Reading *>(env);
  reading.sum += sumBlocks(reading.memory + begin * blockBytes,
                           (end - begin) * blockBytes);
}

static void writeBlocks(void *env, int64_t begin, int64_t end) {
  auto *memory = static_cast<std::byte *>(env);
  std::fill(memory + begin * blockBytes, memory + end * blockBytes,
            std::byte(1));
}

/// Far more than the caches hold.
static int64_t bytesToRead() {
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  int64_t bytes = std::max<int64_t>(leastBytes, 4 * std::max(cache, 0L));
  return bytes / blockBytes * blockBytes;
}

static Expected<double> measureRead(int threads) {
  int64_t bytes = bytesToRead();
  std::optional<int64_t> available = availableMemory();
  if (available && bytes > *available)
    return Status::outOfMemory(concat("measuring the read bandwidth takes ",
                                      bytes, " bytes of memory, ", *available,
                                      " bytes are available"));
  Expected<Memory> memory = Memory::allocate(bytes, "read bandwidth");
  if (!memory)
    return memory.status();
  madvise(memory->data(), static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
  moec_parallel parallel = openMPParallel(threads);
  int64_t blocks = bytes / blockBytes;
  // Each thread writes, and so places, what it reads.
  parallel.run(parallel.user, blocks, writeBlocks, memory->data());
  Reading reading{memory->data()};
  double best = 0;
  for (int pass = 0; pass < numPasses; ++pass) {
    reading.sum = 0;
    double start = now();
    parallel.run(parallel.user, blocks, readBlocks, &reading);
    double seconds = now() - start;
    if (reading.sum != static_cast<uint64_t>(bytes / 8) * 0x0101010101010101u)
      return Status::outOfMemory("memory does not hold what was written to it");
    best = std::max(best, static_cast<double>(bytes) / seconds);
  }
  return best;
}

Expected<MachineRates> moec::run::measureMachine(const Artifact &artifact,
                                                 int threads) {
  Expected<double> read = measureRead(threads);
  if (!read)
    return read.status();
  MachineRates rates{threads, *read, 0, ""};
  for (const Artifact::Code &code : artifact.usableCode()) {
    double rate = measureProbe(code.probe, code.variant->probe.macs, threads);
    if (rate > rates.macsPerSecond) {
      rates.macsPerSecond = rate;
      rates.peakVariant = code.variant->name;
    }
  }
  return rates;
}

std::string moec::run::cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (std::size_t colon = line.find(": ");
        line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown";
}

int moec::run::numCpus() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    return CPU_COUNT(&allowed);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}
