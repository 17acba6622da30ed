//===- SafetensorsTest.cpp - Tests of safetensors files -------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace moec::runtime;

namespace {

struct Broken {
  const char *name;
  std::string bytes;
  const char *message;
};

class BrokenSafetensors : public ::testing::TestWithParam<Broken> {};

} // namespace

static Expected<TensorMap> parse(const std::string &bytes) {
  return parseSafetensors(std::as_bytes(std::span(bytes)), "file");
}

/// A file of one tensor 't' with these fields, and data.
static std::string one(const std::string &fields, std::size_t dataBytes = 4) {
  return safetensors("{\"t\": {" + fields + "}}", std::string(dataBytes, 'x'));
}

/// A file of U8 tensors a and b at these offsets.
static std::string two(const std::string &a, int aSize, const std::string &b,
                       int bSize, std::size_t dataBytes) {
  auto tensor = [](const std::string &offsets, int size) {
    return R"({"dtype": "U8", "shape": [)" + std::to_string(size) +
           R"(], "data_offsets": )" + offsets + "}";
  };
  return safetensors("{\"a\": " + tensor(a, aSize) +
                         ", \"b\": " + tensor(b, bSize) + "}",
                     std::string(dataBytes, 'x'));
}

static std::string sized(uint64_t headerBytes, const std::string &rest) {
  std::string size(8, '\0');
  std::memcpy(size.data(), &headerBytes, 8);
  return size + rest;
}

