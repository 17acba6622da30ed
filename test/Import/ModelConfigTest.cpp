//===- ModelConfigTest.cpp - What published configurations say ------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigTestSupport.h"

#include "moec/Import/JsonReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace moec;
using namespace moec::test;

namespace {

//===----------------------------------------------------------------------===//
// Published files
//===----------------------------------------------------------------------===//

struct PublishedCase {
  const char *file;
  /// A part of the one error; null where the file is accepted.
  const char *refusal;
};

void PrintTo(const PublishedCase &published, std::ostream *out) {
  *out << published.file;
}

// nvidia__DeepSeek-V3-0324-NVFP4.json says nothing of its quantisation: that
// stands in hf_quant_config.json beside it (see HfQuantConfigIsRefused).
const PublishedCase publishedCases[] = {
    {"moonshotai__Kimi-K2-Base", nullptr},
    {"moonshotai__Kimi-K2-Instruct", nullptr},
    {"moonshotai__Kimi-K2-Instruct-0905", nullptr},
    {"deepseek-ai__DeepSeek-V3", nullptr},
    {"deepseek-ai__DeepSeek-R1", nullptr},
    {"deepseek-ai__DeepSeek-V2-Lite", nullptr},
    {"deepseek-ai__DeepSeek-V2.5", nullptr},
    {"moonshotai__Moonlight-16B-A3B-Instruct", nullptr},
    {"moonshotai__Kimi-VL-A3B-Instruct.text", nullptr},
    {"resaved-v5__Kimi-K2-Instruct", nullptr},
    {"zai-org__GLM-4.7-Flash.full", nullptr},
    {"tencent__Youtu-LLM-2B.defaults", nullptr},
    {"sarvamai__sarvam-105b", nullptr},
    {"moonshotai__Kimi-K2-Thinking.full", "\"pack-quantized\" (INT4)"},
    {"moonshotai__Kimi-K2.5", "\"pack-quantized\" (INT4)"},
    {"deepseek-ai__DeepSeek-V3.2", "sparse indexer"},
    {"zai-org__GLM-5", "sparse indexer"},
    {"moonshotai__Kimi-K3", "\"KimiK3ForConditionalGeneration\" is not a"},
    {"deepseek-ai__DeepSeek-V4-Flash", "\"DeepseekV4ForCausalLM\" is not a"},
    {"meituan-longcat__LongCat-Flash-Lite",
     "\"LongcatFlashNgramForCausalLM\" is not a member"},
    {"rednote-hilab__dots.llm1", "\"Dots1ForCausalLM\" is not a member"},
    {"MiniMaxAI__MiniMax-M2.5", "\"MiniMaxM2ForCausalLM\" is not a member"},
};

class Published : public ::testing::TestWithParam<PublishedCase> {};

TEST_P(Published, IsAcceptedOrRefusedByName) {
  Reader reader;
  Reading reading =
      reader.read(std::string("configs/") + GetParam().file + ".json");
  if (!GetParam().refusal) {
    ASSERT_TRUE(reading.config) << reading.all();
    EXPECT_EQ(reading.config->name, GetParam().file);
    // Published files of the family hold no key that moec doesn't know.
    EXPECT_FALSE(reading.has("remark")) << reading.all();
    return;
  }
  EXPECT_FALSE(reading.config);
  ASSERT_EQ(reading.messages.size(), 1u) << reading.all();
  EXPECT_TRUE(reading.has(GetParam().refusal)) << reading.all();
}

INSTANTIATE_TEST_SUITE_P(
    Files, Published, ::testing::ValuesIn(publishedCases),
    [](const ::testing::TestParamInfo<PublishedCase> &info) {
      std::string name = info.param.file;
      for (char &letter : name)
        if (!llvm::isAlnum(letter))
          letter = '_';
      return name;
    });

TEST(ModelConfig, EveryPublishedFileHasACase) {
  std::error_code code;
  unsigned files = 0;
  for (llvm::sys::fs::directory_iterator
           entry(std::string(MOEC_TEST_MODELS) + "/configs", code),
       end;
       !code && entry != end; entry.increment(code)) {
    llvm::StringRef name = llvm::sys::path::filename(entry->path());
    if (!name.consume_back(".json") || name.contains("NVFP4"))
      continue;
    ++files;
    EXPECT_TRUE(llvm::any_of(publishedCases, [&](const PublishedCase &known) {
      return name == known.file;
    })) << name.str();
  }
  EXPECT_EQ(files, std::size(publishedCases));
}

ModelConfig accepted(Reader &reader, llvm::StringRef path) {
  Reading reading = reader.read(path);
  EXPECT_TRUE(reading.config) << reading.all();
  return *reading.config;
}

TEST(ModelConfig, KimiK2) {
  Reader reader;
  ModelConfig config =
      accepted(reader, "configs/moonshotai__Kimi-K2-Instruct.json");
  EXPECT_EQ(config.model_type, "kimi_k2");
  EXPECT_EQ(config.hidden_size, 7168);
  EXPECT_EQ(config.num_hidden_layers, 61);
  EXPECT_EQ(config.num_attention_heads, 64);
  EXPECT_EQ(config.q_lora_rank, 1536);
  EXPECT_EQ(config.n_routed_experts, 384);
  EXPECT_EQ(config.num_experts_per_tok, 8);
  EXPECT_EQ(config.max_position_embeddings, 131072);
  EXPECT_EQ(config.routed_scaling_factor, 2.827);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_TRUE(config.has_router_bias);
  ASSERT_TRUE(config.yarn);
  EXPECT_EQ(config.yarn->factor, 32);
  EXPECT_EQ(config.yarn->beta_fast, 1);
  EXPECT_EQ(config.rope_theta, 50000);
  ASSERT_TRUE(config.fp8);
  EXPECT_EQ(config.fp8->rows, 128);
  EXPECT_EQ(config.fp8->cols, 128);
  EXPECT_EQ(config.eos_token_ids, std::vector<int64_t>{163585});
  auto ranges = config.layerRanges();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].end, 1);
  EXPECT_FALSE(ranges[0].isMoE);
  EXPECT_EQ(ranges[1].end, 61);
  EXPECT_TRUE(ranges[1].isMoE);
  EXPECT_TRUE(config.leftOut.empty());
}

