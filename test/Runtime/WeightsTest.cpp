//===- WeightsTest.cpp - Tests of weights ---------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace moec::runtime;

/// Opens tensors as the stand-in's weights.
class WeightsTest : public ::testing::Test {
protected:
  Expected<std::unique_ptr<Weights>>
  open(const std::vector<NamedTensor> &tensors) {
    writeFile(folder / "model.safetensors", safetensors(tensors));
    return Weights::open(manifest, folder.path());
  }
  std::string failureOf(const std::vector<NamedTensor> &tensors) {
    Expected<std::unique_ptr<Weights>> weights = open(tensors);
    return weights ? "" : weights.status().message();
  }

  TempFolder folder;
  Manifest manifest = *parseManifest(standInManifest().dump(), "manifest.json");
};

static float valueAt(const void *address) {
  float value;
  std::memcpy(&value, address, sizeof(value));
  return value;
}

TEST_F(WeightsTest, FillTheTableOfPointers) {
  Expected<std::unique_ptr<Weights>> weights = open(standInTensors());
  ASSERT_TRUE(weights.ok()) << weights.status().message();
  const void *const *table = (*weights)->table();
  EXPECT_EQ(std::memcmp(table[0], std::string(80, '\x3f').data(), 80), 0);
  EXPECT_EQ(table[1], nullptr);
  // The norm of layer 1 is slot 2, copied; its last value is 1.5.
  EXPECT_EQ(static_cast<const float *>(table[4])[3], 1.5f);
  // Expert 1 of layer 1 is slot 3 + 1 * 2 + 1.
  EXPECT_EQ(*static_cast<const unsigned char *>(table[12]), 0x38);
  EXPECT_EQ(valueAt(table[13]), 11);
}

TEST_F(WeightsTest, LieAtAnyAddress) {
  std::vector<NamedTensor> tensors = standInTensors();
  tensors.insert(tensors.begin(), {"odd", "U8", {1}, "x"});
  Expected<std::unique_ptr<Weights>> weights = open(tensors);
  ASSERT_TRUE(weights.ok()) << weights.status().message();
  EXPECT_EQ(static_cast<const float *>((*weights)->table()[2])[1], 2);
  EXPECT_EQ(valueAt((*weights)->table()[11]), 10);
}

TEST_F(WeightsTest, WidenSmallTensors) {
  std::vector<NamedTensor> tensors = standInTensors();
  for (NamedTensor &tensor : tensors) {
    if (tensor.name == "layers.0.norm.weight")
      tensor = {tensor.name,
                "BF16",
                {4},
                bytesOf<uint16_t>({0x3f80, 0xc040, 0x0001, 0x7f80})};
    if (tensor.name == "layers.1.norm.weight")
      tensor = {tensor.name,
                "F16",
                {4},
                bytesOf<uint16_t>({0x3c00, 0xc200, 0x0001, 0x7bff})};
  }
  Expected<std::unique_ptr<Weights>> weights = open(tensors);
  ASSERT_TRUE(weights.ok()) << weights.status().message();
  const auto *wide = static_cast<const float *>((*weights)->table()[2]);
  EXPECT_EQ(wide[0], 1);
  EXPECT_EQ(wide[1], -3);
  EXPECT_EQ(wide[2], std::ldexp(1.0f, -133));
  EXPECT_EQ(wide[3], INFINITY);
  wide = static_cast<const float *>((*weights)->table()[4]);
  EXPECT_EQ(wide[0], 1);
  EXPECT_EQ(wide[1], -3);
  EXPECT_EQ(wide[2], std::ldexp(1.0f, -24));
  EXPECT_EQ(wide[3], 65504);
}

TEST(WidenToFloat, KeepsAllHalves) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    std::string bytes = bytesOf<uint16_t>({static_cast<uint16_t>(bits)});
    Tensor tensor;
    tensor.dtype = DType::F16;
    tensor.data = std::as_bytes(std::span(bytes));
    float wide = widenToFloat(tensor)[0];
    int exponent = bits >> 10 & 0x1f;
    double mantissa = bits & 0x3ff;
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31 && mantissa != 0)
      EXPECT_TRUE(std::isnan(wide));
    else if (exponent == 31)
      EXPECT_EQ(wide, sign * INFINITY);
    else if (exponent == 0)
      EXPECT_EQ(wide, sign * mantissa * std::exp2(-24));
    else
      EXPECT_EQ(wide, sign * (1 + mantissa / 1024) * std::exp2(exponent - 15));
  }
}

TEST_F(WeightsTest, ListAllMismatchesTogether) {
  std::vector<NamedTensor> tensors = standInTensors();
  tensors[0].dtype = "F16";
  tensors[1].shape = {2, 2};
  tensors.erase(tensors.begin() + 3); // A block scale.
  std::string message = failureOf(tensors);
  for (const char *part :
       {"3 tensors do not fit the artifact of 'stand-in'",
        "'embed.weight' in model.safetensors is F16 [10, 4], expected BF16 "
        "[10, 4]",
        "'layers.0.norm.weight' in model.safetensors is F32 [2, 2], expected "
        "F32, BF16 or F16 [4]",
        "'layers.0.experts.0.weight_scale_inv' is missing from "
        "model.safetensors"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(WeightsTest, CutALongListOfMismatches) {
  Json json = standInManifest();
  json["parameters"].push_back({{"name", "more.{layer}"},
                                {"slot", 7},
                                {"layers", {0, 100}},
                                {"dtype", "F32"},
                                {"shape", {1}},
                                {"storage", "mapped"}});
  json["num_slots"] = 107;
  manifest = *parseManifest(json.dump(), "manifest.json");
  std::string message = failureOf(standInTensors());
  EXPECT_NE(message.find("100 tensors do not fit"), std::string::npos);
  EXPECT_NE(message.find("'more.19'"), std::string::npos) << message;
  EXPECT_EQ(message.find("'more.20'"), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("\n  and 80 more")) << message;
}

TEST_F(WeightsTest, ExplainQuantisationThatDiffers) {
  std::vector<NamedTensor> tensors = standInTensors();
  tensors[0] = {"embed.weight", "F8_E4M3", {10, 4}, std::string(40, '\0')};
  std::string message = failureOf(tensors);
  EXPECT_NE(message.find("had no quantization_config"), std::string::npos)
      << message;
  tensors = standInTensors();
  tensors[2] = {tensors[2].name, "BF16", {2, 3}, std::string(12, '\0')};
  message = failureOf(tensors);
  EXPECT_NE(message.find("had a quantization_config"), std::string::npos)
      << message;
}

TEST_F(WeightsTest, MayHoldTensorsThatNothingNeeds) {
  std::vector<NamedTensor> tensors = standInTensors();
  tensors.push_back({"vision_tower.weight", "F64", {1}, std::string(8, 'v')});
  EXPECT_EQ(failureOf(tensors), "");
}
