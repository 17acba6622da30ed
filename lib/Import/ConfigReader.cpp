//===- ConfigReader.cpp - From JSON to a ModelConfig ----------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigReader.h"

#include "ConfigSections.h"
#include "FieldReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace moec;
using llvm::StringRef;
using mlir::failure;
using mlir::FailureOr;

/// A layer's body stands once for all equal layers, but a layer costs a bit of
/// time and a place in names.
static constexpr IntegerRange layerCounts = {1, 100000};
static constexpr IntegerRange anyCount = {0,
                                          std::numeric_limits<int32_t>::max()};
static constexpr IntegerRange sizes = {};

//===----------------------------------------------------------------------===//
// Sizes and attention
//===----------------------------------------------------------------------===//

static void readSizes(FieldReader &fields) {
  ModelConfig &config = fields.state.config;
  fields.read("vocab_size", config.vocab_size, sizes, Presence::Required);
  fields.read("hidden_size", config.hidden_size, sizes, Presence::Required);
  fields.read("num_hidden_layers", config.num_hidden_layers, layerCounts,
              Presence::Required);
  fields.read("max_position_embeddings", config.max_position_embeddings, sizes,
              Presence::Required);
  fields.read("rms_norm_eps", config.rms_norm_eps, {0, 1, /*withMin=*/false},
              Presence::Required);
  fields.read("tie_word_embeddings", config.tie_word_embeddings);
  unsigned silu = 0;
  fields.read("hidden_act", silu, {"silu"});
}

/// Reports a product of sizes that a 32-bit size would not hold.
static void checkProduct(FieldReader &fields, StringRef key, int64_t count,
                         int64_t size, StringRef what) {
  int64_t product = 0;
  if (llvm::MulOverflow(count, size, product) || product > sizes.max)
    fields.error(key) << "'" << key << "' is " << count << ", which makes "
                      << what << " of " << count << " x " << size
                      << "; expected at most " << sizes.max;
}

static void checkHeads(FieldReader &fields) {
  ModelConfig &config = fields.state.config;
  if (fields.isGood({"qk_rope_head_dim"}) && config.qk_rope_head_dim % 2 != 0)
    fields.wrong("qk_rope_head_dim", *fields.find("qk_rope_head_dim"),
                 "an even number, because rope rotates pairs");
  if (!fields.isGood({"num_attention_heads", "qk_nope_head_dim",
                      "qk_rope_head_dim", "v_head_dim"}))
    return;
  checkProduct(fields, "num_attention_heads", config.num_attention_heads,
               config.qk_nope_head_dim + config.qk_rope_head_dim, "queries");
  checkProduct(fields, "num_attention_heads", config.num_attention_heads,
               config.qk_nope_head_dim + config.v_head_dim, "keys and values");
}

