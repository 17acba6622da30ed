//===- Safetensors.cpp - One safetensors file -----------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"

#include "Checked.h"
#include "Json.h"
#include "JsonObject.h"
#include "Text.h"

#include <algorithm>
#include <array>

using namespace moec::runtime;

namespace {
struct DTypeEntry {
  DType dtype;
  const char *name;
  int64_t bits;
};
} // namespace

static constexpr std::array<DTypeEntry, 19> dtypeTable = {{
    {DType::BOOL, "BOOL", 8},       {DType::F4, "F4", 4},
    {DType::F6_E2M3, "F6_E2M3", 6}, {DType::F6_E3M2, "F6_E3M2", 6},
    {DType::U8, "U8", 8},           {DType::I8, "I8", 8},
    {DType::F8_E5M2, "F8_E5M2", 8}, {DType::F8_E4M3, "F8_E4M3", 8},
    {DType::F8_E8M0, "F8_E8M0", 8}, {DType::I16, "I16", 16},
    {DType::U16, "U16", 16},        {DType::F16, "F16", 16},
    {DType::BF16, "BF16", 16},      {DType::I32, "I32", 32},
    {DType::U32, "U32", 32},        {DType::F32, "F32", 32},
    {DType::I64, "I64", 64},        {DType::U64, "U64", 64},
    {DType::F64, "F64", 64},
}};

const char *moec::runtime::dtypeName(DType dtype) {
  return dtypeTable[static_cast<std::size_t>(dtype)].name;
}

int64_t moec::runtime::dtypeBits(DType dtype) {
  return dtypeTable[static_cast<std::size_t>(dtype)].bits;
}

std::optional<DType> moec::runtime::parseDType(std::string_view name) {
  for (const DTypeEntry &entry : dtypeTable)
    if (name == entry.name)
      return entry.dtype;
  return std::nullopt;
}

static constexpr uint64_t maxHeaderBytes = 100'000'000;
static constexpr uint64_t prefixBytes = 8;

/// The header's text, its size and its first and last bytes checked.
static Expected<std::string_view> headerText(std::span<const std::byte> bytes,
                                             const std::string &place) {
  if (bytes.size() < prefixBytes)
    return Status::invalidFile(concat(place, ": has ", bytes.size(),
                                      " bytes, too short for the 8 bytes of a "
                                      "safetensors header size"));
  uint64_t size = 0;
  for (uint64_t byte = 0; byte < prefixBytes; ++byte)
    size |= std::to_integer<uint64_t>(bytes[byte]) << (8 * byte);
  if (size > maxHeaderBytes)
    return Status::invalidFile(concat(place, ": header size ", size,
                                      ", expected at most ", maxHeaderBytes));
  if (size > bytes.size() - prefixBytes)
    return Status::invalidFile(concat(place, ": header size ", size,
                                      " goes beyond the file of ", bytes.size(),
                                      " bytes"));
  std::string_view text(
      reinterpret_cast<const char *>(bytes.data()) + prefixBytes, size);
  if (text.empty() || text.front() != '{')
    return Status::invalidFile(
        concat(place, ": header does not start with '{'"));
  std::size_t last = text.find_last_not_of(' ');
  if (text[last] != '}')
    return Status::invalidFile(
        concat(place, ": header does not end with '}' and spaces"));
  return text;
}

/// The bytes that a tensor of this dtype and shape takes.
static std::optional<int64_t> tensorBytes(DType dtype,
                                          const std::vector<int64_t> &shape) {
  // A zero among the sizes makes the tensor empty whatever the others are, but
  // the format's reader multiplies in order and refuses an overflow on the way.
  std::optional<int64_t> count = 1;
  for (int64_t size : shape)
    if (!(count = checkedMultiply(*count, size)))
      return std::nullopt;
  std::optional<int64_t> bits = checkedMultiply(*count, dtypeBits(dtype));
  if (!bits || *bits % 8 != 0)
    return std::nullopt;
  return *bits / 8;
}

