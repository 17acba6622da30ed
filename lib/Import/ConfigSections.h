//===- ConfigSections.h - Parts of a configuration --------------*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a configuration that are nested objects with rules of their
// own. Each fills its fields of the reader's ModelConfig.
//
//===----------------------------------------------------------------------===//

#ifndef MOEC_LIB_IMPORT_CONFIGSECTIONS_H
#define MOEC_LIB_IMPORT_CONFIGSECTIONS_H

#include "FamilyTable.h"
#include "FieldReader.h"

namespace moec {

/// rope_theta, rope_scaling, rope_parameters and what belongs to them.
void readRope(FieldReader &fields, const Family &family);

/// quantization_config in its places; anything but FP8 in blocks is refused.
void readQuantization(FieldReader &fields);

/// Refuses a folder with NVIDIA's hf_quant_config.json, whatever it holds.
void refuseHfQuantConfig(const JsonDocument &document);

} // namespace moec

#endif // MOEC_LIB_IMPORT_CONFIGSECTIONS_H
