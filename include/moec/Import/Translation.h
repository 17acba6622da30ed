//===- Translation.h - config.json as a translation -------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_IMPORT_TRANSLATION_H
#define MOEC_IMPORT_TRANSLATION_H

namespace moec {

/// Registers `--import-config`, which reads a config.json (or standard input)
/// and gives the model in the transformer dialect, for use with
/// mlirTranslateMain. Its options are `--import-activations` and
/// `--import-taps`.
void registerImportConfigTranslation();

} // namespace moec

#endif // MOEC_IMPORT_TRANSLATION_H
