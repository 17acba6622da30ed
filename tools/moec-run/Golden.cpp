//===- Golden.cpp - Reference values of a model ---------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"

#include "Text.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace moec::run;
using namespace moec::runtime;

float Rows::real(int64_t index) const {
  return std::bit_cast<float>(bits[index]);
}

int32_t Rows::integer(int64_t index) const {
  return std::bit_cast<int32_t>(bits[index]);
}

static Expected<Rows> readRows(const SafetensorsFile &file,
                               const std::string &name, std::size_t rank,
                               int64_t count) {
  std::string place = concat(file.path().string(), ": ", inQuotes(name));
  const Tensor *tensor = file.find(name);
  if (!tensor)
    return Status::invalidFile(place + " is missing");
  if (tensor->dtype != DType::F32 && tensor->dtype != DType::I32)
    return Status::invalidFile(concat(place, " is ", dtypeName(tensor->dtype),
                                      ", expected F32 or I32"));
  bool fits = tensor->shape.size() == rank &&
              (count < 0 || tensor->shape[0] == count) && !tensor->data.empty();
  if (!fits)
    return Status::invalidFile(
        concat(place, " has shape ", shapeText(tensor->shape), ", expected [",
               count < 0 ? "1 or more" : std::to_string(count),
               rank == 2 ? ", width]" : "]"));
  Rows rows;
  rows.dtype = tensor->dtype;
  rows.width = rank == 2 ? tensor->shape[1] : 1;
  rows.bits.resize(tensor->data.size() / sizeof(uint32_t));
  std::memcpy(rows.bits.data(), tensor->data.data(), tensor->data.size());
  return rows;
}

static Expected<std::vector<int32_t>> readIds(const SafetensorsFile &file,
                                              const std::string &name) {
  Expected<Rows> rows = readRows(file, name, /*rank=*/1, /*count=*/-1);
  if (!rows)
    return rows.status();
  if (rows->dtype != DType::I32)
    return Status::invalidFile(concat(file.path().string(), ": ",
                                      inQuotes(name), " is F32, expected I32"));
  std::vector<int32_t> ids;
  for (uint32_t bits : rows->bits)
    ids.push_back(std::bit_cast<int32_t>(bits));
  return ids;
}

/// Names in the order of a model: numbers within them count as numbers.
static bool comesBefore(const std::string &left, const std::string &right) {
  auto key = [](const std::string &name) {
    std::size_t digits = name.find_first_of("0123456789");
    if (digits == std::string::npos)
      return std::tuple(name, std::size_t(0), std::string());
    std::size_t end = name.find_first_not_of("0123456789", digits);
    std::string number =
        name.substr(digits, end == std::string::npos ? end : end - digits);
    return std::tuple(name.substr(0, digits), number.size(),
                      number +
                          (end == std::string::npos ? "" : name.substr(end)));
  };
  return key(left) < key(right);
}

static Status readGreedy(const SafetensorsFile &file, Golden &golden) {
  if (!file.find("greedy_ids"))
    return Status();
  Expected<std::vector<int32_t>> ids = readIds(file, "greedy_ids");
  if (!ids)
    return ids.status();
  Expected<Rows> logits = readRows(file, "greedy_logits", /*rank=*/2,
                                   static_cast<int64_t>(ids->size()));
  if (!logits)
    return logits.status();
  golden.greedyIds = *std::move(ids);
  golden.greedyLogits = *std::move(logits);
  return Status();
}

Expected<Golden> moec::run::readGolden(const std::string &path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  Golden golden;
  Expected<std::vector<int32_t>> ids = readIds(*file, "input_ids");
  if (!ids)
    return ids.status();
  golden.inputIds = *std::move(ids);
  auto numTokens = static_cast<int64_t>(golden.inputIds.size());
  for (const auto &[name, tensor] : file->tensors()) {
    if (name == "input_ids" || name == "greedy_ids" || name == "greedy_logits")
      continue;
    Expected<Rows> rows = readRows(*file, name, /*rank=*/2, numTokens);
    if (!rows)
      return rows.status();
    if (name == "logits")
      golden.logits = *std::move(rows);
    else
      golden.taps.emplace_back(name, *std::move(rows));
  }
  std::sort(golden.taps.begin(), golden.taps.end(),
            [](const auto &left, const auto &right) {
              return comesBefore(left.first, right.first);
            });
  if (Status status = readGreedy(*file, golden); !status)
    return status;
  return golden;
}