TEST(ModelConfig, DeepSeekV3LeavesItsPredictionLayerOut) {
  Reader reader;
  ModelConfig config =
      accepted(reader, "configs/deepseek-ai__DeepSeek-V3.json");
  EXPECT_EQ(config.layerRanges().size(), 2u);
  EXPECT_EQ(config.n_group, 8);
  EXPECT_EQ(config.topk_group, 4);
  ASSERT_EQ(config.leftOut.size(), 1u);
  EXPECT_EQ(config.leftOut[0].prefix, "model.layers.61.");
}

TEST(ModelConfig, DeepSeekV2Lite) {
  Reader reader;
  ModelConfig config =
      accepted(reader, "configs/deepseek-ai__DeepSeek-V2-Lite.json");
  EXPECT_FALSE(config.q_lora_rank);
  EXPECT_EQ(config.scoring_func, ScoringFunc::Softmax);
  EXPECT_EQ(config.topk_method, TopkMethod::Greedy);
  EXPECT_FALSE(config.norm_topk_prob);
  EXPECT_FALSE(config.has_router_bias);
  EXPECT_EQ(config.yarn->mscale_all_dim, 0.707);
  EXPECT_FALSE(config.fp8);
}

TEST(ModelConfig, KimiVlIsNested) {
  Reader reader;
  ModelConfig config =
      accepted(reader, "configs/moonshotai__Kimi-VL-A3B-Instruct.text.json");
  EXPECT_EQ(config.tensor_prefix, "language_model.");
  EXPECT_EQ(config.architecture, "DeepseekV3ForCausalLM");
  EXPECT_EQ(config.rms_norm_eps, 1e-5);
  EXPECT_EQ(config.inner_norm_eps, 1e-6);
  EXPECT_FALSE(config.yarn);
  ASSERT_EQ(config.leftOut.size(), 2u);
  EXPECT_EQ(config.leftOut[0].prefix, "vision_tower.");
}

