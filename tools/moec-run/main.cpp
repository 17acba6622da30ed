//===- main.cpp - Runs compiled artifacts ---------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

/// "--prompt=" as "--prompt" and "": CLI11 would take the next argument as the
/// value.
static std::vector<std::string> splitEmptyValues(int argc, char **argv) {
  std::vector<std::string> arguments;
  for (int index = 1; index < argc; ++index) {
    std::string argument = argv[index];
    bool isEmptyValue = argument.size() > 3 && argument.starts_with("--") &&
                        argument.find('=') == argument.size() - 1;
    if (isEmptyValue)
      argument.pop_back();
    arguments.push_back(argument);
    if (isEmptyValue)
      arguments.emplace_back();
  }
  // CLI11 takes them from the end.
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

int main(int argc, char **argv) {
  CLI::App program("Runs models that moec has compiled.", "moec-run");
  program.require_subcommand(1);
  int exitCode = 0;
  moec::run::addGenerateCommand(program, exitCode);
  moec::run::addCheckCommand(program, exitCode);
  moec::run::addBenchCommand(program, exitCode);
  try {
    program.parse(splitEmptyValues(argc, argv));
  } catch (const CLI::ParseError &error) {
    // Help and version are no errors; all else is a matter of usage.
    return program.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "moec-run: error: %s\n", error.what());
    return 1;
  }
  // A full disk or a closed pipe shows when the last of the output is written.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "moec-run: error: cannot write the output\n");
    return 1;
  }
  return exitCode;
}
