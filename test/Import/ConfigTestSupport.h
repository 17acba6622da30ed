//===- ConfigTestSupport.h - Reading configurations in tests ----*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TEST_IMPORT_CONFIGTESTSUPPORT_H
#define MOEC_TEST_IMPORT_CONFIGTESTSUPPORT_H

#include "moec/Import/ModelConfig.h"

#include <optional>
#include <string>
#include <vector>

namespace moec::test {

struct Edit {
  std::string from;
  std::string to;
};

/// A small configuration of Kimi-K2's form, with FP8 weights, after `edits`.
/// Each edit's `from` must stand in the text exactly once.
std::string smallConfig(const std::vector<Edit> &edits = {});

/// What reading a text gave. Messages are "LINE:COLUMN: SEVERITY: MESSAGE",
/// notes included.
struct Reading {
  std::optional<ModelConfig> config;
  std::vector<std::string> messages;

  /// The messages, one on a line, for assertions.
  std::string all() const;
  bool has(llvm::StringRef fragment) const;
};

class Reader {
public:
  Reader();
  Reading parse(const std::string &config,
                std::optional<std::string> generation = std::nullopt,
                std::optional<std::string> hfQuant = std::nullopt);
  /// Of a file or folder under test/models.
  Reading read(llvm::StringRef path);

  mlir::MLIRContext context;
};

} // namespace moec::test

#endif // MOEC_TEST_IMPORT_CONFIGTESTSUPPORT_H