TEST(ModelConfig, SarvamHasItsOwnSpellings) {
  Reader reader;
  ModelConfig config = accepted(reader, "configs/sarvamai__sarvam-105b.json");
  EXPECT_EQ(config.n_routed_experts, 128);
  EXPECT_EQ(config.n_shared_experts, 1);
  EXPECT_TRUE(config.norm_topk_prob);
  EXPECT_EQ(config.scoring_func, ScoringFunc::Sigmoid);
  EXPECT_EQ(config.n_group, 1);
  EXPECT_EQ(config.yarn->factor, 40);
  EXPECT_EQ(config.weightType, WeightType::F32);
  EXPECT_FALSE(config.bos_token_id);
}

TEST(ModelConfig, YoutuIsDenseAndTied) {
  Reader reader;
  Reading reading = reader.read("configs/tencent__Youtu-LLM-2B.defaults.json");
  ASSERT_TRUE(reading.config) << reading.all();
  EXPECT_EQ(reading.config->n_routed_experts, 0);
  EXPECT_TRUE(reading.config->tie_word_embeddings);
  EXPECT_FALSE(reading.config->yarn);
  EXPECT_EQ(reading.config->layerRanges().size(), 1u);
  EXPECT_TRUE(reading.has("missing key 'rope_theta': taking"));
}

TEST(ModelConfig, GlmFlashIsSigmoid) {
  Reader reader;
  ModelConfig config =
      accepted(reader, "configs/zai-org__GLM-4.7-Flash.full.json");
  EXPECT_EQ(config.scoring_func, ScoringFunc::Sigmoid);
  EXPECT_EQ(config.qk_nope_head_dim, 192);
  EXPECT_EQ(config.v_head_dim, 256);
  EXPECT_EQ(config.leftOut[0].prefix, "model.layers.47.");
  EXPECT_TRUE(config.eos_token_ids.empty());
}

//===----------------------------------------------------------------------===//
// Spellings
//===----------------------------------------------------------------------===//

Reading parse(Reader &reader, const std::vector<Edit> &edits) {
  return reader.parse(smallConfig(edits));
}

ModelConfig parsed(Reader &reader, const std::vector<Edit> &edits) {
  Reading reading = parse(reader, edits);
  EXPECT_TRUE(reading.config) << reading.all();
  return *reading.config;
}

void expectSmallYarn(const ModelConfig &config) {
  EXPECT_EQ(config.rope_theta, 50000);
  ASSERT_TRUE(config.yarn);
  EXPECT_EQ(config.yarn->factor, 32);
  EXPECT_EQ(config.yarn->beta_fast, 8);
  EXPECT_EQ(config.yarn->beta_slow, 1);
  EXPECT_EQ(config.yarn->mscale, 0.5);
  EXPECT_EQ(config.yarn->mscale_all_dim, 1);
  EXPECT_EQ(config.yarn->original_max_position_embeddings, 512);
}

TEST(Spellings, RopeScheme) {
  const std::vector<Edit> forms[] = {
      {},
      {{"\"type\": \"yarn\"", "\"rope_type\": \"yarn\""}},
      {{"\"type\": \"yarn\"", "\"type\": \"deepseek_yarn\""}},
      {{"\"type\": \"yarn\"", "\"type\": \"yarn\", \"rope_type\": \"yarn\""}},
      {{"\"rope_scaling\"", "\"rope_parameters\""}},
      {{"\"rope_scaling\"", "\"rope_parameters\""},
       {"\"type\": \"yarn\"", "\"type\": \"yarn\", \"rope_theta\": 5e4"},
       {"\"rope_theta\": 50000.0,", ""}},
      {{"\"type\": \"yarn\"", "\"type\": \"yarn\", \"rope_theta\": 50000"}},
      {{"\"factor\": 32.0", "\"factor\": 32"},
       {"\"beta_fast\": 8.0", "\"beta_fast\": 8"},
       {"\"rope_theta\": 50000.0", "\"rope_theta\": 5E+4"}},
      {{"\"original_max_position_embeddings\": 512",
        "\"original_max_position_embeddings\": 512.0"}},
      {{"\"scoring_func\"", "\"rope_parameters\": null, \"scoring_func\""}},
      {{"\"scoring_func\"", "\"rope_parameters\": {}, \"scoring_func\""}},
  };
  Reader reader;
  for (const std::vector<Edit> &form : forms)
    expectSmallYarn(parsed(reader, form));
}