TEST_P(BrokenSafetensors, IsRefused) {
  Expected<TensorMap> tensors = parse(GetParam().bytes);
  ASSERT_FALSE(tensors.ok());
  const std::string &message = tensors.status().message();
  EXPECT_EQ(tensors.status().code(), MOEC_INVALID_FILE);
  EXPECT_TRUE(message.starts_with("file: ")) << message;
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

static std::string nameOf(const ::testing::TestParamInfo<Broken> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Header, BrokenSafetensors,
    ::testing::Values(
        Broken{"EmptyFile", "", "has 0 bytes"},
        Broken{"SevenBytes", "1234567", "has 7 bytes"},
        Broken{"EmptyHeader", sized(0, ""), "does not start with '{'"},
        Broken{"BeyondFile", sized(3, "{}"), "beyond the file of 10 bytes"},
        Broken{"TooLarge", sized(100'000'001, "{}"), "at most 100000000"},
        Broken{"Size2To63", sized(uint64_t(1) << 63, "{}"), "at most"},
        Broken{"SizeAllOnes", sized(~uint64_t(0), "{}"), "at most"},
        Broken{"LeadingSpace", safetensors(" {}"), "does not start with '{'"},
        Broken{"ByteOrderMark", safetensors("\xef\xbb\xbf{}"),
               "does not start with '{'"},
        Broken{"Array", safetensors("[]"), "does not start with '{'"},
        Broken{"TrailingNewline", safetensors("{}\n"), "does not end with '}'"},
        Broken{"TrailingZero", safetensors(std::string("{}\0", 3)),
               "does not end with '}'"},
        Broken{"TwoObjects", safetensors("{}{}"), "header:1:3"},
        Broken{"NoJson", safetensors("{abc}"), "header:1:2"},
        Broken{"InvalidUtf8", safetensors("{\"\xc3\x28\": 1}"), "header:1:"},
        Broken{"DuplicateTensor", safetensors(R"({"a": 1, "a": 2})"),
               "duplicate key 'a'"},
        Broken{"DuplicateKey", one(R"("dtype": "U8", "dtype": "U8")"),
               "duplicate key 'dtype'"},
        Broken{"DepthBomb",
               safetensors(std::string("{\"a\":") + std::string(70'000, '[') +
                           "}"),
               "nested deeper than"},
        Broken{"MetadataArray", safetensors(R"({"__metadata__": []})"),
               "__metadata__: expected an object of texts"},
        Broken{"MetadataNumber", safetensors(R"({"__metadata__": {"a": 1}})"),
               "__metadata__: 'a': expected a text"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Tensor, BrokenSafetensors,
    ::testing::Values(
        Broken{"NotAnObject", safetensors(R"({"t": 5})"),
               "tensor 't': expected an object, found number 5"},
        Broken{"NoDType", one(R"("shape": [4], "data_offsets": [0, 4])"),
               "key 'dtype' is missing"},
        Broken{"NoShape", one(R"("dtype": "U8", "data_offsets": [0, 4])"),
               "key 'shape' is missing"},
        Broken{"NoOffsets", one(R"("dtype": "U8", "shape": [4])"),
               "key 'data_offsets' is missing"},
        Broken{"UnknownKey",
               one(R"("dtype": "U8", "shape": [4], "data_offsets": [0, 4],
                      "strides": [1])"),
               "unknown key 'strides'"},
        Broken{"UnknownDType",
               one(R"("dtype": "F7", "shape": [4], "data_offsets": [0, 4])"),
               "unknown dtype 'F7'"},
        Broken{"DTypeNumber",
               one(R"("dtype": 8, "shape": [4], "data_offsets": [0, 4])"),
               "key 'dtype': expected a text, found number 8"},
        Broken{"NegativeSize",
               one(R"("dtype": "U8", "shape": [-4], "data_offsets": [0, 4])"),
               "element 0: expected a whole number of at least 0"},
        Broken{"FractionalSize",
               one(R"("dtype": "U8", "shape": [4.0], "data_offsets": [0, 4])"),
               "found number 4.0"},
        Broken{"Size2To63", one(R"("dtype": "U8", "shape":
               [9223372036854775808], "data_offsets": [0, 4])"),
               "found number 9223372036854775808"},
        Broken{"ProductOverflow", one(R"("dtype": "U8", "shape":
               [4294967296, 4294967296], "data_offsets": [0, 4])"),
               "no size in whole bytes within 63 bits"},
        Broken{"BitsOverflow", one(R"("dtype": "F64", "shape":
               [1152921504606846976], "data_offsets": [0, 4])"),
               "no size in whole bytes within 63 bits"},
        Broken{"OverflowTimesZero",
               one(R"("dtype": "U8", "shape":
               [4294967296, 4294967296, 0], "data_offsets": [0, 0])",
                   0),
               "no size in whole bytes within 63 bits"},
        Broken{"ShapeNumber",
               one(R"("dtype": "U8", "shape": 4, "data_offsets": [0, 4])"),
               "key 'shape': expected an array"},
        Broken{"OffsetsSwapped",
               one(R"("dtype": "U8", "shape": [4], "data_offsets": [4, 0])"),
               "expected [begin, end] with begin <= end"},
        Broken{"ThreeOffsets",
               one(R"("dtype": "U8", "shape": [4], "data_offsets": [0, 4, 4])"),
               "expected [begin, end]"},
        Broken{"OneOffset",
               one(R"("dtype": "U8", "shape": [4], "data_offsets": [4])"),
               "expected [begin, end]"},
        Broken{"NegativeOffset",
               one(R"("dtype": "U8", "shape": [4], "data_offsets": [-4, 0])"),
               "expected a whole number of at least 0"},
        Broken{"SpanTooLong",
               one(R"("dtype": "U8", "shape": [3], "data_offsets": [0, 4])"),
               "span 4 bytes, but shape [3] of U8 takes 3"},
        Broken{"SpanTooShort",
               one(R"("dtype": "F32", "shape": [2], "data_offsets": [0, 4])"),
               "span 4 bytes, but shape [2] of F32 takes 8"},
        Broken{"OddNumberOfHalfBytes",
               one(R"("dtype": "F4", "shape": [7], "data_offsets": [0, 4])"),
               "no size in whole bytes"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Cover, BrokenSafetensors,
    ::testing::Values(
        Broken{"CutByAByte",
               one(R"("dtype": "U8", "shape": [4], "data_offsets": [0, 4])", 3),
               "beyond the file, which has 3 bytes of data"},
        Broken{"FarBeyond", one(R"("dtype": "U8", "shape": [4], "data_offsets":
               [4611686018427387904, 4611686018427387908])"),
               "beyond the file"},
        Broken{
            "BytesAfterTheLast",
            one(R"("dtype": "U8", "shape": [4], "data_offsets": [0, 4])", 20),
            "16 bytes after the last tensor"},
        Broken{"DataWithoutTensors", safetensors("{}", "x"),
               "1 bytes after the last tensor"},
        Broken{
            "Overlap", two("[0, 4]", 4, "[3, 6]", 3, 6),
            "tensor 'b' at data byte 3 overlaps tensor 'a', which ends at 4"},
        Broken{"SameRange", two("[0, 4]", 4, "[0, 4]", 4, 4), "overlaps"},
        Broken{"Inside", two("[0, 6]", 6, "[2, 4]", 2, 6), "overlaps"},
        Broken{"HoleInFront", two("[2, 4]", 2, "[4, 6]", 2, 6),
               "hole in the data: bytes 0 to 2 before tensor 'a'"},
        Broken{"HoleBetween", two("[0, 2]", 2, "[4, 6]", 2, 6),
               "hole in the data: bytes 2 to 4 before tensor 'b'"},
        Broken{"EmptyTensorInside", two("[0, 6]", 6, "[3, 3]", 0, 6),
               "overlaps"}),
    nameOf);

TEST(Safetensors, AcceptsWhatIsUnusualButValid) {
  for (const std::string &bytes :
       {safetensors("{}"), safetensors("{}     "),
        safetensors(R"({"__metadata__": {"format": "pt"}})"),
        one(R"("dtype": "F32", "shape": [], "data_offsets": [0, 4])"),
        one(R"("dtype": "F32", "shape": [0, 7], "data_offsets": [0, 0])", 0),
        one(R"("dtype": "F4", "shape": [2, 4], "data_offsets": [0, 4])"),
        two("[0, 0]", 0, "[0, 0]", 0, 0), two("[4, 6]", 2, "[0, 4]", 4, 6)}) {
    Expected<TensorMap> tensors = parse(bytes);
    EXPECT_TRUE(tensors.ok()) << tensors.status().message();
  }
}

TEST(Safetensors, ReadsTensorsAtOddOffsets) {
  std::string bytes = safetensors(std::vector<NamedTensor>{
      {"bytes", "U8", {3}, "abc"},
      {"halves", "BF16", {2}, bytesOf<uint16_t>({0x3f80, 0xc000})},
      {"floats", "F32", {2}, bytesOf<float>({0.25f, -7})}});
  Expected<TensorMap> tensors = parse(bytes);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  float values[2];
  std::memcpy(values, tensors->at("floats").data.data(), sizeof(values));
  EXPECT_EQ(values[0], 0.25f);
  EXPECT_EQ(values[1], -7);
  EXPECT_EQ(tensors->at("halves").begin, 3);
}

TEST(Safetensors, KnowsEveryDTypeByName) {
  for (const char *name :
       {"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F4", "I16", "U16",
        "F16", "BF16", "I32", "U32", "F32", "F64", "I64", "U64"}) {
    std::optional<DType> dtype = parseDType(name);
    ASSERT_TRUE(dtype.has_value()) << name;
    EXPECT_STREQ(dtypeName(*dtype), name);
  }
  EXPECT_EQ(dtypeBits(DType::F4), 4);
  EXPECT_EQ(dtypeBits(DType::BF16), 16);
  EXPECT_FALSE(parseDType("bf16").has_value());
}
