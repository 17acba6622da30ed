//===- BuildModuleTest.cpp - The module of a configuration ----------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigTestSupport.h"

#include "moec/Import/Import.h"

#include "dialects/Transformer/TransformerOps.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace moec;
using namespace moec::test;
namespace tf = moec::transformer;

namespace {

class BuildModule : public ::testing::Test {
protected:
  mlir::OwningOpRef<mlir::ModuleOp>
  build(const ModelConfig &config, Activations activations, bool taps = false) {
    ImportOptions options;
    options.activations = activations;
    options.taps = taps;
    auto module = importModel(&reader.context, config, options);
    EXPECT_TRUE(module);
    return module;
  }
  mlir::OwningOpRef<mlir::ModuleOp>
  build(llvm::StringRef file, Activations activations = Activations::bf16) {
    return build(read(file), activations);
  }
  ModelConfig read(llvm::StringRef file) {
    Reading reading = reader.read(("configs/" + file + ".json").str());
    EXPECT_TRUE(reading.config) << reading.all();
    return *reading.config;
  }
  ModelConfig small(const std::vector<Edit> &edits = {}) {
    Reading reading = reader.parse(smallConfig(edits));
    EXPECT_TRUE(reading.config) << reading.all();
    return *reading.config;
  }

  Reader reader;
};

template <typename OpT> std::vector<OpT> all(mlir::ModuleOp module) {
  std::vector<OpT> ops;
  module.walk([&](OpT op) { ops.push_back(op); });
  return ops;
}

unsigned countOps(mlir::ModuleOp module) {
  unsigned count = 0;
  module.walk([&](mlir::Operation *) { ++count; });
  return count;
}

/// The parameter of a tensor; null if there is none.
tf::ParameterOp find(mlir::ModuleOp module, llvm::StringRef tensorName) {
  for (tf::ParameterOp parameter : all<tf::ParameterOp>(module))
    if (parameter.getTensorName() == tensorName)
      return parameter;
  return nullptr;
}

double scaleOf(mlir::ModuleOp module) {
  return all<tf::AttentionOp>(module).front().getScale().convertToDouble();
}

TEST_F(BuildModule, EveryAcceptedConfigBuildsInEveryArithmetic) {
  for (const char *file :
       {"moonshotai__Kimi-K2-Base", "moonshotai__Kimi-K2-Instruct-0905",
        "deepseek-ai__DeepSeek-V3", "deepseek-ai__DeepSeek-V2-Lite",
        "deepseek-ai__DeepSeek-V2.5", "moonshotai__Moonlight-16B-A3B-Instruct",
        "moonshotai__Kimi-VL-A3B-Instruct.text", "resaved-v5__Kimi-K2-Instruct",
        "zai-org__GLM-4.7-Flash.full", "tencent__Youtu-LLM-2B.defaults",
        "sarvamai__sarvam-105b"})
    for (Activations activations :
         {Activations::f32, Activations::bf16, Activations::fp8})
      for (bool taps : {false, true})
        EXPECT_TRUE(build(read(file), activations, taps)) << file;
}

TEST_F(BuildModule, OpCountIsIndependentOfLayersAndExperts) {
  unsigned expected = countOps(*build(small(), Activations::fp8, true));
  for (const Edit &edit : std::vector<Edit>{
           {"\"num_hidden_layers\": 5", "\"num_hidden_layers\": 100000"},
           {"\"n_routed_experts\": 16", "\"n_routed_experts\": 4096"}})
    EXPECT_EQ(countOps(*build(small({edit}), Activations::fp8, true)),
              expected);
}

TEST_F(BuildModule, KimiParameters) {
  auto module = build("moonshotai__Kimi-K2-Instruct");
  auto layers = all<tf::LayersOp>(*module);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].getLayerEnd(), 1u);
  EXPECT_EQ(layers[1].getLayerBegin(), 1u);
  EXPECT_EQ(layers[1].getLayerEnd(), 61u);

  std::string name = "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight";
  tf::ParameterOp up = find(*module, name);
  ASSERT_TRUE(up);
  EXPECT_EQ(up.getScaleName(), name + "_scale_inv");
  EXPECT_EQ(up.getExperts(), 384u);
  EXPECT_EQ(up.getLayerBegin(), 1u);
  auto type = llvm::cast<tf::BlockScaledType>(up.getType());
  EXPECT_EQ(type.getShape(), (llvm::ArrayRef<int64_t>{2048, 7168}));
  EXPECT_EQ(type.getBlock(), (llvm::ArrayRef<int64_t>{128, 128}));

  // Never FP8, whatever quantization_config says.
  for (const char *plain : {"model.embed_tokens.weight", "lm_head.weight",
                            "model.layers.{layer}.mlp.gate.weight"}) {
    ASSERT_TRUE(find(*module, plain)) << plain;
    EXPECT_TRUE(
        llvm::isa<mlir::RankedTensorType>(find(*module, plain).getType()));
  }
  for (const char *widened :
       {"model.norm.weight", "model.layers.{layer}.input_layernorm.weight",
        "model.layers.{layer}.mlp.gate.e_score_correction_bias"}) {
    ASSERT_TRUE(find(*module, widened)) << widened;
    EXPECT_TRUE(find(*module, widened).getWidened());
  }
}

