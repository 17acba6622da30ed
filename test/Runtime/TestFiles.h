//===- TestFiles.h - Files that tests write ---------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TEST_RUNTIME_TESTFILES_H
#define MOEC_TEST_RUNTIME_TESTFILES_H

#include "Artifact.h"
#include "Json.h"
#include "Weights.h"

#include <filesystem>
#include <string>
#include <vector>

namespace moec::runtime {

/// A folder that lives as long as this object.
class TempFolder {
public:
  TempFolder();
  TempFolder(const TempFolder &) = delete;
  TempFolder &operator=(const TempFolder &) = delete;
  ~TempFolder();

  const std::filesystem::path &path() const { return folder; }
  std::filesystem::path operator/(const std::string &name) const {
    return folder / name;
  }

private:
  std::filesystem::path folder;
};

void writeFile(const std::filesystem::path &path, std::string_view bytes);

/// The bytes of a file with this header, its size before it.
std::string safetensors(const std::string &header,
                        const std::string &data = {});

/// A tensor by its bytes.
struct NamedTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

/// The bytes of a valid file with these tensors in this order.
std::string safetensors(const std::vector<NamedTensor> &tensors);

/// The bytes of a value.
template <typename T> std::string bytesOf(std::initializer_list<T> values) {
  return {reinterpret_cast<const char *>(values.begin()),
          values.size() * sizeof(T)};
}

/// The manifest of the stand-in's artifact: 10 ids, 2 layers, 64 positions,
/// pages of 4 tokens, a workspace of 64 + N x 16 bytes, parameters of each
/// kind.
Json standInManifest();
/// The same, as if compiled with --taps.
Json standInManifestWithTaps();

/// Tensors that fit the stand-in's manifest.
std::vector<NamedTensor> standInTensors();

/// Writes the stand-in's code and `manifest` into a folder; the hash of the
/// code is filled in.
void writeArtifact(const std::filesystem::path &folder, Json manifest);

/// An open artifact with weights, in a folder of its own.
struct StandIn {
  explicit StandIn(const Json &manifest = standInManifest());

  /// A variable of the loaded code by its name.
  template <typename T> T &variable(const char *name) const {
    return *static_cast<T *>(address(name));
  }

  TempFolder folder;
  std::unique_ptr<Artifact> artifact;
  std::unique_ptr<Weights> weights;

private:
  void *address(const char *name) const;
};

} // namespace moec::runtime

#endif // MOEC_TEST_RUNTIME_TESTFILES_H