TEST(Spellings, BothRopeFormsAlike) {
  Reader reader;
  std::string scheme = "{\"rope_type\": \"yarn\", \"factor\": 4, "
                       "\"original_max_position_embeddings\": 64}";
  std::string old = smallConfig();
  size_t begin = old.find("\"rope_scaling\": {");
  size_t end = old.find("\"scoring_func\"");
  std::string block = old.substr(begin, end - begin);
  ModelConfig config =
      parsed(reader, {{block, "\"rope_scaling\": " + scheme +
                                  ", \"rope_parameters\": " + scheme + ", "}});
  ASSERT_TRUE(config.yarn);
  // The defaults of keys that are absent.
  EXPECT_EQ(config.yarn->beta_fast, 32);
  EXPECT_EQ(config.yarn->beta_slow, 1);
  EXPECT_EQ(config.yarn->mscale, 1);
  EXPECT_EQ(config.yarn->mscale_all_dim, 0);
  for (const char *off :
       {"null", "{}", "{\"rope_type\": \"default\"}", "{\"type\": \"default\"}",
        "{\"rope_theta\": 50000}",
        "{\"type\": \"yarn\", \"factor\": 1.0, \"mscale_all_dim\": 0}"})
    EXPECT_FALSE(
        parsed(reader, {{block, std::string("\"rope_scaling\": ") + off + ","}})
            .yarn)
        << off;
  EXPECT_FALSE(parsed(reader, {{block, ""}}).yarn);
}

TEST(Spellings, UnknownRopeKeyIsNamed) {
  Reader reader;
  for (const char *key : {"attn_factor", "attention_factor"}) {
    Reading reading =
        parse(reader, {{"\"mscale\": 0.5",
                        std::string("\"mscale\": 0.5, \"") + key + "\": 1.0"}});
    EXPECT_TRUE(reading.config);
    EXPECT_TRUE(reading.has(std::string("warning: key \"") + key + "\""))
        << reading.all();
  }
}

TEST(Spellings, WholeNumbers) {
  Reader reader;
  for (const char *number : {"3", "3.0", "3e0", "0.3e1", "30e-1", "3.000"}) {
    ModelConfig config =
        parsed(reader, {{"\"num_experts_per_tok\": 3",
                         std::string("\"num_experts_per_tok\": ") + number}});
    EXPECT_EQ(config.num_experts_per_tok, 3);
  }
  EXPECT_EQ(parsed(reader, {{"\"first_k_dense_replace\": 1",
                             "\"first_k_dense_replace\": 1.0"},
                            {"2.827", "1"}})
                .routed_scaling_factor,
            1);
}

TEST(Spellings, NullIsOff) {
  Reader reader;
  ModelConfig config =
      parsed(reader, {{"\"q_lora_rank\": 56", "\"q_lora_rank\": null"},
                      {"\"n_group\": 4", "\"n_group\": null"},
                      {"\"topk_group\": 2", "\"topk_group\": null"},
                      {"\"n_shared_experts\": 1", "\"n_shared_experts\": null"},
                      {"2.827", "null"},
                      {"\"eos_token_id\": 2", "\"eos_token_id\": null"}});
  EXPECT_FALSE(config.q_lora_rank);
  EXPECT_EQ(config.n_group, 1);
  EXPECT_EQ(config.topk_group, 1);
  EXPECT_EQ(config.n_shared_experts, 0);
  EXPECT_EQ(config.routed_scaling_factor, 1);
  EXPECT_TRUE(config.eos_token_ids.empty());
}

TEST(Spellings, OneExpertIsNotNormalised) {
  Reader reader;
  EXPECT_TRUE(parsed(reader, {}).norm_topk_prob);
  EXPECT_FALSE(parsed(reader, {{"\"num_experts_per_tok\": 3",
                                "\"num_experts_per_tok\": 1"}})
                   .norm_topk_prob);
}

