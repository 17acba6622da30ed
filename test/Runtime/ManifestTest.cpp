//===- ManifestTest.cpp - Tests of manifests ------------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

#include <functional>

using namespace moec::runtime;

namespace {

struct Broken {
  const char *name;
  std::function<void(Json &)> edit;
  const char *message;
  moec_code code = MOEC_INVALID_FILE;
};

class BrokenManifest : public ::testing::TestWithParam<Broken> {};

} // namespace

TEST_P(BrokenManifest, IsRefused) {
  Json json = standInManifestWithTaps();
  GetParam().edit(json);
  Expected<Manifest> manifest = parseManifest(json.dump(), "manifest.json");
  ASSERT_FALSE(manifest.ok());
  const std::string &message = manifest.status().message();
  EXPECT_EQ(manifest.status().code(), GetParam().code);
  EXPECT_TRUE(message.starts_with("manifest.json: ")) << message;
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

static std::string nameOf(const ::testing::TestParamInfo<Broken> &info) {
  return info.param.name;
}

/// Puts a value at a place like "/code/abi".
static std::function<void(Json &)> set(const char *place, Json value) {
  return
      [place, value](Json &json) { json[Json::json_pointer(place)] = value; };
}

static std::function<void(Json &)> erase(const char *place, const char *key) {
  return
      [place, key](Json &json) { json[Json::json_pointer(place)].erase(key); };
}

INSTANTIATE_TEST_SUITE_P(
    Identity, BrokenManifest,
    ::testing::Values(
        Broken{"NotAnObject", [](Json &json) { json = Json::array(); },
               "expected an object, found an array"},
        Broken{"NoFormat", erase("", "format"), "key 'format' is missing"},
        Broken{"OtherFormat", set("/format", "zip"),
               "format is 'zip', expected 'moec-artifact'"},
        Broken{"NoVersion", erase("", "version"), "key 'version' is missing"},
        Broken{"LaterVersion", set("/version", 2),
               "version is 2, this runtime reads version 1", MOEC_UNSUPPORTED},
        Broken{"VersionText", set("/version", "1"),
               "key 'version': expected a whole number"},
        Broken{"OtherTarget", set("/target", "sm_90a"),
               "target is 'sm_90a', this runtime runs target 'cpu'",
               MOEC_UNSUPPORTED},
        Broken{"OtherActivations", set("/activations", "int3"),
               "found 'int3', expected one of f32, bf16, fp8"},
        Broken{"OtherAbi", set("/code/abi", 2),
               "code: abi is 2, this runtime calls abi 1", MOEC_UNSUPPORTED}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Parts, BrokenManifest,
    ::testing::Values(
        Broken{"NoModel", erase("", "model"), "key 'model' is missing"},
        Broken{"ZeroVocabulary", set("/model/vocab_size", 0),
               "model: key 'vocab_size': expected a whole number"},
        Broken{"NegativeExpertsPerToken", set("/model/num_experts_per_tok", -1),
               "model: key 'num_experts_per_tok'"},
        Broken{"NegativeLayers", set("/model/num_hidden_layers", -1),
               "key 'num_hidden_layers'"},
        Broken{"HugeContext", set("/model/max_position_embeddings", 1LL << 31),
               "from 1 to 2147483647, found number 2147483648"},
        Broken{"NoVariants", set("/code/variants", Json::array()),
               "variants is empty"},
        Broken{"VariantTwice", set("/code/variants/1/name", "plain"),
               "code: variants[1]: variant 'plain' stands twice"},
        Broken{"NoProbe", erase("/code/variants/1", "probe"),
               "code: variants[1]: key 'probe' is missing"},
        Broken{"ProbeNoIdentifier", set("/code/variants/0/probe/symbol", "a-b"),
               "variants[0]: probe: symbol 'a-b' is not an identifier of C"},
        Broken{"ProbeDigit", set("/code/variants/0/probe/symbol", "1x"),
               "symbol '1x' is not an identifier of C"},
        Broken{"ProbeEmpty", set("/code/variants/0/probe/symbol", ""),
               "symbol '' is not an identifier of C"},
        Broken{"ProbeDoesNothing", set("/code/variants/0/probe/macs", 0),
               "probe: key 'macs': expected a whole number from 1"},
        Broken{"FeatureNumber", set("/code/variants/0/features", {1}),
               "key 'features': element 0: expected a text"},
        Broken{"CodeElsewhere", set("/code/file", "../code.so"),
               "file '../code.so' is not a plain file name"},
        Broken{"CodeNotHashed", set("/code/file", "other.so"),
               "files has no entry for 'other.so'"},
        Broken{"HashTooShort", set("/files/code.so/xxh3_64", "12"),
               "xxh3_64 is '12', expected 16 hexadecimal digits"},
        Broken{"HashUpperCase",
               set("/files/code.so/xxh3_64", "0123456789ABCDEF"),
               "expected 16 hexadecimal digits"},
        Broken{"NegativeFileSize", set("/files/code.so/bytes", -1),
               "files: code.so: key 'bytes'"},
        Broken{
            "FileElsewhere",
            [](Json &json) { json["files"]["a/b"] = json["files"]["code.so"]; },
            "file 'a/b' is not a plain file name"},
        Broken{"CacheDType", set("/cache/dtype", "I8"),
               "dtype is I8, expected BF16, F16 or F32"},
        Broken{"CacheSize", set("/cache/bytes_per_token", 9),
               "bytes_per_token is 9, but layers x width x dtype is 8"},
        Broken{"PageSizeZero", set("/cache/page_size", 0), "key 'page_size'"},
        Broken{"NegativeWorkspace", set("/workspace/bytes_fixed", -64),
               "key 'bytes_fixed'"},
        Broken{"NoWorkspacePerToken", set("/workspace/bytes_per_token", 0),
               "key 'bytes_per_token'"},
        Broken{"TokenizerKind", set("/tokenizer/kind", "words"),
               "found 'words', expected one of tiktoken, tokenizer.json"},
        Broken{"TokenizerElsewhere", set("/tokenizer/files", {"/etc/passwd"}),
               "file '/etc/passwd' is not a plain file name"},
        Broken{"EosOutside", set("/generation/eos_token_ids", {9, 10}),
               "eos_token_ids has 10, vocab_size is 10"},
        Broken{"EosNegative", set("/generation/eos_token_ids", {-1}),
               "key 'eos_token_ids'"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Parameters, BrokenManifest,
    ::testing::Values(
        Broken{"NoParameters", erase("", "parameters"),
               "key 'parameters' is missing"},
        Broken{"NotAnArray", set("/parameters", "none"),
               "key 'parameters': expected an array of objects"},
        Broken{"NotAnObject", set("/parameters/1", 5),
               "parameters[1]: expected an object, found number 5"},
        Broken{"UnknownDType", set("/parameters/0/dtype", "F7"),
               "parameters[0]: unknown dtype 'F7'"},
        Broken{"NegativeSize", set("/parameters/0/shape", {10, -4}),
               "key 'shape': element 1"},
        Broken{"Overflow", set("/parameters/0/shape", {1LL << 40, 1LL << 40}),
               "overflows 63 bits"},
        Broken{"Rank", set("/parameters/0/shape", Json(9, 1)),
               "shape has 9 sizes, expected at most 8"},
        Broken{"UnknownStorage", set("/parameters/0/storage", "packed"),
               "found 'packed', expected one of mapped, widened"},
        Broken{"WidenedToBF16", set("/parameters/1/dtype", "BF16"),
               "storage 'widened' has dtype BF16, expected F32"},
        Broken{"LayersSwapped", set("/parameters/1/layers", {2, 0}),
               "layers is [2, 0], expected [first, end]"},
        Broken{"LayersEmpty", set("/parameters/1/layers", {1, 1}),
               "layers is [1, 1]"},
        Broken{"LayersMissing", erase("/parameters/1", "layers"),
               "has {layer}, but the key 'layers' is missing"},
        Broken{"LayersUnused", set("/parameters/0/layers", {0, 1}),
               "lacks {layer}, but the key 'layers' is there"},
        Broken{"ExpertsMissing", erase("/parameters/2", "experts"),
               "has {expert}, but the key 'experts' is missing"},
        Broken{"ExpertsZero", set("/parameters/2/experts", 0), "key 'experts'"},
        Broken{"ScaleName", set("/parameters/2/scale/name", "scale"),
               "name 'scale' has other placeholders"},
        Broken{"ScaleDType", set("/parameters/2/scale/dtype", 32),
               "scale: key 'dtype': expected a text"},
        Broken{"SlotNegative", set("/parameters/0/slot", -1), "key 'slot'"},
        Broken{"SlotsOverlap", set("/parameters/2/slot", 2),
               "slots [2, 6) of 'layers.{layer}.experts.{expert}.weight' "
               "overlap those of 'layers.{layer}.norm.weight', which end at 3"},
        Broken{"SlotsBeyond", set("/num_slots", 6), "go beyond num_slots (6)"},
        Broken{"HugeNumSlots", set("/num_slots", 1LL << 62), "key 'num_slots'"},
        Broken{"HugeLayers",
               [](Json &json) {
                 json["parameters"][2]["layers"] = {0, 1 << 20};
                 json["parameters"][2]["experts"] = 1 << 24;
               },
               "go beyond num_slots"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Taps, BrokenManifest,
    ::testing::Values(Broken{"NotAnArray", set("/taps", "none"), "key 'taps'"},
                      Broken{"DType", set("/taps/0/dtype", "BF16"),
                             "tap 'input' has dtype BF16, expected F32 or I32"},
                      Broken{"NegativeOffset", set("/taps/0/offset", -1),
                             "key 'offset'"},
                      Broken{"NoWidth", set("/taps/0/width", 0), "key 'width'"},
                      Broken{"NoStride",
                             [](Json &json) {
                               json["taps"][0]["name"] = "layers.{layer}.x";
                               json["taps"][0]["layers"] = {0, 2};
                             },
                             "key 'stride' is missing"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Cost, BrokenManifest,
    ::testing::Values(
        Broken{"NotAnArray", set("/cost", 1), "key 'cost'"},
        Broken{"NoName", erase("/cost/1", "name"),
               "cost[1]: key 'name' is missing"},
        Broken{"Rows", set("/cost/0/rows", "experts"),
               "found 'experts', expected one of tokens, logits, pairs"},
        Broken{"NoLayers", set("/cost/0/layers", 0), "key 'layers'"},
        Broken{"Negative", set("/cost/0/weight_bytes", -1),
               "cost[0]: key 'weight_bytes': expected a whole number"},
        Broken{"Fraction", set("/cost/0/flops_per_row", 1.5),
               "key 'flops_per_row': expected a whole number"},
        Broken{"Huge", set("/cost/0/flops_per_row", 1LL << 61),
               "key 'flops_per_row'"},
        Broken{"Missing", erase("/cost/2", "activation_bytes_per_row"),
               "cost[2]: key 'activation_bytes_per_row' is missing"},
        Broken{"FewerExpertsThanRouted", set("/model/num_experts_per_tok", 3),
               "rows is 'pairs' with experts 2, expected at least "
               "num_experts_per_tok, which is 3"},
        Broken{"PairsWithoutExperts", set("/model/num_experts_per_tok", 0),
               "rows is 'pairs' with experts 2"}),
    nameOf);

TEST(Manifest, ReadsAllParts) {
  Expected<Manifest> manifest =
      parseManifest(standInManifest().dump(), "manifest.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->model.maxPositions, 64);
  EXPECT_EQ(manifest->parameters[2].experts, 2);
  EXPECT_EQ(manifest->parameters[2].scale->shape, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(manifest->eosIds, (std::vector<int32_t>{9}));
  EXPECT_EQ(manifest->tapBytesPerToken(), 0);
  EXPECT_EQ(manifest->variants[0].probe.symbol, "stand_in_probe");
  EXPECT_EQ(manifest->variants[0].probe.macs, 8);
  ASSERT_EQ(manifest->cost.size(), 3u);
  EXPECT_EQ(manifest->cost[1].rows, Manifest::Rows::pairs);
  EXPECT_EQ(manifest->cost[1].weightBytesPerExpert, 6);
  EXPECT_EQ(manifest->cost[0].cacheBytesPerRowAndPosition, 4);
}

TEST(Manifest, IgnoresKeysThatItDoesNotKnow) {
  Json json = standInManifest();
  json["added_later"] = {1, 2};
  json["cache"]["note"] = "text";
  EXPECT_TRUE(parseManifest(json.dump(), "manifest.json").ok());
}

TEST(Manifest, MayLackWhatIsOptional) {
  Json json = standInManifest();
  for (const char *key :
       {"taps", "tokenizer", "generation", "left_out", "cost"})
    json.erase(key);
  Expected<Manifest> manifest = parseManifest(json.dump(), "manifest.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_TRUE(manifest->eosIds.empty());
}

TEST(Manifest, CountsTapsOfAllLayers) {
  Json json = standInManifest();
  json["taps"] = Json::parse(R"([
      {"name": "embedding", "offset": 0, "width": 4, "dtype": "F32"},
      {"name": "layers.{layer}.x", "layers": [1, 4], "offset": 4, "stride": 10,
       "width": 3, "dtype": "F32"}])");
  Expected<Manifest> manifest = parseManifest(json.dump(), "manifest.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->tapBytesPerToken(), 4 * (4 + 2 * 10 + 3));
}

TEST(Manifest, ExpandsNames) {
  EXPECT_EQ(expandName("layers.{layer}.experts.{expert}.w", 12, 345),
            "layers.12.experts.345.w");
  EXPECT_EQ(expandName("norm.weight", 1, 2), "norm.weight");
}
