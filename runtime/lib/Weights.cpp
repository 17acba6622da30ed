//===- Weights.cpp - A checkpoint as an artifact reads it -----------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weights.h"

#include "AvailableMemory.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace moec::runtime;

static float widenHalf(uint16_t bits) {
  int exponent = bits >> 10 & 0x1f;
  int mantissa = bits & 0x3ff;
  float magnitude;
  if (exponent == 0x1f)
    magnitude = mantissa ? std::bit_cast<float>(0x7fc00000u) : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  else
    magnitude = std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

std::unique_ptr<float[]> moec::runtime::widenToFloat(const Tensor &tensor) {
  const std::byte *source = tensor.data.data();
  std::size_t width = dtypeBits(tensor.dtype) / 8;
  std::size_t count = tensor.data.size() / width;
  auto values = std::make_unique<float[]>(count);
  if (tensor.dtype == DType::F32) {
    if (count > 0)
      std::memcpy(values.get(), source, tensor.data.size());
    return values;
  }
  for (std::size_t index = 0; index < count; ++index) {
    uint16_t bits;
    std::memcpy(&bits, source + 2 * index, sizeof(bits));
    values[index] = tensor.dtype == DType::BF16
                        ? std::bit_cast<float>(uint32_t(bits) << 16)
                        : widenHalf(bits);
  }
  return values;
}

static bool canWiden(DType dtype) {
  return dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16;
}

/// What explains a dtype that is not the expected one, if anything does.
static const char *dtypeHint(DType found, DType expected) {
  if (found == DType::F8_E4M3 && expected != DType::F8_E4M3)
    return " (the config.json that was compiled had no quantization_config; "
           "compile the one that lies beside this checkpoint)";
  if (found != DType::F8_E4M3 && expected == DType::F8_E4M3)
    return " (the config.json that was compiled had a quantization_config, "
           "this checkpoint is not quantised that way)";
  return "";
}

/// The tensor of the checkpoint if it is what `spec` says, else null and a
/// finding.
static const Tensor *match(const Checkpoint &files,
                           const Manifest::TensorSpec &spec,
                           const std::string &name, bool widened,
                           Findings &findings) {
  Expected<Checkpoint::Found> found = files.find(name);
  if (!found) {
    findings.add(found.status().message());
    return nullptr;
  }
  const Tensor &tensor = *found->tensor;
  bool rightType =
      widened ? canWiden(tensor.dtype) : tensor.dtype == spec.dtype;
  if (rightType && tensor.shape == spec.shape)
    return &tensor;
  findings.add(concat(
      inQuotes(name), " in ", found->file->path().filename().string(), " is ",
      dtypeName(tensor.dtype), " ", shapeText(tensor.shape), ", expected ",
      widened ? "F32, BF16 or F16" : dtypeName(spec.dtype), " ",
      shapeText(spec.shape),
      rightType ? "" : dtypeHint(tensor.dtype, spec.dtype)));
  return nullptr;
}

void Weights::bind(const Manifest::Parameter &parameter, int64_t layer,
                   int64_t expert, Findings &findings) {
  int64_t slot = parameter.slot +
                 (layer - parameter.layers.begin) * parameter.experts + expert;
  std::string name = expandName(parameter.tensor.name, layer, expert);
  if (const Tensor *payload =
          match(*files, parameter.tensor, name, parameter.widened, findings)) {
    usedBytes += static_cast<int64_t>(payload->data.size());
    pointers[2 * slot] = payload->data.data();
    if (parameter.widened) {
      widened.push_back(widenToFloat(*payload));
      pointers[2 * slot] = widened.back().get();
    }
  }
  if (!parameter.scale)
    return;
  name = expandName(parameter.scale->name, layer, expert);
  if (const Tensor *scale =
          match(*files, *parameter.scale, name, /*widened=*/false, findings)) {
    usedBytes += static_cast<int64_t>(scale->data.size());
    pointers[2 * slot + 1] = scale->data.data();
  }
}

/// Reading ahead pays while the files stay in memory; a checkpoint larger than
/// that would only push out its own first pages.
static bool fitsInMemory(int64_t bytes) {
  return bytes < availableMemory().value_or(0);
}

Expected<std::unique_ptr<Weights>>
Weights::open(const Manifest &manifest, const std::filesystem::path &folder) {
  Expected<Checkpoint> files = Checkpoint::open(folder);
  if (!files)
    return files.status();
  std::unique_ptr<Weights> weights(new Weights(manifest, *std::move(files)));
  weights->pointers.resize(2 * manifest.numSlots);
  Findings findings;
  for (const Manifest::Parameter &parameter : manifest.parameters)
    for (int64_t layer = parameter.layers.begin; layer < parameter.layers.end;
         ++layer)
      for (int64_t expert = 0; expert < parameter.experts; ++expert)
        weights->bind(parameter, layer, expert, findings);
  if (!findings.empty())
    return Status::invalidFile(concat(folder.string(), ": ", findings.count(),
                                      " tensors do not fit the artifact of ",
                                      inQuotes(manifest.model.name), ":",
                                      findings.text()));
  if (fitsInMemory(weights->files->bytes()))
    weights->files->readAhead();
  return weights;
}