TEST(Spellings, ExpertKeys) {
  Reader reader;
  for (const char *name : {"num_experts", "num_local_experts"})
    EXPECT_EQ(parsed(reader, {{"n_routed_experts", name}}).n_routed_experts,
              16);
  for (const char *name : {"num_experts_per_token", "moe_topk"})
    EXPECT_EQ(
        parsed(reader, {{"num_experts_per_tok", name}}).num_experts_per_tok, 3);
  ModelConfig config =
      parsed(reader, {{"n_shared_experts", "num_shared_experts"},
                      {"norm_topk_prob\": true", "moe_renormalize\": false"},
                      {"rms_norm_eps", "layernorm_epsilon"}});
  EXPECT_EQ(config.n_shared_experts, 1);
  EXPECT_FALSE(config.norm_topk_prob);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(parsed(reader, {{"\"n_group\": 4",
                             "\"n_group\": 4, \"num_experts\": 16.0"}})
                .n_routed_experts,
            16);
}

TEST(Spellings, Dtype) {
  Reader reader;
  EXPECT_EQ(parsed(reader, {{"torch_dtype", "dtype"}}).weightType,
            WeightType::BF16);
  EXPECT_EQ(parsed(reader, {{"bfloat16", "torch.float16"}}).weightType,
            WeightType::F16);
  EXPECT_EQ(parsed(reader, {{"\"torch_dtype\": \"bfloat16\",", ""}}).weightType,
            WeightType::BF16);
  EXPECT_EQ(parsed(reader, {{"\"torch_dtype\": \"bfloat16\"",
                             "\"torch_dtype\": \"bfloat16\", \"dtype\": "
                             "\"float32\""}})
                .weightType,
            WeightType::F32);
}

TEST(Spellings, DenseModels) {
  Reader reader;
  for (const char *experts : {"0", "null"}) {
    ModelConfig config =
        parsed(reader, {{"\"n_routed_experts\": 16",
                         std::string("\"n_routed_experts\": ") + experts}});
    ASSERT_EQ(config.layerRanges().size(), 1u);
    EXPECT_FALSE(config.layerRanges()[0].isMoE);
  }
  ModelConfig config = parsed(reader, {{"\"first_k_dense_replace\": 1",
                                        "\"first_k_dense_replace\": 5"}});
  ASSERT_EQ(config.layerRanges().size(), 1u);
}

TEST(Spellings, LayerFrequencies) {
  Reader reader;
  EXPECT_EQ(parsed(reader, {{"\"moe_layer_freq\": 1", "\"moe_layer_freq\": 2"}})
                .layerRanges()
                .size(),
            4u);
  ModelConfig config = parsed(
      reader,
      {{"\"moe_layer_freq\": 1", "\"moe_layer_freq\": [0, 1, 1, 0, 1]"}});
  EXPECT_EQ(config.layerRanges().size(), 4u);
  EXPECT_TRUE(config.isMoELayer(2));
  EXPECT_FALSE(config.isMoELayer(3));
}

TEST(Spellings, NestedTextModels) {
  Reader reader;
  std::string inner = smallConfig();
  for (const char *key : {"text_config", "language_config", "llm_config"}) {
    Reading reading = reader.parse("{\"model_type\": \"kimi_k25\", \"" +
                                   std::string(key) + "\": " + inner + "}");
    ASSERT_TRUE(reading.config) << reading.all();
    EXPECT_EQ(reading.config->tensor_prefix, "language_model.");
    EXPECT_TRUE(reading.messages.empty()) << reading.all();
  }
  Reading unknown = reader.parse("{\"model_type\": \"new_vl\", "
                                 "\"text_config\": " +
                                 inner + "}");
  EXPECT_TRUE(unknown.config);
  EXPECT_TRUE(unknown.has("warning: the model around 'text_config' is not "
                          "known"));
  Reading two =
      reader.parse("{\"model_type\": \"kimi_vl\", \"llm_config\": " + inner +
                   ", \"text_config\": " + inner + "}");
  EXPECT_TRUE(two.has("expected one text model"));
}

TEST(Spellings, ArchitecturesIsBelieved) {
  Reader reader;
  Reading reading = parse(reader, {{"\"kimi_k2\"", "\"kimi_linear\""}});
  EXPECT_TRUE(reading.config);
  EXPECT_TRUE(reading.has("warning: 'model_type' is \"kimi_linear\""));
  EXPECT_TRUE(parse(reader, {{"DeepseekV3ForCausalLM", "Qwen3ForCausalLM"}})
                  .has("\"Qwen3ForCausalLM\" is not a member"));
}

