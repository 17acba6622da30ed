//===- TestFiles.cpp - Files that tests write -----------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <xxhash.h>

using namespace moec::runtime;

TempFolder::TempFolder() {
  std::string pattern = ::testing::TempDir() + "/moec-XXXXXX";
  if (!mkdtemp(pattern.data()))
    throw std::runtime_error("no temporary folder " + pattern);
  folder = pattern;
}

TempFolder::~TempFolder() {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
}

void moec::runtime::writeFile(const std::filesystem::path &path,
                              std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush())
    throw std::runtime_error("cannot write " + path.string());
}

std::string moec::runtime::safetensors(const std::string &header,
                                       const std::string &data) {
  std::string bytes;
  for (uint64_t size = header.size(), byte = 0; byte < 8; ++byte, size >>= 8)
    bytes += static_cast<char>(size & 0xff);
  return bytes + header + data;
}

std::string
moec::runtime::safetensors(const std::vector<NamedTensor> &tensors) {
  Json header = Json::object();
  std::string data;
  for (const NamedTensor &tensor : tensors) {
    std::size_t begin = data.size();
    data += tensor.bytes;
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, data.size()}}};
  }
  return safetensors(header.dump(), data);
}

Json moec::runtime::standInManifest() {
  return Json::parse(R"({
    "format": "moec-artifact", "version": 1, "producer": "a test",
    "target": "cpu", "activations": "f32", "attention": "absorbed",
    "model": {
      "name": "stand-in", "model_type": "kimi_k2", "hidden_size": 4,
      "num_hidden_layers": 2, "vocab_size": 10, "max_position_embeddings": 64,
      "num_attention_heads": 1, "kv_lora_rank": 1, "qk_rope_head_dim": 2,
      "n_routed_experts": 2, "num_experts_per_tok": 1},
    "code": {"file": "code.so", "abi": 1, "variants": [
      {"name": "plain", "entry": "stand_in_step", "features": [],
       "probe": {"symbol": "stand_in_probe", "macs": 8}},
      {"name": "future", "entry": "stand_in_step",
       "features": ["avx2", "no-such-feature"],
       "probe": {"symbol": "stand_in_probe", "macs": 8}}]},
    "parameters": [
      {"name": "embed.weight", "slot": 0, "dtype": "BF16", "shape": [10, 4],
       "storage": "mapped"},
      {"name": "layers.{layer}.norm.weight", "slot": 1, "layers": [0, 2],
       "dtype": "F32", "shape": [4], "storage": "widened"},
      {"name": "layers.{layer}.experts.{expert}.weight", "slot": 3,
       "layers": [0, 2], "experts": 2, "dtype": "F8_E4M3", "shape": [2, 3],
       "storage": "mapped",
       "scale": {"name": "layers.{layer}.experts.{expert}.weight_scale_inv",
                 "dtype": "F32", "shape": [1, 1]}}],
    "num_slots": 7,
    "left_out": [{"prefix": "layers.2.", "reason": "a test"}],
    "cache": {"dtype": "F32", "layers": 2, "page_size": 4, "width": 1,
              "bytes_per_token": 8},
    "workspace": {"bytes_fixed": 64, "bytes_per_token": 16},
    "tokenizer": {"kind": "tiktoken", "files": ["tiktoken.model"]},
    "generation": {"bos_token_id": 1, "eos_token_ids": [9]},
    "cost": [
      {"kernel": "linear", "name": "layers.{layer}.norm.weight", "layers": 2,
       "rows": "tokens", "weight_bytes": 100, "experts": 0,
       "weight_bytes_per_expert": 0, "flops_per_row": 10,
       "activation_bytes_per_row": 3, "flops_per_row_and_position": 7,
       "cache_bytes_per_row_and_position": 4},
      {"kernel": "grouped_linear",
       "name": "layers.{layer}.experts.{expert}.weight", "layers": 2,
       "rows": "pairs", "weight_bytes": 0, "experts": 2,
       "weight_bytes_per_expert": 6, "flops_per_row": 12,
       "activation_bytes_per_row": 5, "flops_per_row_and_position": 0,
       "cache_bytes_per_row_and_position": 0},
      {"kernel": "linear", "name": "embed.weight", "layers": 1,
       "rows": "logits", "weight_bytes": 80, "experts": 0,
       "weight_bytes_per_expert": 0, "flops_per_row": 80,
       "activation_bytes_per_row": 2, "flops_per_row_and_position": 0,
       "cache_bytes_per_row_and_position": 0}],
    "files": {"code.so": {"bytes": 1, "xxh3_64": "0123456789abcdef"}}
  })");
}

Json moec::runtime::standInManifestWithTaps() {
  Json manifest = standInManifest();
  manifest["taps"] = Json::parse(
      R"([{"name": "input", "offset": 0, "width": 2, "dtype": "I32"}])");
  return manifest;
}

std::vector<NamedTensor> moec::runtime::standInTensors() {
  std::vector<NamedTensor> tensors = {
      {"embed.weight", "BF16", {10, 4}, std::string(80, '\x3f')}};
  for (int layer = 0; layer < 2; ++layer) {
    std::string prefix = "layers." + std::to_string(layer) + ".";
    tensors.push_back({prefix + "norm.weight",
                       "F32",
                       {4},
                       bytesOf<float>({1, 2, 3, layer + 0.5f})});
    for (int expert = 0; expert < 2; ++expert) {
      std::string name =
          prefix + "experts." + std::to_string(expert) + ".weight";
      tensors.push_back({name, "F8_E4M3", {2, 3}, std::string(6, '\x38')});
      tensors.push_back({name + "_scale_inv",
                         "F32",
                         {1, 1},
                         bytesOf<float>({10.0f * layer + expert})});
    }
  }
  return tensors;
}

void moec::runtime::writeArtifact(const std::filesystem::path &folder,
                                  Json manifest) {
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(MOEC_STAND_IN_CODE, folder / "code.so");
  Expected<MappedFile> code = MappedFile::open(folder / "code.so");
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx",
                static_cast<unsigned long long>(
                    XXH3_64bits(code->bytes().data(), code->bytes().size())));
  manifest["files"]["code.so"] = {{"bytes", code->bytes().size()},
                                  {"xxh3_64", hash}};
  writeFile(folder / "manifest.json", manifest.dump(1));
}

StandIn::StandIn(const Json &manifest) {
  writeArtifact(folder / "stand-in.moec", manifest);
  writeFile(folder / "model.safetensors", safetensors(standInTensors()));
  Expected<std::unique_ptr<Artifact>> opened =
      Artifact::open(folder / "stand-in.moec");
  if (!opened)
    throw std::runtime_error(opened.status().message());
  artifact = *std::move(opened);
  Expected<std::unique_ptr<Weights>> mapped =
      Weights::open(artifact->manifest(), folder.path());
  if (!mapped)
    throw std::runtime_error(mapped.status().message());
  weights = *std::move(mapped);
}

void *StandIn::address(const char *name) const {
  std::filesystem::path code = folder / "stand-in.moec/code.so";
  void *handle = dlopen(code.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void *found = handle ? dlsym(handle, name) : nullptr;
  if (!found)
    throw std::runtime_error(std::string("the code has no ") + name);
  dlclose(handle);
  return found;
}
