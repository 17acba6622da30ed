//===- OutputFolder.cpp - A folder that appears whole or not at all -*- C++
//-*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputFolder.h"

#include "moec/manifest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace moec;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

OutputFolder::OutputFolder(Location location, StringRef name)
    : location(location), output(name) {
  // "x.moec/" and "x.moec" are the same folder.
  while (output.size() > 1 && path::is_separator(output.back()))
    output.pop_back();
}

OutputFolder::~OutputFolder() {
  if (!temporary.empty())
    fs::remove_directories(temporary);
}

LogicalResult OutputFolder::create() {
  if (fs::exists(output)) {
    SmallString<128> manifest(output);
    path::append(manifest, manifestFileName);
    if (!fs::exists(manifest))
      return emitError(location)
             << output << " exists and is no artifact (it has no "
             << manifestFileName << "); it is left as it is";
  }
  // Beside the output, so that it can be renamed: relative prefixes would be
  // taken as relative to the system's folder for temporary files.
  SmallString<128> prefix(output);
  std::error_code error = fs::make_absolute(prefix);
  prefix += ".tmp";
  if (!error)
    error = fs::createUniqueDirectory(prefix, temporary);
  if (error) {
    temporary.clear();
    return emitError(location) << "cannot create a folder beside " << output
                               << ": " << error.message();
  }
  fs::setPermissions(temporary, fs::all_read | fs::all_exe | fs::owner_write);
  return success();
}

LogicalResult OutputFolder::commit() {
  if (fs::exists(output))
    if (std::error_code error = fs::remove_directories(output, false))
      return emitError(location)
             << "cannot replace " << output << ": " << error.message();
  if (std::error_code error = fs::rename(temporary, output))
    return emitError(location) << "cannot rename " << temporary << " to "
                               << output << ": " << error.message();
  temporary.clear();
  return success();
}

LogicalResult moec::writeTextFile(Location location, StringRef folder,
                                  StringRef name, StringRef text) {
  SmallString<128> file(folder);
  path::append(file, name);
  std::error_code error = fs::create_directories(path::parent_path(file));
  if (!error) {
    llvm::raw_fd_ostream out(file, error);
    if (!error) {
      out << text;
      out.close();
      error = out.error();
      out.clear_error();
    }
  }
  if (error)
    return emitError(location)
           << "cannot write " << file << ": " << error.message();
  return success();
}
