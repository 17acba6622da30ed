//===- OutputFolder.h - A folder that appears whole or not at all -*- C++
//-*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_COMPILER_OUTPUTFOLDER_H
#define MOEC_LIB_COMPILER_OUTPUTFOLDER_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallString.h"

namespace moec {

/// The artifact's folder is filled beside its final place and then renamed. If
/// it is not committed, nothing is left, and what stood there before stays.
class OutputFolder {
public:
  OutputFolder(mlir::Location location, llvm::StringRef output);
  ~OutputFolder();

  /// Refuses an output that exists and is anything but an artifact: it would be
  /// replaced.
  mlir::LogicalResult check();
  /// Creates the temporary folder.
  mlir::LogicalResult create();
  /// Puts the folder into its final place.
  mlir::LogicalResult commit();
  llvm::StringRef getPath() const { return temporary; }

private:
  mlir::Location location;
  llvm::SmallString<128> output, temporary;
};

/// Writes `text` into folder/name, creating the folders on the way.
mlir::LogicalResult writeTextFile(mlir::Location location,
                                  llvm::StringRef folder, llvm::StringRef name,
                                  llvm::StringRef text);

} // namespace moec

#endif // MOEC_LIB_COMPILER_OUTPUTFOLDER_H