TEST(Spellings, UnknownKeysAreNotedOnce) {
  Reader reader;
  Reading reading =
      parse(reader, {{"\"n_group\": 4", "\"n_group\": 4, \"what\": 1e400, "
                                        "\"model_max_length\": "
                                        "1000000000000000019884624838656"},
                     {"\"v_head_dim\"", "\"ep_size\": 1, \"v_head_dim\""}});
  EXPECT_TRUE(reading.config);
  ASSERT_EQ(reading.messages.size(), 1u) << reading.all();
  EXPECT_TRUE(reading.has("remark: 2 keys are not known and ignored: "
                          "\"what\", \"model_max_length\""))
      << reading.all();
}

//===----------------------------------------------------------------------===//
// FP8 modules
//===----------------------------------------------------------------------===//

TEST(NotConverted, LayersWithOtherModulesAreOtherRanges) {
  Reader reader;
  ModelConfig config = parsed(
      reader,
      {{"\"quant_method\"",
        "\"modules_to_not_convert\": [\"lm_head\", \"gate\", \"q_a_proj\", "
        "\"model.layers.3.self_attn.o_proj\"], \"quant_method\""}});
  EXPECT_FALSE(config.fp8->converts(1, "self_attn.q_a_proj"));
  EXPECT_TRUE(config.fp8->converts(1, "mlp.experts.gate_proj"));
  EXPECT_TRUE(config.fp8->converts(2, "self_attn.o_proj"));
  EXPECT_FALSE(config.fp8->converts(3, "self_attn.o_proj"));
  auto ranges = config.layerRanges();
  ASSERT_EQ(ranges.size(), 4u);
  EXPECT_EQ(ranges[2].begin, 3);
  EXPECT_EQ(ranges[2].end, 4);
}

//===----------------------------------------------------------------------===//
// Files beside the configuration
//===----------------------------------------------------------------------===//

TEST(Beside, GenerationConfigGivesTheEnds) {
  Reader reader;
  Reading reading =
      reader.parse(smallConfig(), "{\"eos_token_id\": [7, 8, 7]}");
  ASSERT_TRUE(reading.config) << reading.all();
  EXPECT_EQ(reading.config->eos_token_ids, (std::vector<int64_t>{7, 8}));
  EXPECT_TRUE(reading.messages.empty()) << reading.all();
  reading = reader.parse(smallConfig(), "{\"max_length\": 5}");
  ASSERT_TRUE(reading.config);
  EXPECT_EQ(reading.config->eos_token_ids, std::vector<int64_t>{2});
  reading = reader.parse(smallConfig(), "{\n \"eos_token_id\": 250}");
  EXPECT_FALSE(reading.config);
  EXPECT_TRUE(reading.has("2:18: error: 'eos_token_id' is 250"))
      << reading.all();
  EXPECT_FALSE(reader.parse(smallConfig(), "{").config);
  EXPECT_FALSE(reader.parse(smallConfig(), "[]").config);
}

TEST(Beside, HfQuantConfigIsRefused) {
  Reader reader;
  Reading reading =
      reader.parse(smallConfig(), std::nullopt,
                   "{\"quantization\": {\"quant_algo\": \"NVFP4\"}}");
  EXPECT_FALSE(reading.config);
  EXPECT_TRUE(reading.has("1:33: error: hf_quant_config.json says"))
      << reading.all();
  EXPECT_TRUE(reading.has("quant_algo the string \"NVFP4\""));
}

TEST(Beside, FoldersAndPaths) {
  Reader reader;
  ModelConfig config = accepted(reader, "tiny-kimi");
  EXPECT_EQ(config.name, "tiny-kimi");
  EXPECT_EQ(config.eos_token_ids, std::vector<int64_t>{1794});
  EXPECT_EQ(accepted(reader, "tiny-kimi/config.json").name, "tiny-kimi");
  EXPECT_TRUE(reader.read("no-such-model").has("cannot open the file"));
}