TEST_F(BuildModule, AttentionScales) {
  constexpr double close = 1e-6;
  EXPECT_NEAR(scaleOf(*build("moonshotai__Kimi-K2-Instruct")), 0.130861, close);
  EXPECT_NEAR(scaleOf(*build("moonshotai__Kimi-K2-Instruct-0905")), 0.144680,
              close);
  EXPECT_NEAR(scaleOf(*build("deepseek-ai__DeepSeek-V3")), 0.135234, close);
  EXPECT_NEAR(scaleOf(*build("deepseek-ai__DeepSeek-V2-Lite")), 0.114721,
              close);
  // No YaRN: 192 and 256 wide heads.
  EXPECT_NEAR(scaleOf(*build("moonshotai__Moonlight-16B-A3B-Instruct")),
              0.0721688, close);
  EXPECT_NEAR(scaleOf(*build("zai-org__GLM-4.7-Flash.full")), 0.0625, close);
}

TEST_F(BuildModule, InnerNormsKeepTheirEpsilon) {
  auto module = build("moonshotai__Moonlight-16B-A3B-Instruct");
  unsigned inner = 0, outer = 0;
  for (tf::RmsNormOp norm : all<tf::RmsNormOp>(*module)) {
    double eps = norm.getEps().convertToDouble();
    inner += eps == 1e-6;
    outer += eps == 1e-5;
  }
  // kv_a_layernorm of two ranges; two norms of each and the last.
  EXPECT_EQ(inner, 2u);
  EXPECT_EQ(outer, 5u);
}

TEST_F(BuildModule, WithoutQueryLatent) {
  auto module = build("moonshotai__Moonlight-16B-A3B-Instruct");
  EXPECT_TRUE(find(*module, "model.layers.{layer}.self_attn.q_proj.weight"));
  EXPECT_FALSE(find(*module, "model.layers.{layer}.self_attn.q_a_proj.weight"));
}

TEST_F(BuildModule, TiedHead) {
  auto module = build("tencent__Youtu-LLM-2B.defaults");
  EXPECT_FALSE(find(*module, "lm_head.weight"));
  EXPECT_TRUE(find(*module, "model.embed_tokens.weight"));
  EXPECT_TRUE(all<tf::ExpertsOp>(*module).empty());
}

TEST_F(BuildModule, NestedNamesHaveThePrefix) {
  auto module = build("moonshotai__Kimi-VL-A3B-Instruct.text");
  for (tf::ParameterOp parameter : all<tf::ParameterOp>(*module))
    EXPECT_TRUE(parameter.getTensorName().starts_with("language_model."))
        << parameter.getTensorName().str();
}

TEST_F(BuildModule, Routers) {
  auto lite = build("deepseek-ai__DeepSeek-V2-Lite");
  tf::RouteOp softmax = all<tf::RouteOp>(*lite).front();
  EXPECT_EQ(softmax.getScoring(), tf::ScoringFunc::softmax);
  EXPECT_EQ(softmax.getMethod(), tf::TopkMethod::greedy);
  EXPECT_FALSE(softmax.getBias());
  EXPECT_FALSE(softmax.getNormalize());

  auto v3 = build("deepseek-ai__DeepSeek-V3");
  tf::RouteOp sigmoid = all<tf::RouteOp>(*v3).front();
  EXPECT_EQ(sigmoid.getScoring(), tf::ScoringFunc::sigmoid);
  EXPECT_EQ(sigmoid.getMethod(), tf::TopkMethod::noaux_tc);
  EXPECT_TRUE(sigmoid.getBias());
  EXPECT_TRUE(sigmoid.getNormalize());
  EXPECT_EQ(sigmoid.getNGroup(), 8u);
  EXPECT_EQ(sigmoid.getTopkGroup(), 4u);

  auto one = build(
      small({{"\"num_experts_per_tok\": 3", "\"num_experts_per_tok\": 1"}}),
      Activations::bf16);
  EXPECT_FALSE(all<tf::RouteOp>(*one).front().getNormalize());
}

TEST_F(BuildModule, EachInputIsQuantisedOnce) {
  auto module = build("moonshotai__Kimi-K2-Instruct", Activations::fp8);
  // Attention: x (two linears), the query latent, the output. Then x and the
  // product of a dense MLP, of the experts and of the shared expert.
  EXPECT_EQ(all<tf::QuantizeOp>(*module).size(), (3u + 2) + (3 + 2 + 2));
  for (tf::AttentionOp attention : all<tf::AttentionOp>(*module))
    EXPECT_TRUE(attention.getQuantizeLatent());
  auto plain = build("moonshotai__Kimi-K2-Instruct", Activations::bf16);
  EXPECT_TRUE(all<tf::QuantizeOp>(*plain).empty());
}

