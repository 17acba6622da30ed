//===- SplitReader.h - The pre-tokenizer of tokenizer.json ------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_RUNTIME_LIB_TEXT_SPLITREADER_H
#define MOEC_RUNTIME_LIB_TEXT_SPLITREADER_H

#include "text/JsonCursor.h"

namespace moec::runtime {

/// Reads the components Sequence, Split, Digits and ByteLevel, the last of
/// which is ByteLevel; throws for all others by name. A normalizer is refused
/// unless it does nothing.
Splitter readSplitter(const JsonCursor &normalizer,
                      const JsonCursor &preTokenizer);

} // namespace moec::runtime

#endif // MOEC_RUNTIME_LIB_TEXT_SPLITREADER_H
