//===- moec-translate.cpp - config.json to MLIR -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Import/Translation.h"

#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  moec::registerImportConfigTranslation();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "moec translation driver"));
}
