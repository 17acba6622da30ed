//===- ModelingScan.cpp - Classes of a Python modelling file --------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python is not parsed: a class begins with `class NAME` at the left edge and
// ends before the next line that begins there, lines within triple quotes and
// comments left aside.
//
//===----------------------------------------------------------------------===//

#include "moec/Import/ModelConfig.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace moec;
using llvm::StringRef;

namespace {

struct ClassLines {
  StringRef name;
  unsigned begin;
  unsigned end;
  /// Length of the last line.
  unsigned endColumn;
};

/// Knows for each line whether it begins inside a triple-quoted string.
class StringTracker {
public:
  bool isInside() const { return !quote.empty(); }

  void read(StringRef line) {
    while (!line.empty()) {
      if (isInside()) {
        auto [before, after] = line.split(quote);
        if (before.size() == line.size())
          return;
        quote = "";
        line = after;
        continue;
      }
      size_t comment = line.find('#');
      size_t opening = std::min(line.find("\"\"\""), line.find("'''"));
      if (opening == StringRef::npos || comment < opening)
        return;
      quote = line.substr(opening, 3);
      line = line.drop_front(opening + 3);
    }
  }

private:
  StringRef quote;
};

} // namespace

static StringRef classNameOf(StringRef line) {
  if (!line.consume_front("class "))
    return "";
  line = line.ltrim();
  return line.take_while(
      [](char letter) { return llvm::isAlnum(letter) || letter == '_'; });
}

static std::vector<ClassLines> findClasses(StringRef text) {
  std::vector<ClassLines> classes;
  bool isOpen = false;
  StringTracker strings;
  for (unsigned number = 1; !text.empty(); ++number) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    bool beginsInString = strings.isInside();
    strings.read(line);
    StringRef contents = line.rtrim();
    if (contents.empty())
      continue;
    bool isAtEdge =
        !beginsInString && !llvm::isSpace(line.front()) && line.front() != '#';
    if (isAtEdge && !contents.starts_with(")")) {
      StringRef name = classNameOf(line);
      isOpen = !name.empty();
      if (isOpen)
        classes.push_back({name, number, number, 0});
    }
    if (isOpen && (isAtEdge || line.front() != '#')) {
      classes.back().end = number;
      classes.back().endColumn = contents.size() + 1;
    }
  }
  return classes;
}

/// The class of the part: the family's own name first, then the bare one, then
/// any that ends so.
static const ClassLines *chooseClass(llvm::ArrayRef<ClassLines> classes,
                                     StringRef prefix, StringRef part) {
  const ClassLines *best = nullptr;
  unsigned bestRank = 3;
  for (const ClassLines &candidate : classes) {
    if (!candidate.name.ends_with(part))
      continue;
    StringRef front = candidate.name.drop_back(part.size());
    unsigned rank = front == prefix ? 0 : front.empty() ? 1 : 2;
    if (rank < bestRank) {
      best = &candidate;
      bestRank = rank;
    }
  }
  return best;
}

void moec::scanModelingFile(mlir::MLIRContext *context,
                            llvm::MemoryBufferRef text, StringRef classPrefix,
                            llvm::StringMap<ModelingClass> &classes) {
  std::vector<ClassLines> found = findClasses(text.getBuffer());
  for (StringRef part : {"RMSNorm", "RotaryEmbedding", "MoEGate", "MoE", "MLP",
                         "Attention", "DecoderLayer", "Model", "ForCausalLM"}) {
    const ClassLines *lines = chooseClass(found, classPrefix, part);
    if (!lines || classes.contains(part))
      continue;
    auto name = mlir::StringAttr::get(context, text.getBufferIdentifier());
    auto loc = mlir::FileLineColRange::get(name, lines->begin, 1, lines->end,
                                           lines->endColumn);
    classes.try_emplace(part, ModelingClass{lines->name.str(), loc});
  }
}
