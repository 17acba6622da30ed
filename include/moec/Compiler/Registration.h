//===- Registration.h - Dialects and passes -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_COMPILER_REGISTRATION_H
#define MOEC_COMPILER_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace moec {

/// The dialects, with the interfaces, that moec's levels consist of.
void registerDialects(mlir::DialectRegistry &registry);

/// moec's passes and pipelines.
void registerPasses();

} // namespace moec

#endif // MOEC_COMPILER_REGISTRATION_H
