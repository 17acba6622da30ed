//===- BrokenConfigTest.cpp - Wrong values are shown where they stand -----===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case edits the small configuration. An `@` in the edited text marks the
// place that the error must point at, and is taken out before reading.
//
//===----------------------------------------------------------------------===//

#include "ConfigTestSupport.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace moec::test;

namespace {

struct BrokenCase {
  const char *name;
  std::vector<Edit> edits;
  const char *message;
};

void PrintTo(const BrokenCase &broken, std::ostream *out) {
  *out << broken.name;
}

class BrokenConfig : public ::testing::TestWithParam<BrokenCase> {};

/// Takes the mark out and returns its place as "LINE:COLUMN".
std::string takeMark(std::string &text) {
  size_t mark = text.find('@');
  if (mark == std::string::npos)
    return "no mark";
  llvm::StringRef before = llvm::StringRef(text).take_front(mark);
  size_t lineStart = before.rfind('\n') + 1;
  std::string place = llvm::utostr(before.count('\n') + 1) + ":" +
                      llvm::utostr(mark - lineStart + 1);
  text.erase(mark, 1);
  return place;
}

TEST_P(BrokenConfig, IsRefusedAtItsPlace) {
  Reader reader;
  std::string text = smallConfig(GetParam().edits);
  std::string place = takeMark(text);
  Reading reading = reader.parse(text);
  EXPECT_FALSE(reading.config);
  ASSERT_FALSE(reading.messages.empty());
  std::string expected = place + ": error: ";
  for (llvm::StringRef message : reading.messages)
    if (message.starts_with(expected) && message.contains(GetParam().message))
      return;
  ADD_FAILURE() << "expected " << place << ": " << GetParam().message
                << "\nfound:\n"
                << reading.all();
}

std::string repeated(const std::string &text, int count) {
  std::string result;
  while (count-- > 0)
    result += text;
  return result;
}

/// The first edit of most cases: replaces a key's value.
BrokenCase value(const char *name, const std::string &key,
                 const std::string &old, const std::string &wrong,
                 const char *message) {
  return {name,
          {{"\"" + key + "\": " + old, "\"" + key + "\": @" + wrong}},
          message};
}

const BrokenCase jsonCases[] = {
    {"Empty", {{smallConfig(), "@"}}, "unexpected end of input"},
    {"NoObject", {{smallConfig(), "@[1, 2]"}}, "expected an object"},
    {"DuplicateKey",
     {{"\"vocab_size\": 250", "@\"hidden_size\": 96"}},
     "duplicate key \"hidden_size\""},
    {"DuplicateNestedKey",
     {{"\"mscale\": 0.5", "@\"factor\": 2"}},
     "duplicate key \"factor\""},
    {"DuplicateEscapedKey",
     {{"\"vocab_size\": 250", "@\"hidden\\u005fsize\": 96"}},
     "duplicate key \"hidden_size\""},
    {"NotANumber",
     {{"\"rope_theta\": 50000.0", "\"rope_theta\": @NaN"}},
     "NaN is no JSON number"},
    {"Infinity",
     {{"\"rope_theta\": 50000.0", "\"rope_theta\": @Infinity"}},
     "Infinity is no JSON number"},
    {"MinusInfinity",
     {{"\"rope_theta\": 50000.0", "\"rope_theta\": @-Infinity"}},
     "Infinity is no JSON number"},
    {"TrailingComma",
     {{"\"vocab_size\": 250", "\"vocab_size\": 250,@"}, {",@\n}", ",\n@}"}},
     "invalid JSON"},
    {"TrailingText", {{"\n}\n", "\n}\n@x\n"}}, "invalid JSON"},
    {"SecondValue", {{"\n}\n", "\n}\n@{}\n"}}, "invalid JSON"},
    {"MissingComma",
     {{"\"hidden_size\": 96,", "\"hidden_size\": 96"},
      {"\"intermediate_size\"", "@\"intermediate_size\""}},
     "invalid JSON"},
    {"Unfinished", {{"250\n}\n", "250\n@"}}, "unexpected end of input"},
    {"Comment",
     {{"\"hidden_size\": 96,", "\"hidden_size\": 96, @// wide"}},
     "invalid JSON"},
    {"SingleQuotes", {{"\"silu\"", "@'silu'"}}, "invalid JSON"},
    {"LeadingZero",
     {{"\"hidden_size\": 96", "\"hidden_size\": 0@96"}},
     "invalid JSON"},
    {"LoneSurrogate", {{"\"silu\"", "\"\\ud800@\""}}, "surrogate"},
    {"IllFormedUtf8", {{"\"silu\"", "\"@\xff\""}}, "ill-formed UTF-8"},
    {"ControlCharacter", {{"\"silu\"", "\"si@\nlu\""}}, "control character"},
    {"DepthBomb",
     {{"\"vocab_size\": 250",
       "\"deep\": " + repeated("[", 63) + "@" + repeated("[", 100000)}},
     "nested more than 64 levels"},
    {"ObjectDepthBomb",
     {{"\"vocab_size\": 250", "\"deep\": " + repeated("{\"a\":", 63) + "@" +
                                  repeated("{\"a\":", 20000)}},
     "nested more than 64 levels"},
    {"NumberBeyondAnyType",
     {{"\"vocab_size\": 250", "\"vocab_size\": @1e99999"}},
     "too large"},
};

const BrokenCase sizeCases[] = {
    {"MissingHiddenSize",
     {{"{\n  \"architectures\"", "@{\n  \"architectures\""},
      {"\"hidden_size\": 96,", ""}},
     "missing key 'hidden_size'; expected a whole number from 1 to 2147483647"},
    {"MissingVocabulary",
     {{"{\n  \"architectures\"", "@{\n  \"architectures\""},
      {",\n  \"vocab_size\": 250", ""}},
     "missing key 'vocab_size'"},
    {"MissingLayers",
     {{"{\n  \"architectures\"", "@{\n  \"architectures\""},
      {"\"num_hidden_layers\": 5,", ""}},
     "missing key 'num_hidden_layers'"},
    {"MissingEpsilon",
     {{"{\n  \"architectures\"", "@{\n  \"architectures\""},
      {"\"rms_norm_eps\": 1e-06,", ""}},
     "missing key 'rms_norm_eps'"},
    {"MissingTheta",
     {{"{\n  \"architectures\"", "@{\n  \"architectures\""},
      {"\"rope_theta\": 50000.0,", ""}},
     "missing key 'rope_theta'"},
    {"MissingExperts",
     {{"{\n  \"architectures\"", "@{\n  \"architectures\""},
      {"\"n_routed_experts\": 16,", ""}},
     "missing key 'n_routed_experts'"},
    {"MissingTopK",
     {{"{\n  \"architectures\"", "@{\n  \"architectures\""},
      {"\"num_experts_per_tok\": 3,", ""}},
     "missing key 'num_experts_per_tok'"},
    value("ZeroHidden", "hidden_size", "96", "0",
          "'hidden_size' is 0; expected a whole number from 1"),
    value("NegativeHidden", "hidden_size", "96", "-96", "is -96"),
    value("FractionalHidden", "hidden_size", "96", "96.5", "is 96.5"),
    value("StringHidden", "hidden_size", "96", "\"96\"",
          "is the string \"96\"; expected a whole number"),
    value("NullHidden", "hidden_size", "96", "null", "is null"),
    value("TrueHidden", "hidden_size", "96", "true", "is true"),
    value("ListHidden", "hidden_size", "96", "[96]", "is an array of 1"),
    value("ObjectHidden", "hidden_size", "96", "{}", "is an object"),
    value("TwoToThe63", "hidden_size", "96", "9223372036854775808",
          "is 9223372036854775808"),
    value("TwoToThe64", "vocab_size", "250", "18446744073709551616",
          "is 18446744073709551616"),
    value("TwoToThe31", "hidden_size", "96", "2147483648",
          "from 1 to 2147483647"),
    value("BeyondDouble", "hidden_size", "96", "1e400", "is 1e400"),
    value("EpsilonBeyondDouble", "rms_norm_eps", "1e-06", "1e400", "is 1e400"),
    value("ZeroEpsilon", "rms_norm_eps", "1e-06", "0",
          "a number above 0 and at most 1"),
    value("NegativeEpsilon", "rms_norm_eps", "1e-06", "-1e-6", "is -1e-6"),
    value("VanishingEpsilon", "rms_norm_eps", "1e-06", "1e-999", "is 1e-999"),
    value("StringEpsilon", "rms_norm_eps", "1e-06", "\"inf\"",
          "is the string \"inf\""),
    value("ZeroLayers", "num_hidden_layers", "5", "0", "from 1 to 100000"),
    value("TooManyLayers", "num_hidden_layers", "5", "100001",
          "from 1 to 100000"),
    value("ZeroPositions", "max_position_embeddings", "16384", "0", "is 0"),
    value("ZeroIntermediate", "intermediate_size", "160", "0", "is 0"),
    value("OddRope", "qk_rope_head_dim", "16", "15", "an even number"),
    value("ZeroRope", "qk_rope_head_dim", "16", "0", "is 0"),
    value("NegativeValueSize", "v_head_dim", "24", "-1", "is -1"),
    value("ZeroQueryRank", "q_lora_rank", "56", "0", "is 0"),
    value("ZeroHeads", "num_attention_heads", "6", "0", "is 0"),
    value("GroupedQueries", "num_key_value_heads", "6", "2",
          "'num_key_value_heads' is 2; expected num_attention_heads, which is "
          "6"),
    value("HugeQueries", "num_attention_heads", "6", "2147483647",
          "expected at most 2147483647"),
    {"HugeModel",
     {{"\"hidden_size\": 96", "\"hidden_size\": @2147483647"},
      {"\"moe_intermediate_size\": 40",
       "\"moe_intermediate_size\": 2147483647"}},
     "parameters"},
    value("NoLatent", "kv_lora_rank", "48", "null", "is null"),
    {"NoLatentGrouped",
     {{"\"kv_lora_rank\": 48,", ""},
      {"\"num_key_value_heads\": 6", "\"num_key_value_heads\": @2"}},
     "grouped-query attention (GQA)"},
};

const BrokenCase expertCases[] = {
    value("NegativeExperts", "n_routed_experts", "16", "-16", "is -16"),
    value("TopKAboveExperts", "num_experts_per_tok", "3", "17",
          "'num_experts_per_tok' is 17; expected at most n_routed_experts, "
          "which is 16"),
    value("ZeroTopK", "num_experts_per_tok", "3", "0", "is 0"),
    value("GroupsDoNotDivide", "n_group", "4", "5",
          "'n_group' is 5; expected a divisor of n_routed_experts, which is "
          "16"),
    value("ZeroGroups", "n_group", "4", "0", "is 0"),
    value("TooManyChosenGroups", "topk_group", "2", "5",
          "'topk_group' is 5; expected at most n_group, which is 4"),
    value("TopKAboveChosenGroups", "num_experts_per_tok", "3", "9",
          "expected at most 8, the experts of the 2 chosen groups"),
    {"GroupsOfOne",
     {{"\"n_group\": 4", "\"n_group\": @16"},
      {"\"topk_group\": 2", "\"topk_group\": 8"}},
     "groups of at least 2"},
    value("UnknownScore", "scoring_func", "\"sigmoid\"", "\"sqrtsoftplus\"",
          "expected one of \"sigmoid\", \"softmax\""),
    value("UnknownMethod", "topk_method", "\"noaux_tc\"", "\"random\"",
          "expected one of \"noaux_tc\""),
    value("MethodOfOtherScore", "topk_method", "\"noaux_tc\"", "\"greedy\"",
          "do not belong together"),
    value("NormIsNumber", "norm_topk_prob", "true", "1",
          "expected true or false"),
    value("NegativeScaling", "routed_scaling_factor", "2.827", "-1", "is -1"),
    value("ZeroScaling", "routed_scaling_factor", "2.827", "0.0", "is 0.0"),
    value("FractionalDense", "first_k_dense_replace", "1", "1.5", "is 1.5"),
    value("TooManyDense", "first_k_dense_replace", "1", "6",
          "at most num_hidden_layers, which is 5"),
    value("ZeroFrequency", "moe_layer_freq", "1", "0", "is 0"),
    value("ShortFrequencyList", "moe_layer_freq", "1", "[0, 1]",
          "one entry for each of the 5 layers"),
    {"WrongFrequencyEntry",
     {{"\"moe_layer_freq\": 1", "\"moe_layer_freq\": [0, 1, @2, 1, 1]"}},
     "is 2"},
    {"TooManyRuns",
     {{"\"moe_layer_freq\": 1", "\"moe_layer_freq\": @2"},
      {"\"num_hidden_layers\": 5", "\"num_hidden_layers\": 100000"}},
     "runs of equal layers"},
    value("NegativeShared", "n_shared_experts", "1", "-1", "is -1"),
    value("HugeShared", "n_shared_experts", "1", "2147483647",
          "a shared expert"),
    {"SpellingsInConflict",
     {{"\"n_shared_experts\": 1",
       "\"n_shared_experts\": 1, \"num_experts\": @8"}},
     "'num_experts' is 8, but 'n_routed_experts' is 16"},
    value("TooManyPredictLayers", "num_nextn_predict_layers", "0", "65",
          "is 65"),
};

const BrokenCase ropeCases[] = {
    value("ZeroTheta", "rope_theta", "50000.0", "0", "is 0"),
    value("ThetaOfOne", "rope_theta", "50000.0", "1", "is 1"),
    value("StringTheta", "rope_theta", "50000.0", "\"1e4\"", "string"),
    value("FactorBelowOne", "factor", "32.0", "0.5", "'rope_scaling.factor'"),
    value("FactorText", "factor", "32.0", "\"32\"", "'rope_scaling.factor'"),
    {"MissingFactor",
     {{"\"rope_scaling\": {", "\"rope_scaling\": @{"},
      {"\"factor\": 32.0,", ""}},
     "missing key 'rope_scaling.factor'"},
    {"MissingOriginal",
     {{"\"rope_scaling\": {", "\"rope_scaling\": @{"},
      {"\"original_max_position_embeddings\": 512,", ""}},
     "missing key 'rope_scaling.original_max_position_embeddings'"},
    value("ZeroOriginal", "original_max_position_embeddings", "512", "0",
          "is 0"),
    value("BetasSwapped", "beta_fast", "8.0", "0.5",
          "expected at least 'beta_slow'"),
    value("NegativeBeta", "beta_slow", "1.0", "-1.0", "is -1.0"),
    value("NegativeMscale", "mscale_all_dim", "1.0", "-1.0", "is -1.0"),
    value("UnknownType", "type", "\"yarn\"", "\"longrope\"",
          "is the string \"longrope\"; expected \"yarn\""),
    value("TypeIsNumber", "type", "\"yarn\"", "1", "is 1"),
    {"TypesInConflict",
     {{"\"type\": \"yarn\"",
       "\"type\": \"yarn\", \"rope_type\": @\"default\""}},
     "'rope_type' is the string \"default\", but 'type' is the string "
     "\"yarn\""},
    {"MissingType",
     {{"\"rope_scaling\": {", "\"rope_scaling\": @{"},
      {",\n    \"type\": \"yarn\"", ""}},
     "missing key 'rope_type'"},
    {"SchemesInConflict",
     {{"\"scoring_func\"",
       "\"rope_parameters\": @{\"rope_type\": \"default\"}, "
       "\"scoring_func\""}},
     "say different things"},
    {"ThetasInConflict",
     {{"\"rope_theta\": 50000.0", "\"rope_theta\": @50000.0"},
      {"\"mscale\": 0.5", "\"rope_theta\": 10000"}},
     "but the rope parameters say 10000"},
    {"ScalingIsList",
     {{"\"scoring_func\"", "\"rope_parameters\": @[], \"scoring_func\""}},
     "is an array of 0; expected an object or null"},
    {"PartialRotation",
     {{"\"scoring_func\"",
       "\"partial_rotary_factor\": @0.5, \"scoring_func\""}},
     "is 0.5"},
};

const BrokenCase otherCases[] = {
    value("OtherActivation", "hidden_act", "\"silu\"", "\"gelu\"",
          "expected one of \"silu\""),
    value("AttentionBias", "attention_bias", "false", "true",
          "asks for biases in attention"),
    value("UnknownDtype", "torch_dtype", "\"bfloat16\"", "\"int8\"",
          "expected \"bfloat16\", \"float16\" or \"float32\""),
    value("TiedIsText", "tie_word_embeddings", "false", "\"no\"",
          "expected true or false"),
    value("EosOutside", "eos_token_id", "2", "250", "from 0 to 249"),
    value("EosNegative", "eos_token_id", "2", "-1", "from 0 to 249"),
    value("EosText", "eos_token_id", "2", "\"</s>\"", "is the string"),
    {"EosListEntry",
     {{"\"eos_token_id\": 2", "\"eos_token_id\": [2, @true]"}},
     "'eos_token_id' is true"},
    value("BosOutside", "bos_token_id", "1", "1000", "from 0 to 249"),
    {"SparseIndexer",
     {{"\"vocab_size\": 250", "\"vocab_size\": 250, \"index_topk\": @2048"}},
     "sparse indexer"},
    {"SlidingWindow",
     {{"\"vocab_size\": 250", "\"vocab_size\": 250, \"sliding_window\": @128"}},
     "attention within a window"},
    {"ArchitecturesIsText",
     {{"[\n    \"DeepseekV3ForCausalLM\"\n  ]", "@\"DeepseekV3ForCausalLM\""}},
     "'architectures' is the string"},
    {"ArchitectureIsNumber", {{"\"DeepseekV3ForCausalLM\"", "@3"}}, "is 3"},
    {"UnknownArchitecture",
     {{"\"DeepseekV3ForCausalLM\"", "@\"SomethingElse\""}},
     "\"SomethingElse\" is not a member"},
    {"NoNames",
     {{"{\n  \"architectures\": [\n    \"DeepseekV3ForCausalLM\"\n  ],\n  "
       "\"model_type\": \"kimi_k2\",",
       "@{"}},
     "missing key 'architectures'"},
    {"TextConfigIsText",
     {{"\"vocab_size\": 250", "\"vocab_size\": 250, \"text_config\": @\"x\""}},
     "'text_config' is the string"},
};

const BrokenCase quantizationCases[] = {
    {"BlockSizeIsNumber",
     {{"[128, 64]", "@128"}},
     "expected two positive multiples of 16"},
    {"BlockSizeOfThree", {{"[128, 64]", "@[128, 64, 1]"}}, "an array of 3"},
    {"BlockSizeZero", {{"[128, 64]", "[128, @0]"}}, "is 0"},
    {"BlockSizeUneven",
     {{"[128, 64]", "[@100, 64]"}},
     "expected two positive multiples of 16"},
    {"BlockSizeAbsent",
     {{"\"quantization_config\": {", "\"quantization_config\": @{"},
      {",\n    \"weight_block_size\": [128, 64]", ""}},
     "without weight_block_size"},
    {"OtherFormat", {{"\"e4m3\"", "@\"e5m2\""}}, "is the string \"e5m2\""},
    {"StaticActivations", {{"\"dynamic\"", "@\"static\""}}, "\"static\""},
    {"Awq", {{"\"fp8\"", "@\"awq\""}}, "quant_method \"awq\" (AWQ)"},
    {"Gptq", {{"\"fp8\"", "@\"gptq\""}}, "quant_method \"gptq\" (GPTQ)"},
    {"Bitsandbytes", {{"\"fp8\"", "@\"bitsandbytes\""}}, "\"bitsandbytes\""},
    {"FloatQuantized",
     {{"\"fp8\"", "\"compressed-tensors\", \"format\": @\"float-quantized\""}},
     "\"float-quantized\" (FP8 per channel)"},
    {"PackQuantized",
     {{"\"fp8\"", "\"compressed-tensors\", \"format\": @\"pack-quantized\""}},
     "\"pack-quantized\" (INT4)"},
    {"Mxfp4",
     {{"\"fp8\"",
       "\"compressed-tensors\", \"format\": @\"mxfp4-pack-quantized\""}},
     "(MXFP4)"},
    {"Modelopt",
     {{"\"fp8\"", "\"modelopt\", \"quant_algo\": @\"NVFP4\""}},
     "quant_algo \"NVFP4\""},
    {"MethodAbsent",
     {{"\"quantization_config\": {", "\"quantization_config\": @{"},
      {"\"quant_method\": \"fp8\",", ""}},
     "missing key 'quant_method'"},
    {"Mlx",
     {{"\"vocab_size\": 250",
       "\"vocab_size\": 250, \"quantization\": @{\"bits\": 4}"}},
     "(MLX)"},
    {"NotConvertedIsText",
     {{"\"quant_method\"",
       "\"modules_to_not_convert\": @\"lm_head\", \"quant_method\""}},
     "a list of at most 10000 module names"},
    {"NotConvertedPattern",
     {{"\"quant_method\"",
       "\"modules_to_not_convert\": [@\"re:.*\"], \"quant_method\""}},
     "patterns are not supported yet"},
    {"NotConvertedOneExpert",
     {{"\"quant_method\"",
       "\"modules_to_not_convert\": "
       "[@\"model.layers.1.mlp.experts.0.up_proj\"], \"quant_method\""}},
     "modules of all experts alike"},
};

std::string nameOf(const ::testing::TestParamInfo<BrokenCase> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Json, BrokenConfig, ::testing::ValuesIn(jsonCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Sizes, BrokenConfig, ::testing::ValuesIn(sizeCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Experts, BrokenConfig,
                         ::testing::ValuesIn(expertCases), nameOf);
INSTANTIATE_TEST_SUITE_P(Rope, BrokenConfig, ::testing::ValuesIn(ropeCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Other, BrokenConfig, ::testing::ValuesIn(otherCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Quantization, BrokenConfig,
                         ::testing::ValuesIn(quantizationCases), nameOf);

} // namespace
