//===- Artifact.h - A compiled model ----------------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_ARTIFACT_H
#define MOEC_RUNTIME_LIB_ARTIFACT_H

#include "VariantChoice.h"

#include <memory>
#include <mutex>

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
    ProbeFunction probe;
  };
  /// The code of a variant by name; empty: the fastest on this CPU. That is
  /// measured once, at the first call, for results of variants may differ in
  /// rounding.
  Expected<Code> code(std::string_view variant = {}) const;
  /// The variants that this CPU can run.
  std::vector<Code> usableCode() const;
  /// What was measured for the choice; empty if there was nothing to choose,
  /// or not yet.
  std::span<const VariantRate> variantRates() const { return choice.rates; }

private:
  struct LibraryCloser {
    void operator()(void *handle) const;
  };

  Artifact(std::filesystem::path folder, Manifest manifest)
      : root(std::move(folder)), description(std::move(manifest)) {}
  Status checkFiles() const;
  Status loadCode();
  Code codeOf(const Manifest::Variant &variant) const;
  void choose() const;

  struct Choice {
    std::once_flag made;
    std::vector<VariantRate> rates;
    const Manifest::Variant *variant = nullptr;
  };

  std::filesystem::path root;
  Manifest description;
  std::unique_ptr<void, LibraryCloser> library;
  mutable Choice choice;
};

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_ARTIFACT_H