TEST_F(BuildModule, UnconvertedModulesStayPlain) {
  auto module = build(small({{"\"quant_method\"",
                              "\"modules_to_not_convert\": [\"kv_b_proj\"], "
                              "\"quant_method\""}}),
                      Activations::fp8);
  auto weight =
      find(*module, "model.layers.{layer}.self_attn.kv_b_proj.weight");
  EXPECT_TRUE(llvm::isa<mlir::RankedTensorType>(weight.getType()));
  for (tf::AttentionOp attention : all<tf::AttentionOp>(*module))
    EXPECT_FALSE(attention.getQuantizeLatent());
}

TEST_F(BuildModule, TapsOnlyOnDemand) {
  std::vector<std::string> names;
  auto module = build(small(), Activations::f32, /*taps=*/true);
  for (tf::TapOp tap : all<tf::TapOp>(*module))
    names.push_back(tap.getName().str());
  llvm::sort(names);
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "embedding", "layers.{layer}.attention_output",
          "layers.{layer}.attention_output", "layers.{layer}.block_output",
          "layers.{layer}.block_output", "layers.{layer}.ffn_output",
          "layers.{layer}.ffn_output", "layers.{layer}.router_indices",
          "layers.{layer}.router_logits", "layers.{layer}.router_weights"}));
  EXPECT_TRUE(all<tf::TapOp>(*build(small(), Activations::f32)).empty());
}

/// Whether a place of the location is on the line of the file.
bool leadsTo(mlir::Location loc, llvm::StringRef file, unsigned line) {
  bool found = false;
  loc->walk([&](mlir::Location part) {
    if (auto place = llvm::dyn_cast<mlir::FileLineColRange>(part))
      found |= place.getFilename() == file && place.getStartLine() == line;
    return mlir::WalkResult::advance();
  });
  return found;
}

bool hasName(mlir::Location loc, llvm::StringRef name) {
  bool found = false;
  loc->walk([&](mlir::Location part) {
    if (auto named = llvm::dyn_cast<mlir::NameLoc>(part))
      found |= named.getName() == name;
    return mlir::WalkResult::advance();
  });
  return found;
}

TEST_F(BuildModule, LocationsLeadToTheKeys) {
  ModelConfig config = small();
  scanModelingFile(&reader.context,
                   {"import torch\nclass MoEGate(nn.Module):\n  x = 1\n",
                    "modeling_deepseek.py"},
                   "DeepseekV3", config.modelingClasses);
  auto module = build(config, Activations::bf16);
  constexpr unsigned lineOfNGroup = 17, lineOfFactor = 41, lineOfHidden = 11;
  mlir::Location route = all<tf::RouteOp>(*module).front().getLoc();
  EXPECT_TRUE(leadsTo(route, "config.json", lineOfNGroup));
  EXPECT_TRUE(leadsTo(route, "modeling_deepseek.py", 2));
  EXPECT_TRUE(hasName(route, "model.layers.{layer}.mlp.gate"));
  // The group's line, of which factor is a part.
  mlir::Location table = all<tf::RopeTableOp>(*module).front().getLoc();
  EXPECT_TRUE(leadsTo(table, "config.json", lineOfFactor - 3));
  mlir::Location embedding = all<tf::EmbeddingOp>(*module).front().getLoc();
  EXPECT_TRUE(leadsTo(embedding, "config.json", lineOfHidden));
}

TEST_F(BuildModule, EveryOpHasEvidence) {
  auto module = build(small(), Activations::fp8, /*taps=*/true);
  module->getBody()->walk([&](mlir::Operation *op) {
    bool hasPlace = false;
    mlir::Location loc = op->getLoc();
    loc->walk([&](mlir::Location part) {
      hasPlace |= llvm::isa<mlir::FileLineColRange>(part);
      return mlir::WalkResult::advance();
    });
    EXPECT_TRUE(hasPlace) << op->getName().getStringRef().str();
  });
}

TEST_F(BuildModule, SaysWhatTheManifestNeeds) {
  auto module = build("deepseek-ai__DeepSeek-V3");
  auto model =
      (*module)->getAttrOfType<mlir::DictionaryAttr>("transformer.model");
  ASSERT_TRUE(model);
  EXPECT_EQ(model.getAs<mlir::IntegerAttr>("num_hidden_layers").getInt(), 61);
  EXPECT_EQ(model.getAs<mlir::StringAttr>("activations"), "bf16");
  auto leftOut = model.getAs<mlir::ArrayAttr>("left_out");
  ASSERT_EQ(leftOut.size(), 1u);
  EXPECT_EQ(llvm::cast<mlir::DictionaryAttr>(leftOut[0])
                .getAs<mlir::StringAttr>("prefix"),
            "model.layers.61.");
}

} // namespace
