//===- Commands.h - The commands of moec-run --------------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each command is added to the program with its options. A command that runs
// puts its exit code into `exitCode`: 0 done, 1 the input is wrong, 2 usage.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_TOOLS_MOEC_RUN_COMMANDS_H
#define MOEC_TOOLS_MOEC_RUN_COMMANDS_H

#include <CLI/CLI.hpp>

namespace moec::run {

void addGenerateCommand(CLI::App &program, int &exitCode);
void addCheckCommand(CLI::App &program, int &exitCode);
void addBenchCommand(CLI::App &program, int &exitCode);

} // namespace moec::run

#endif // MOEC_TOOLS_MOEC_RUN_COMMANDS_H
