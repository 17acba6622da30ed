//===- FamilyTable.h - Which models there are -------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What moec knows about models by their names: members of the family and what
// their keys mean when absent, wrappers that hold a member as their text
// model, and models that look alike but are refused.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_IMPORT_FAMILYTABLE_H
#define MOEC_LIB_IMPORT_FAMILYTABLE_H

#include "moec/Import/ModelConfig.h"

#include "llvm/ADT/ArrayRef.h"

namespace moec {

/// A member. The values are what the vendor's configuration class takes where
/// a key is absent.
struct Family {
  llvm::StringRef architecture;
  llvm::ArrayRef<llvm::StringRef> modelTypes;
  /// What its classes in a modelling file begin with.
  llvm::StringRef classPrefix;
  /// Has no routed experts, so the keys about them may be absent.
  bool isDense;
  ScoringFunc scoringFunc;
  TopkMethod topkMethod;
  bool normTopkProb;
  bool tieWordEmbeddings;
  /// Of rope_theta; none where the key must be there.
  std::optional<double> ropeTheta;
};

/// A model whose text part is a member in a nested object.
struct Wrapper {
  llvm::StringRef architecture;
  llvm::StringRef modelType;
  llvm::StringRef tensorPrefix;
  /// Prefixes of the tensors of its other parts.
  llvm::ArrayRef<llvm::StringRef> otherParts;
};

/// A model that is refused. A name that ends in '*' stands for all that begin
/// so.
struct Refusal {
  llvm::StringRef architecture;
  llvm::StringRef modelType;
  /// It belongs to the family, but moec can't compile it yet.
  bool isMember;
  llvm::StringRef reason;
};

/// A key whose value asks for a computation that moec does not have.
struct UnsupportedKey {
  enum class When { Set, True };
  llvm::StringRef key;
  When when;
  llvm::StringRef reason;
};

/// `name` is an architecture or a model_type; null if it isn't in the table.
const Family *findFamily(llvm::StringRef name);
const Wrapper *findWrapper(llvm::StringRef name);
const Refusal *findRefusal(llvm::StringRef name);

llvm::ArrayRef<UnsupportedKey> unsupportedKeys();

/// Other names of a key, by its canonical name.
llvm::ArrayRef<llvm::StringRef> otherSpellings(llvm::StringRef key);

/// Whether a key is known to change nothing at inference.
bool hasNoEffect(llvm::StringRef key);

} // namespace moec

#endif // MOEC_LIB_IMPORT_FAMILYTABLE_H