static void readAttention(FieldReader &fields) {
  ModelConfig &config = fields.state.config;
  fields.read("num_attention_heads", config.num_attention_heads, sizes,
              Presence::Required);
  int64_t keyValueHeads = config.num_attention_heads;
  fields.read("num_key_value_heads", keyValueHeads, sizes, Presence::Optional);
  if (fields.isGood({"num_attention_heads", "num_key_value_heads"}) &&
      keyValueHeads != config.num_attention_heads)
    fields.wrong("num_key_value_heads", *fields.find("num_key_value_heads"),
                 "num_attention_heads, which is " +
                     llvm::Twine(config.num_attention_heads));
  int64_t queryRank = 0;
  fields.read("q_lora_rank", queryRank, sizes, Presence::Optional);
  if (queryRank > 0)
    config.q_lora_rank = queryRank;
  for (auto [key, field] :
       {std::pair("kv_lora_rank", &config.kv_lora_rank),
        std::pair("qk_nope_head_dim", &config.qk_nope_head_dim),
        std::pair("qk_rope_head_dim", &config.qk_rope_head_dim),
        std::pair("v_head_dim", &config.v_head_dim)})
    fields.read(key, *field, sizes, Presence::Required);
  checkHeads(fields);
  fields.read("rope_interleave", config.rope_interleave);
  double rotatedPart = 1;
  fields.read("partial_rotary_factor", rotatedPart, {1, 1}, Presence::Optional);
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// moe_layer_freq: every how manieth layer is routed, or one 0 or 1 per layer.
static void readLayerKinds(FieldReader &fields) {
  ModelConfig &config = fields.state.config;
  fields.read("first_k_dense_replace", config.first_k_dense_replace,
              {0, layerCounts.max}, Presence::Optional);
  if (fields.isGood({"first_k_dense_replace", "num_hidden_layers"}) &&
      config.first_k_dense_replace > config.num_hidden_layers)
    fields.wrong("first_k_dense_replace", *fields.find("first_k_dense_replace"),
                 "at most num_hidden_layers, which is " +
                     llvm::Twine(config.num_hidden_layers));
  const JsonValue *kinds = fields.findSet("moe_layer_freq");
  if (!kinds || kinds->kind != JsonKind::Array)
    return fields.read("moe_layer_freq", config.moe_layer_freq,
                       {1, layerCounts.max}, Presence::Optional);
  if (!fields.isGood({"num_hidden_layers"}))
    return;
  if (int64_t(kinds->children.size()) != config.num_hidden_layers)
    return fields.wrong("moe_layer_freq", *kinds,
                        "one entry for each of the " +
                            llvm::Twine(config.num_hidden_layers) + " layers");
  for (const JsonValue &kind : kinds->children)
    config.moe_layers.push_back(
        fields.integer("moe_layer_freq", kind, {0, 1}).value_or(0) == 1);
}

static void readRouter(FieldReader &fields, const Family &family) {
  ModelConfig &config = fields.state.config;
  constexpr double largestFactor = 1e9;
  fields.read("norm_topk_prob", config.norm_topk_prob);
  fields.read("routed_scaling_factor", config.routed_scaling_factor,
              {0, largestFactor, /*withMin=*/false}, Presence::Optional);
  unsigned scoring = family.scoringFunc == ScoringFunc::Softmax;
  fields.read("scoring_func", scoring, {"sigmoid", "softmax"});
  config.scoring_func = scoring ? ScoringFunc::Softmax : ScoringFunc::Sigmoid;
  unsigned method = static_cast<unsigned>(family.topkMethod);
  fields.read("topk_method", method,
              {"noaux_tc", "greedy", "group_limited_greedy"});
  config.topk_method = static_cast<TopkMethod>(method);
  config.has_router_bias = config.topk_method == TopkMethod::NoauxTc;
  // Whether weights are scaled after normalisation depends on both keys, and
  // published code says it for these pairs only.
  bool isSigmoid = config.scoring_func == ScoringFunc::Sigmoid;
  if (fields.isGood({"scoring_func", "topk_method"}) &&
      isSigmoid != config.has_router_bias)
    fields.error("topk_method")
        << "topk_method and scoring_func do not belong together; expected "
           "\"noaux_tc\" with \"sigmoid\", or \"greedy\" or "
           "\"group_limited_greedy\" with \"softmax\"";
  bool biasIsEnabled = config.has_router_bias;
  fields.read("moe_router_enable_expert_bias", biasIsEnabled);
  if (biasIsEnabled != config.has_router_bias)
    fields.error("moe_router_enable_expert_bias")
        << "'moe_router_enable_expert_bias' is "
        << (biasIsEnabled ? "true" : "false")
        << "; expected true with topk_method \"noaux_tc\" and false otherwise";
}

static void checkGroups(FieldReader &fields) {
  ModelConfig &config = fields.state.config;
  if (!fields.isGood({"n_group", "n_routed_experts"}))
    return;
  if (config.n_routed_experts % config.n_group != 0) {
    fields.error("n_group") << "'n_group' is " << config.n_group
                            << "; expected a divisor of n_routed_experts, "
                            << "which is " << config.n_routed_experts;
    return;
  }
  if (!fields.isGood({"topk_group", "num_experts_per_tok"}) ||
      config.n_group == 1 || config.topk_method == TopkMethod::Greedy)
    return;
  int64_t groupSize = config.n_routed_experts / config.n_group;
  if (config.topk_method == TopkMethod::NoauxTc && groupSize < 2)
    fields.error("n_group")
        << "'n_group' is " << config.n_group
        << "; expected groups of at least 2 of the " << config.n_routed_experts
        << " experts, because a group counts as the sum "
           "of its two best";
  if (config.num_experts_per_tok > config.topk_group * groupSize)
    fields.error("num_experts_per_tok")
        << "'num_experts_per_tok' is " << config.num_experts_per_tok
        << "; expected at most " << config.topk_group * groupSize
        << ", the experts of the " << config.topk_group << " chosen groups";
}

static void readGroups(FieldReader &fields) {
  ModelConfig &config = fields.state.config;
  fields.read("num_experts_per_tok", config.num_experts_per_tok, sizes,
              Presence::Required);
  if (fields.isGood({"num_experts_per_tok", "n_routed_experts"}) &&
      config.num_experts_per_tok > config.n_routed_experts) {
    fields.error("num_experts_per_tok")
        << "'num_experts_per_tok' is " << config.num_experts_per_tok
        << "; expected at most n_routed_experts, which is "
        << config.n_routed_experts;
    fields.markBad("num_experts_per_tok");
  }
  // As in the modelling files: one expert's weight is not normalised, or it
  // would always be 1.
  if (config.num_experts_per_tok == 1)
    config.norm_topk_prob = false;
  fields.read("n_group", config.n_group, sizes, Presence::Optional);
  fields.read("topk_group", config.topk_group, sizes, Presence::Optional);
  if (fields.isGood({"n_group", "topk_group"}) &&
      config.topk_group > config.n_group) {
    fields.error("topk_group")
        << "'topk_group' is " << config.topk_group
        << "; expected at most n_group, which is " << config.n_group;
    fields.markBad("topk_group");
  }
  checkGroups(fields);
}

static bool hasLayerOfKind(const ModelConfig &config, bool isMoE) {
  for (int64_t layer = 0; layer < config.num_hidden_layers; ++layer)
    if (config.isMoELayer(layer) == isMoE)
      return true;
  return false;
}

static void readExperts(FieldReader &fields, const Family &family) {
  ModelConfig &config = fields.state.config;
  fields.read("n_routed_experts", config.n_routed_experts, anyCount,
              family.isDense ? Presence::Optional : Presence::RequiredOrNull);
  readLayerKinds(fields);
  readRouter(fields, family);
  fields.read("n_shared_experts", config.n_shared_experts, anyCount,
              Presence::Optional);
  bool hasExperts =
      config.n_routed_experts > 0 || !fields.isGood({"n_routed_experts"});
  Presence ofExperts = hasExperts ? Presence::Required : Presence::Optional;
  fields.read("moe_intermediate_size", config.moe_intermediate_size, sizes,
              ofExperts);
  if (hasExperts) {
    readGroups(fields);
    if (fields.isGood({"n_shared_experts", "moe_intermediate_size"}))
      checkProduct(fields, "n_shared_experts", config.n_shared_experts,
                   config.moe_intermediate_size, "a shared expert");
  } else {
    // A dense model's values are of no use, but are understood.
    for (StringRef key : {"num_experts_per_tok", "n_group", "topk_group"})
      fields.find(key);
  }
  bool kindsAreGood =
      fields.isGood({"n_routed_experts", "num_hidden_layers",
                     "first_k_dense_replace", "moe_layer_freq"});
  bool needsDense = kindsAreGood && hasLayerOfKind(config, /*isMoE=*/false);
  fields.read("intermediate_size", config.intermediate_size, sizes,
              needsDense ? Presence::Required : Presence::Optional);
}

//===----------------------------------------------------------------------===//
// Types and tokens
//===----------------------------------------------------------------------===//

static std::optional<WeightType> readWeightType(FieldReader &fields,
                                                StringRef key) {
  static constexpr std::pair<StringRef, WeightType> types[] = {
      {"bfloat16", WeightType::BF16},
      {"float16", WeightType::F16},
      {"float32", WeightType::F32}};
  const JsonValue *value = fields.findSet(key);
  if (!value)
    return std::nullopt;
  if (value->kind == JsonKind::String) {
    StringRef name = value->text;
    name.consume_front("torch.");
    for (auto [word, type] : types)
      if (word == name)
        return type;
  }
  fields.wrong(key, *value, "\"bfloat16\", \"float16\" or \"float32\"");
  return std::nullopt;
}

/// `dtype` is the newer spelling of `torch_dtype`. Where a file has both, it
/// was saved again with the newer one, which holds.
static void readWeightTypes(FieldReader &fields) {
  std::optional<WeightType> older = readWeightType(fields, "torch_dtype");
  std::optional<WeightType> newer = readWeightType(fields, "dtype");
  if (older && newer && *older != *newer)
    mlir::emitRemark(
        fields.state.document.valueLoc(*fields.find("torch_dtype")))
        << "'torch_dtype' differs from 'dtype', which holds";
  fields.state.config.weightType =
      newer.value_or(older.value_or(WeightType::BF16));
}

static void readEndTokens(FieldReader &fields, const IntegerRange &ids) {
  ModelConfig &config = fields.state.config;
  const JsonValue *value = fields.findSet("eos_token_id");
  if (!value)
    return;
  llvm::ArrayRef<JsonValue> tokens = *value;
  if (value->kind == JsonKind::Array)
    tokens = value->children;
  constexpr size_t mostTokens = 1000;
  if (tokens.size() > mostTokens)
    return fields.wrong("eos_token_id", *value, "at most 1000 token ids");
  for (const JsonValue &token : tokens)
    if (std::optional<int64_t> id = fields.integer("eos_token_id", token, ids))
      if (!llvm::is_contained(config.eos_token_ids, *id))
        config.eos_token_ids.push_back(*id);
}

/// generation_config.json knows best where a turn ends: K2's config.json has
/// the end of a document.
static void readTokens(FieldReader &fields, const JsonDocument *generation) {
  ModelConfig &config = fields.state.config;
  if (!fields.isGood({"vocab_size"}))
    return;
  IntegerRange ids = {0, config.vocab_size - 1};
  int64_t first = -1;
  fields.read("bos_token_id", first, ids, Presence::Optional);
  if (first >= 0)
    config.bos_token_id = first;
  if (generation) {
    ReadState state = {*generation, config};
    FieldReader generationFields(state, generation->root());
    readEndTokens(generationFields, ids);
    fields.state.failed |= state.failed;
    if (state.failed || !config.eos_token_ids.empty()) {
      fields.find("eos_token_id");
      return;
    }
  }
  readEndTokens(fields, ids);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static void refuseUnsupportedKeys(FieldReader &fields) {
  for (const UnsupportedKey &entry : unsupportedKeys()) {
    const JsonValue *value = fields.findSet(entry.key);
    bool isAsked =
        value && (entry.when == UnsupportedKey::When::Set ||
                  value->kind != JsonKind::Boolean || value->boolean);
    if (isAsked)
      fields.error(*value) << "'" << entry.key << "' is " << describe(*value)
                           << ", which asks for " << entry.reason
                           << "; this is not supported"
                           << (entry.when == UnsupportedKey::When::Set
                                   ? " yet, expected no such key"
                                   : ", expected false");
  }
}

static void leaveOut(FieldReader &fields, const TextModel &model) {
  ModelConfig &config = fields.state.config;
  constexpr IntegerRange mostPredictLayers = {0, 64};
  int64_t predictLayers = 0;
  fields.read("num_nextn_predict_layers", predictLayers, mostPredictLayers,
              Presence::Optional);
  if (!fields.isGood({"num_hidden_layers"}))
    return;
  for (int64_t index = 0; index < predictLayers; ++index)
    config.leftOut.push_back(
        {config.tensor_prefix + "model.layers." +
             std::to_string(config.num_hidden_layers + index) + ".",
         "multi-token prediction layer, not needed for one token at a time"});
  for (StringRef part : model.otherParts)
    config.leftOut.push_back({part.str(), "not part of the text model"});
}

static void checkLayerRanges(FieldReader &fields) {
  if (!fields.isGood({"num_hidden_layers", "first_k_dense_replace",
                      "moe_layer_freq", "n_routed_experts"}))
    return;
  size_t ranges = fields.state.config.layerRanges().size();
  if (ranges > ModelConfig::maxLayerRanges)
    fields.error("moe_layer_freq")
        << "the layers change their kind " << ranges
        << " times; expected at most " << ModelConfig::maxLayerRanges
        << " runs of equal layers";
}

/// Products of sizes are used for bytes of memory, in 64 bits.
static void checkModelSize(FieldReader &fields) {
  const ModelConfig &config = fields.state.config;
  if (fields.state.failed)
    return;
  double hidden = config.hidden_size;
  double heads = config.num_attention_heads;
  double headSize =
      config.qk_nope_head_dim + config.qk_rope_head_dim + config.v_head_dim;
  double attention =
      heads * headSize *
      (hidden + config.q_lora_rank.value_or(0) + double(config.kv_lora_rank));
  double experts = double(config.n_routed_experts + config.n_shared_experts) *
                   config.moe_intermediate_size * hidden * 3;
  double dense = 3.0 * config.intermediate_size * hidden;
  double parameters = config.num_hidden_layers * (attention + experts + dense) +
                      2.0 * config.vocab_size * hidden;
  constexpr double most = 1e17;
  if (parameters > most)
    fields.error("hidden_size")
        << "these sizes make a model of about " << plain(parameters)
        << " parameters; expected at most " << plain(most);
}

/// Keys that no reader asked for, named once and quietly.
static void noteUnknownKeys(FieldReader &fields) {
  constexpr size_t mostNamed = 40;
  llvm::SmallVector<std::string> names;
  const JsonValue *first = nullptr;
  for (const JsonValue *member : fields.unusedMembers()) {
    if (hasNoEffect(member->key))
      continue;
    first = first ? first : member;
    names.push_back(quoteText(member->key));
  }
  if (!first)
    return;
  size_t count = names.size();
  if (count > mostNamed) {
    names.truncate(mostNamed);
    names.push_back("...");
  }
  mlir::emitRemark(fields.state.document.keyLoc(*first))
      << count << (count == 1 ? " key is" : " keys are")
      << " not known and ignored: " << llvm::join(names, ", ");
}

static StringRef nameOfModel(const JsonValue &object, StringRef key) {
  const JsonValue *value = object.find(key);
  if (value && value->kind == JsonKind::Array && !value->children.empty())
    value = &value->children.front();
  return value && value->kind == JsonKind::String ? StringRef(value->text)
                                                  : StringRef();
}

static ModelConfig startConfig(const JsonDocument &document,
                               const TextModel &model) {
  ModelConfig config(document.valueLoc(*model.object));
  config.model_type = nameOfModel(*model.object, "model_type");
  if (config.model_type.empty())
    config.model_type = model.family->modelTypes.front();
  config.architecture = model.family->architecture;
  config.tensor_prefix = model.tensorPrefix;
  config.norm_topk_prob = model.family->normTopkProb;
  config.tie_word_embeddings = model.family->tieWordEmbeddings;
  return config;
}

FailureOr<ModelConfig> moec::readFields(const JsonDocument &document,
                                        const TextModel &model,
                                        const JsonDocument *generation) {
  ModelConfig config = startConfig(document, model);
  ReadState state = {document, config};
  FieldReader fields(state, *model.object, model.outer);
  for (StringRef key : {"architectures", "model_type"})
    fields.find(key);
  for (StringRef key : {"text_config", "language_config", "llm_config"})
    fields.markUsed(key);
  refuseUnsupportedKeys(fields);
  readSizes(fields);
  readAttention(fields);
  readRope(fields, *model.family);
  readExperts(fields, *model.family);
  readQuantization(fields);
  readWeightTypes(fields);
  readTokens(fields, generation);
  leaveOut(fields, model);
  checkLayerRanges(fields);
  checkModelSize(fields);
  if (state.failed)
    return failure();
  noteUnknownKeys(fields);
  return config;
}
