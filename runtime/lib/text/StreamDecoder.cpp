//===- StreamDecoder.cpp - Text from token ids as they come ---------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text/StreamDecoder.h"

#include "text/Utf8.h"

using namespace moec::runtime;

std::string StreamDecoder::push(int32_t id) {
  pending += tokenizer.bytes(id);
  std::string_view rest = pending;
  std::string out;
  while (!rest.empty()) {
    Utf8Step step = nextUtf8(rest);
    if (step.kind == Utf8Step::Unfinished)
      break;
    if (step.kind == Utf8Step::Character)
      out += rest.substr(0, step.length);
    else
      appendUtf8(out, U'\uFFFD');
    rest.remove_prefix(step.length);
  }
  pending = std::string(rest);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = replaceInvalidUtf8(pending);
  pending.clear();
  return out;
}
