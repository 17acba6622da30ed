//===- LinkSharedObject.cpp - Objects to a shared object -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moec/Target/CPU.h"

#include "lld/Common/Driver.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace moec;

LogicalResult moec::linkSharedObject(Location location,
                                     ArrayRef<SmallVector<char, 0>> objects,
                                     StringRef path) {
  SmallVector<SmallString<128>> files;
  llvm::scope_exit cleanUp([&] {
    for (StringRef file : files)
      llvm::sys::fs::remove(file);
  });
  for (const SmallVector<char, 0> &object : objects) {
    int descriptor;
    SmallString<128> file;
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("moec", "o", descriptor, file))
      return emitError(location, "cannot create a temporary object file: ")
             << error.message();
    files.push_back(file);
    llvm::sys::RemoveFileOnSignal(file);
    llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/true);
    out.write(object.data(), object.size());
    out.close();
    if (out.has_error()) {
      std::string message = out.error().message();
      out.clear_error();
      return emitError(location, "cannot write ") << file << ": " << message;
    }
  }

  std::string output = path.str();
  SmallVector<const char *> arguments{
      "ld.lld", "-shared",     "--hash-style=gnu",
      "-z",     "defs",        "-z",
      "now",    "--build-id",  "--no-mmap-output-file",
      "-o",     output.c_str()};
  for (SmallString<128> &file : files)
    arguments.push_back(file.c_str());
  std::string messages;
  llvm::raw_string_ostream out(messages);
  lld::Result result =
      lld::lldMain(arguments, out, out, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return emitError(location, "cannot link ") << path << ": " << messages;
  return success();
}
