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
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
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

/// Whether the file is the manifest of an artifact.
static bool isManifest(StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return false;
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse((*buffer)->getBuffer());
  if (!json) {
    llvm::consumeError(json.takeError());
    return false;
  }
  const llvm::json::Object *object = json->getAsObject();
  return object && object->getString("format") == StringRef(manifestFormat);
}

LogicalResult OutputFolder::check() {
  fs::file_status status;
  if (fs::status(output, status, /*follow=*/false))
    return success(); // there is nothing
  if (fs::is_symlink_file(status))
    return emitError(location)
           << output << " is a symbolic link; expected a folder or nothing";
  SmallString<128> manifest(output);
  path::append(manifest, manifestFileName);
  if (!fs::is_directory(status) || !isManifest(manifest))
    return emitError(location)
           << output << " exists and is no artifact; it is left as it is";
  // Whatever else somebody put there would be lost.
  static constexpr StringLiteral known[] = {manifestFileName,
                                            "code.so",
                                            "ir",
                                            "tiktoken.model",
                                            "tokenizer.json",
                                            "tokenizer_config.json",
                                            "generation_config.json",
                                            "chat_template.jinja"};
  std::error_code error;
  for (fs::directory_iterator entry(output, error), end; entry != end && !error;
       entry.increment(error))
    if (!llvm::is_contained(known, path::filename(entry->path())))
      return emitError(location)
             << output << " holds " << path::filename(entry->path())
             << ", which is no part of an artifact; it is left as it is";
  return success();
}

LogicalResult OutputFolder::create() {
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
  // The old artifact steps aside until the new one is in place.
  SmallString<128> aside;
  if (fs::exists(output)) {
    aside = temporary;
    aside += ".old";
    if (std::error_code error = fs::rename(output, aside))
      return emitError(location)
             << "cannot replace " << output << ": " << error.message();
  }
  if (std::error_code error = fs::rename(temporary, output)) {
    if (!aside.empty())
      fs::rename(aside, output);
    return emitError(location) << "cannot rename " << temporary << " to "
                               << output << ": " << error.message();
  }
  temporary.clear();
  if (!aside.empty())
    fs::remove_directories(aside);
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
