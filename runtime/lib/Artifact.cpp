//===- Artifact.cpp - A compiled model ------------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifact.h"

#include "Cpu.h"
#include "Text.h"

#include <cstdio>
#include <dlfcn.h>
#include <xxhash.h>

using namespace moec::runtime;

void Artifact::LibraryCloser::operator()(void *handle) const {
  dlclose(handle);
}

static std::string hexadecimal(uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(value));
  return digits;
}

Status Artifact::checkFiles() const {
  for (const Manifest::File &expected : description.files) {
    std::filesystem::path path = root / expected.name;
    Expected<MappedFile> file = MappedFile::open(path);
    if (!file)
      return file.status();
    std::span<const std::byte> bytes = file->bytes();
    if (static_cast<int64_t>(bytes.size()) != expected.bytes)
      return Status::invalidFile(concat(path.string(), ": has ", bytes.size(),
                                        " bytes, the manifest says ",
                                        expected.bytes));
    uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
    if (hash != expected.xxh3)
      return Status::invalidFile(concat(
          path.string(), ": is damaged: its XXH3-64 is ", hexadecimal(hash),
          ", the manifest says ", hexadecimal(expected.xxh3)));
  }
  return Status();
}

Status Artifact::loadCode() {
  std::error_code error;
  std::filesystem::path path =
      std::filesystem::absolute(root / description.codeFile, error);
  if (error)
    return Status::invalidFile(
        concat(root.string(), ": no absolute path: ", error.message()));
  library.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library)
    return Status::invalidFile(
        concat(path.string(), ": cannot load: ", dlerror()));
  auto missing = [&](const char *what, const std::string &symbol,
                     const Manifest::Variant &variant) {
    return Status::invalidFile(concat(path.string(), ": has no ", what, " ",
                                      inQuotes(symbol), " of variant ",
                                      inQuotes(variant.name)));
  };
  for (const Manifest::Variant &variant : description.variants) {
    if (!dlsym(library.get(), variant.entry.c_str()))
      return missing("entry point", variant.entry, variant);
    if (!dlsym(library.get(), variant.probe.symbol.c_str()))
      return missing("probe", variant.probe.symbol, variant);
  }
  return Status();
}

Expected<std::unique_ptr<Artifact>>
Artifact::open(const std::filesystem::path &folder) {
  Expected<Manifest> manifest = readManifest(folder);
  if (!manifest)
    return manifest.status();
  Expected<std::vector<const Manifest::Variant *>> usable =
      usableVariants(manifest->variants, cpuFeatures());
  if (!usable)
    return Status(usable.status().code(),
                  folder.string() + ": " + usable.status().message());
  std::unique_ptr<Artifact> artifact(
      new Artifact(folder, *std::move(manifest)));
  if (Status status = artifact->checkFiles(); !status)
    return status;
  if (Status status = artifact->loadCode(); !status)
    return status;
  return artifact;
}

Artifact::Code Artifact::codeOf(const Manifest::Variant &variant) const {
  auto address = [&](const std::string &symbol) {
    return dlsym(library.get(), symbol.c_str());
  };
  return {&variant,
          reinterpret_cast<moec_step_function>(address(variant.entry)),
          reinterpret_cast<ProbeFunction>(address(variant.probe.symbol))};
}

std::vector<Artifact::Code> Artifact::usableCode() const {
  std::vector<Code> result;
  // open() has found one at least.
  auto usable = usableVariants(description.variants, cpuFeatures());
  for (const Manifest::Variant *variant : *usable)
    result.push_back(codeOf(*variant));
  return result;
}

void Artifact::choose() const {
  std::vector<Code> usable = usableCode();
  choice.variant = usable.front().variant;
  if (usable.size() == 1)
    return;
  for (const Code &code : usable)
    choice.rates.push_back(
        {code.variant, measureProbe(code.probe, code.variant->probe.macs)});
  choice.variant = fastest(choice.rates);
}

Expected<Artifact::Code> Artifact::code(std::string_view name) const {
  if (name.empty()) {
    std::call_once(choice.made, [this] { choose(); });
    return codeOf(*choice.variant);
  }
  Expected<std::vector<const Manifest::Variant *>> usable =
      usableVariants(description.variants, cpuFeatures(), name);
  if (!usable)
    return Status(usable.status().code(),
                  root.string() + ": " + usable.status().message());
  return codeOf(*usable->front());
}

moec_plan Artifact::plan() const {
  moec_plan plan;
  plan.num_layers = description.model.numLayers;
  plan.vocab_size = description.model.vocabSize;
  plan.max_context = description.model.maxPositions;
  plan.page_size = description.cache.pageSize;
  plan.cache_bytes_per_page =
      description.cache.bytesPerToken * description.cache.pageSize;
  plan.workspace_bytes_fixed = description.workspace.bytesFixed;
  plan.workspace_bytes_per_token = description.workspace.bytesPerToken;
  plan.tap_bytes_per_token = description.tapBytesPerToken();
  return plan;
}