TEST(Beside, ModelingFileGivesLines) {
  Reader reader;
  std::string text = "import torch\n"
                     "class VisionAttention(Module):\n"
                     "    pass\n"
                     "\n"
                     "class DeepseekV3RMSNorm(nn.Module):\n"
                     "    \"\"\"\n"
                     "class Inside(Text):\n"
                     "    \"\"\"\n"
                     "    def forward(self):\n"
                     "# at the edge\n"
                     "        return 1\n"
                     "\n"
                     "@decorated\n"
                     "class DeepseekV3Attention(nn.Module):\n"
                     "    x = 1\n"
                     "class MoEGate(nn.Module):\n"
                     "    y = 1";
  llvm::StringMap<ModelingClass> classes;
  scanModelingFile(&reader.context, {text, "modeling.py"}, "DeepseekV3",
                   classes);
  ASSERT_TRUE(classes.contains("RMSNorm"));
  mlir::FileLineColRange norm = classes.find("RMSNorm")->second.loc;
  EXPECT_EQ(norm.getStartLine(), 5u);
  EXPECT_EQ(norm.getEndLine(), 11u);
  auto attention = classes.find("Attention");
  EXPECT_EQ(attention->second.name, "DeepseekV3Attention");
  EXPECT_EQ(attention->second.loc.getStartLine(), 14u);
  EXPECT_EQ(attention->second.loc.getEndLine(), 15u);
  EXPECT_EQ(classes.find("MoEGate")->second.loc.getEndLine(), 17u);
  EXPECT_FALSE(classes.contains("DecoderLayer"));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

TEST(Places, KeysKnowTheirLines) {
  Reader reader;
  ModelConfig config = parsed(reader, {});
  auto place = [&](llvm::StringRef key) {
    auto locations = config.locationsOf(key);
    auto loc = llvm::cast<mlir::FileLineColLoc>(locations.front());
    return llvm::utostr(loc.getLine()) + ":" + llvm::utostr(loc.getColumn());
  };
  EXPECT_EQ(place("hidden_size"), "11:3");
  EXPECT_EQ(place("rope_scaling.factor"), "41:5");
  EXPECT_EQ(place("quantization_config.weight_block_size"), "33:5");
  // An absent key is where its object is.
  EXPECT_EQ(place("partial_rotary_factor"), "1:1");
}

TEST(Places, AllErrorsAreReported) {
  Reader reader;
  Reading reading =
      parse(reader, {{"\"hidden_size\": 96", "\"hidden_size\": 0"},
                     {"\"n_group\": 4", "\"n_group\": 3"},
                     {"\"factor\": 32.0", "\"factor\": \"x\""},
                     {"\"silu\"", "\"relu\""},
                     {"[128, 64]", "[]"}});
  EXPECT_EQ(reading.messages.size(), 5u) << reading.all();
}

TEST(Places, DuplicateKeyShowsTheFirst) {
  Reader reader;
  Reading reading =
      parse(reader, {{"\"vocab_size\": 250", "\"hidden_size\": 96"}});
  EXPECT_TRUE(reading.has("11:3: note: it stands here first"));
}

TEST(Places, CaretPointsAtTheValue) {
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  std::string text =
      smallConfig({{"\"hidden_size\": 96", "\"hidden_size\": 0"}});
  auto buffer = llvm::MemoryBuffer::getMemBuffer(text, "config.json");
  ConfigTexts texts = {*buffer, std::nullopt, std::nullopt};
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  std::string shown;
  llvm::raw_string_ostream out(shown);
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, out);
  EXPECT_TRUE(mlir::failed(parseModelConfig(&context, texts)));
  EXPECT_NE(shown.find("config.json:11:18: error: 'hidden_size' is 0"),
            std::string::npos)
      << shown;
  EXPECT_NE(shown.find("  \"hidden_size\": 0,\n                 ^"),
            std::string::npos)
      << shown;
}

TEST(Places, BigTextsAreBounded) {
  Reader reader;
  std::string many = "[0";
  for (unsigned count = 0; count <= JsonDocument::maxValues; ++count)
    many += ",0";
  EXPECT_TRUE(reader.parse(many + "]").has("more than 500000 values"));
  std::string large(JsonDocument::maxBytes + 1, ' ');
  EXPECT_TRUE(reader.parse(large).has("expected at most 16777216"));
  // A byte order mark is skipped and keeps columns in bytes.
  EXPECT_TRUE(
      reader.parse("\xEF\xBB\xBF[1]").has("1:4: error: the file holds"));
}

} // namespace
