//===- main.cpp - Runs compiled artifacts ---------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include <cstdio>
#include <exception>

int main(int argc, char **argv) {
  CLI::App program("Runs models that moec has compiled.", "moec-run");
  program.require_subcommand(1);
  int exitCode = 0;
  moec::run::addGenerateCommand(program, exitCode);
  moec::run::addCheckCommand(program, exitCode);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and version are no errors; all else is a matter of usage.
    return program.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "moec-run: error: %s\n", error.what());
    return 1;
  }
  return exitCode;
}