static Expected<Tensor> parseTensor(const Json &json, const std::string &place,
                                    std::span<const std::byte> data) {
  JsonObject object(json, place);
  std::string dtypeText = object.text("dtype");
  Tensor tensor;
  tensor.shape = object.integers("shape");
  std::vector<int64_t> offsets = object.integers("data_offsets");
  if (!object.ok())
    return object.status();
  for (const std::string &key : object.keys())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      return Status::invalidFile(
          concat(place, ": unknown key ", inQuotes(key)));
  std::optional<DType> dtype = parseDType(dtypeText);
  if (!dtype)
    return Status::invalidFile(
        concat(place, ": unknown dtype ", inQuotes(dtypeText)));
  tensor.dtype = *dtype;
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return Status::invalidFile(
        concat(place, ": data_offsets ", shapeText(offsets),
               ", expected [begin, end] with begin <= end"));
  std::optional<int64_t> needed = tensorBytes(*dtype, tensor.shape);
  if (!needed)
    return Status::invalidFile(
        concat(place, ": shape ", shapeText(tensor.shape), " of ", dtypeText,
               " has no size in whole bytes within 63 bits"));
  if (offsets[1] - offsets[0] != *needed)
    return Status::invalidFile(
        concat(place, ": data_offsets ", shapeText(offsets), " span ",
               offsets[1] - offsets[0], " bytes, but shape ",
               shapeText(tensor.shape), " of ", dtypeText, " takes ", *needed));
  if (offsets[1] > static_cast<int64_t>(data.size()))
    return Status::invalidFile(concat(
        place, ": data_offsets ", shapeText(offsets),
        " go beyond the file, which has ", data.size(), " bytes of data"));
  tensor.begin = offsets[0];
  tensor.data = data.subspan(offsets[0], *needed);
  return tensor;
}

static Status checkMetadata(const Json &metadata, const std::string &place) {
  if (!metadata.is_object())
    return Status::invalidFile(
        concat(place, ": __metadata__: expected an object of texts"));
  for (const auto &entry : metadata.items())
    if (!entry.value().is_string())
      return Status::invalidFile(
          concat(place, ": __metadata__: ", inQuotes(entry.key()),
                 ": expected a text"));
  return Status();
}

/// Tensors must cover the data part without overlap or hole.
static Status checkCover(const TensorMap &tensors, std::size_t dataBytes,
                         const std::string &place) {
  std::vector<const TensorMap::value_type *> order;
  for (const TensorMap::value_type &entry : tensors)
    order.push_back(&entry);
  auto end = [](const Tensor &tensor) {
    return tensor.begin + static_cast<int64_t>(tensor.data.size());
  };
  std::sort(order.begin(), order.end(),
            [&](const auto *left, const auto *right) {
              return std::pair(left->second.begin, end(left->second)) <
                     std::pair(right->second.begin, end(right->second));
            });
  int64_t covered = 0;
  const std::string *previous = nullptr;
  for (const auto *entry : order) {
    const auto &[name, tensor] = *entry;
    if (tensor.begin < covered)
      return Status::invalidFile(
          concat(place, ": tensor ", inQuotes(name), " at data byte ",
                 tensor.begin, " overlaps tensor ", inQuotes(*previous),
                 ", which ends at ", covered));
    if (tensor.begin > covered)
      return Status::invalidFile(concat(
          place, ": hole in the data: bytes ", covered, " to ", tensor.begin,
          " before tensor ", inQuotes(name), " belong to no tensor"));
    covered = end(tensor);
    previous = &name;
  }
  if (covered != static_cast<int64_t>(dataBytes))
    return Status::invalidFile(
        concat(place, ": ", static_cast<int64_t>(dataBytes) - covered,
               " bytes after the last tensor: the data part has ", dataBytes,
               " bytes, the tensors cover ", covered));
  return Status();
}

Expected<TensorMap>
moec::runtime::parseSafetensors(std::span<const std::byte> bytes,
                                const std::string &place) {
  Expected<std::string_view> text = headerText(bytes, place);
  if (!text)
    return text.status();
  Expected<Json> header = parseJson(*text, place + ": header");
  if (!header)
    return header.status();
  std::span<const std::byte> data = bytes.subspan(prefixBytes + text->size());
  TensorMap tensors;
  for (const auto &entry : header->items()) {
    if (entry.key() == "__metadata__") {
      if (Status status = checkMetadata(entry.value(), place); !status)
        return status;
      continue;
    }
    Expected<Tensor> tensor = parseTensor(
        entry.value(), concat(place, ": tensor ", inQuotes(entry.key())), data);
    if (!tensor)
      return tensor.status();
    tensors.emplace(entry.key(), *std::move(tensor));
  }
  if (Status status = checkCover(tensors, data.size(), place); !status)
    return status;
  return tensors;
}

Expected<SafetensorsFile>
SafetensorsFile::open(const std::filesystem::path &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  Expected<TensorMap> tensors = parseSafetensors(file->bytes(), path.string());
  if (!tensors)
    return tensors.status();
  return SafetensorsFile(path, *std::move(file), *std::move(tensors));
}

const Tensor *SafetensorsFile::find(std::string_view name) const {
  auto position = entries.find(name);
  return position == entries.end() ? nullptr : &position->second;
}
