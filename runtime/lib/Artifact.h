//===- Artifact.h - A compiled model ----------------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_ARTIFACT_H
#define MOEC_RUNTIME_LIB_ARTIFACT_H

#include "Manifest.h"

#include <memory>

namespace moec::runtime {

/// An open folder NAME.moec: its manifest checked, its files' hashes compared,
/// its code loaded. Code is loaded only after all else has been checked.
class Artifact {
public:
  static Expected<std::unique_ptr<Artifact>>
  open(const std::filesystem::path &folder);

  const Manifest &manifest() const { return description; }
  const std::filesystem::path &folder() const { return root; }
  moec_plan plan() const;

  struct Code {
    const Manifest::Variant *variant;
    moec_step_function step;
  };
  /// The code of a variant by name; empty: the best for this CPU.
  Expected<Code> code(std::string_view variant = {}) const;

private:
  struct LibraryCloser {
    void operator()(void *handle) const;
  };

  Artifact(std::filesystem::path folder, Manifest manifest)
      : root(std::move(folder)), description(std::move(manifest)) {}
  Status checkFiles() const;
  Status loadCode();

  std::filesystem::path root;
  Manifest description;
  std::unique_ptr<void, LibraryCloser> library;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_ARTIFACT_H
