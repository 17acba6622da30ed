//===- BuildModule.cpp - The model in the transformer dialect -*- C++ -*-===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace moec;
namespace tf = moec::transformer;

std::optional<Activations> moec::symbolizeActivations(StringRef name) {
  if (name == "f32")
    return Activations::f32;
  if (name == "bf16")
    return Activations::bf16;
  if (name == "fp8")
    return Activations::fp8;
  return std::nullopt;
}

StringRef moec::stringifyActivations(Activations activations) {
  switch (activations) {
  case Activations::f32:
    return "f32";
  case Activations::bf16:
    return "bf16";
  case Activations::fp8:
    return "fp8";
  }
  llvm_unreachable("every mode has a name");
}

namespace {

/// Builds the blocks in the order in which data flows through them.
class BlockBuilder : public ModelBuilder {
public:
  using ModelBuilder::ModelBuilder;

  void buildForward();

private:
  /// Values that every layer uses.
  struct Shared {
    Value positions, cos, sin;
  };
  std::pair<Value, Value> layers(const LayerRange &range, Value x, Value cache,
                                 const Shared &shared);
  std::pair<Value, Value> attention(Value x, Value cache, const Shared &shared);
  Value query(Value h);
  Value mlp(Value x, StringRef module, int64_t width, Value expert);
  Value moe(Value x);
  std::pair<Value, Value> route(Value x);
  Value residual(Value x, Value y, StringRef module);
};

/// q [B, T, A, N + P]: one projection, or two with a norm between.
Value BlockBuilder::query(Value h) {
  int64_t width = config.num_attention_heads *
                  (config.qk_nope_head_dim + config.qk_rope_head_dim);
  Value q;
  if (config.q_lora_rank) {
    at("self_attn.q_a_proj", {"q_lora_rank", "hidden_size"}, "Attention");
    Value latent = linear(h, "self_attn.q_a_proj", *config.q_lora_rank);
    at("self_attn.q_a_layernorm", {"q_lora_rank"}, "RMSNorm");
    latent = norm(latent, "self_attn.q_a_layernorm", config.inner_norm_eps);
    at("self_attn.q_b_proj",
       {"num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim",
        "q_lora_rank"},
       "Attention");
    q = linear(latent, "self_attn.q_b_proj", width);
  } else {
    at("self_attn.q_proj",
       {"num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim",
        "hidden_size"},
       "Attention");
    q = linear(h, "self_attn.q_proj", width);
  }
  at("self_attn", {"num_attention_heads"}, "Attention");
  return tf::SplitHeadsOp::create(
      b, loc,
      activation({ShapedType::kDynamic, ShapedType::kDynamic,
                  config.num_attention_heads,
                  config.qk_nope_head_dim + config.qk_rope_head_dim}),
      q);
}

std::pair<Value, Value> BlockBuilder::attention(Value x, Value cache,
                                                const Shared &shared) {
  int64_t heads = config.num_attention_heads, nope = config.qk_nope_head_dim,
          rope = config.qk_rope_head_dim, rank = config.kv_lora_rank,
          value = config.v_head_dim;
  auto dynamic = ShapedType::kDynamic;
  at("input_layernorm", {"rms_norm_eps", "hidden_size"}, "RMSNorm");
  Value h = norm(x, "input_layernorm", config.rms_norm_eps);
  Value q = query(h);
  at("self_attn", {"qk_nope_head_dim", "qk_rope_head_dim"}, "Attention");
  auto parts = tf::SplitOp::create(
      b, loc,
      TypeRange{activation({dynamic, dynamic, heads, nope}),
                activation({dynamic, dynamic, heads, rope})},
      q, ArrayRef<int64_t>{nope, rope});
  Value qNope = parts.getResult(0);
  at("self_attn", {"rope_theta", "rope_scaling", "qk_rope_head_dim"},
     "Attention");
  Value qRope = rotate(parts.getResult(1), shared.cos, shared.sin);

  at("self_attn.kv_a_proj_with_mqa",
     {"kv_lora_rank", "qk_rope_head_dim", "hidden_size"}, "Attention");
  Value kv = linear(h, "self_attn.kv_a_proj_with_mqa", rank + rope);
  auto latentAndKey =
      tf::SplitOp::create(b, loc,
                          TypeRange{activation({dynamic, dynamic, rank}),
                                    activation({dynamic, dynamic, rope})},
                          kv, ArrayRef<int64_t>{rank, rope});
  at("self_attn.kv_a_layernorm", {"kv_lora_rank"}, "RMSNorm");
  Value latent = norm(latentAndKey.getResult(0), "self_attn.kv_a_layernorm",
                      config.inner_norm_eps);
  at("self_attn", {"rope_theta", "rope_scaling", "qk_rope_head_dim"},
     "Attention");
  Value kRope = rotate(latentAndKey.getResult(1), shared.cos, shared.sin);
  at("self_attn", {"kv_lora_rank", "qk_rope_head_dim"}, "Attention");
  cache = tf::CacheUpdateOp::create(b, loc, cache.getType(), cache, layer,
                                    latent, kRope, shared.positions);

  at("self_attn.kv_b_proj",
     {"num_attention_heads", "qk_nope_head_dim", "v_head_dim", "kv_lora_rank"},
     "Attention");
  Value kvB = weight("self_attn.kv_b_proj", heads * (nope + value), rank);
  at("self_attn",
     {"num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim",
      "v_head_dim", "rope_scaling"},
     "Attention");
  bool quantizeLatent = options.activations == Activations::fp8 &&
                        isa<tf::BlockScaledType>(kvB.getType());
  double scale = getRope().getSoftmaxScaleFactor() /
                 std::sqrt(static_cast<double>(nope + rope));
  Value o = tf::AttentionOp::create(
      b, loc, activation({dynamic, dynamic, heads, value}), qNope, qRope, cache,
      layer, kvB, shared.positions, b.getF64FloatAttr(scale),
      quantizeLatent ? b.getUnitAttr() : UnitAttr());
  o = tf::MergeHeadsOp::create(
      b, loc, activation({dynamic, dynamic, heads * value}), o);
  at("self_attn.o_proj", {"num_attention_heads", "v_head_dim", "hidden_size"},
     "Attention");
  o = linear(o, "self_attn.o_proj", config.hidden_size);
  tap(o, "attention_output");
  return {residual(x, o, "self_attn"), cache};
}

Value BlockBuilder::residual(Value x, Value y, StringRef module) {
  at(module, {"hidden_size"}, "DecoderLayer");
  return tf::AddOp::create(b, loc, x.getType(), x, y);
}

/// down(silu(gate(x)) * up(x)); x [.., H]. `module` is "mlp", "mlp.experts" or
/// "mlp.shared_experts".
Value BlockBuilder::mlp(Value x, StringRef module, int64_t width,
                        Value expert) {
  StringRef widthKey =
      module == "mlp" ? "intermediate_size" : "moe_intermediate_size";
  auto name = [&](StringRef part) { return (module + "." + part).str(); };
  at(name("gate_proj"), {widthKey, "hidden_size"}, "MLP");
  Value gate = linear(x, name("gate_proj"), width, expert);
  at(name("up_proj"), {widthKey, "hidden_size"}, "MLP");
  Value up = linear(x, name("up_proj"), width, expert);
  at(module, {"hidden_act"}, "MLP");
  Value hidden = tf::SwigluOp::create(b, loc, gate.getType(), gate, up);
  at(name("down_proj"), {widthKey, "hidden_size"}, "MLP");
  return linear(hidden, name("down_proj"), config.hidden_size, expert);
}

std::pair<Value, Value> BlockBuilder::route(Value x) {
  at("mlp.gate", {"n_routed_experts", "hidden_size"}, "MoEGate");
  Value logits =
      linear(x, "mlp.gate", config.n_routed_experts, Value(), b.getF32Type());
  tap(logits, "router_logits");
  at("mlp.gate",
     {"scoring_func", "topk_method", "num_experts_per_tok", "n_group",
      "topk_group", "norm_topk_prob", "routed_scaling_factor"},
     "MoEGate");
  Value bias;
  if (config.has_router_bias)
    bias = widened("mlp.gate.e_score_correction_bias", config.n_routed_experts);
  tf::ScoringFunc scoring = config.scoring_func == ScoringFunc::Sigmoid
                                ? tf::ScoringFunc::sigmoid
                                : tf::ScoringFunc::softmax;
  tf::TopkMethod method = config.topk_method == TopkMethod::NoauxTc
                              ? tf::TopkMethod::noaux_tc
                          : config.topk_method == TopkMethod::Greedy
                              ? tf::TopkMethod::greedy
                              : tf::TopkMethod::group_limited_greedy;
  auto op = tf::RouteOp::create(b, loc, logits, bias, scoring, method,
                                config.num_experts_per_tok, config.n_group,
                                config.topk_group, config.norm_topk_prob,
                                APFloat(config.routed_scaling_factor));
  tap(op.getIndices(), "router_indices");
  tap(op.getWeights(), "router_weights");
  return {op.getIndices(), op.getWeights()};
}

/// Routed experts plus the shared one.
Value BlockBuilder::moe(Value x) {
  auto [indices, weights] = route(x);
  at("mlp.experts",
     {"n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"},
     "MoE");
  auto op = tf::ExpertsOp::create(b, loc, x.getType(), x, indices, weights,
                                  config.n_routed_experts);
  Location opLocation = loc;
  {
    OpBuilder::InsertionGuard guard(b);
    Type rows = activation({ShapedType::kDynamic, config.hidden_size});
    Block *body =
        b.createBlock(&op.getBody(), {}, {rows, b.getIndexType()}, {loc, loc});
    Value y = mlp(body->getArgument(0), "mlp.experts",
                  config.moe_intermediate_size, body->getArgument(1));
    tf::YieldOp::create(b, opLocation, y);
  }
  if (config.n_shared_experts == 0)
    return op.getResult();
  Value shared =
      mlp(x, "mlp.shared_experts",
          config.moe_intermediate_size * config.n_shared_experts, Value());
  at("mlp", {"n_shared_experts"}, "MoE");
  return tf::AddOp::create(b, loc, x.getType(), op.getResult(), shared);
}

std::pair<Value, Value> BlockBuilder::layers(const LayerRange &range, Value x,
                                             Value cache,
                                             const Shared &shared) {
  enterLayers(range);
  at("", {"num_hidden_layers", "first_k_dense_replace", "moe_layer_freq"},
     "DecoderLayer");
  SmallVector<Value> inits{x, cache};
  SmallVector<Type> types{x.getType(), cache.getType()};
  auto op = tf::LayersOp::create(b, loc, types, inits, range.begin, range.end);
  Location opLocation = loc;
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body =
        b.createBlock(&op.getBody(), {}, {b.getIndexType(), types[0], types[1]},
                      {loc, loc, loc});
    layer = body->getArgument(0);
    auto [stream, updated] =
        attention(body->getArgument(1), body->getArgument(2), shared);
    at("post_attention_layernorm", {"rms_norm_eps", "hidden_size"}, "RMSNorm");
    Value h = norm(stream, "post_attention_layernorm", config.rms_norm_eps);
    Value y =
        range.isMoE ? moe(h) : mlp(h, "mlp", config.intermediate_size, Value());
    at("mlp", {"hidden_size"}, range.isMoE ? "MoE" : "MLP");
    tap(y, "ffn_output");
    Value out = residual(stream, y, "mlp");
    tap(out, "block_output");
    tf::YieldOp::create(b, opLocation, ValueRange{out, updated});
  }
  leaveLayers();
  return {op.getResult(0), op.getResult(1)};
}

void BlockBuilder::buildForward() {
  auto dynamic = ShapedType::kDynamic;
  Type i32 = b.getI32Type();
  auto ids = RankedTensorType::get({dynamic, dynamic}, i32);
  auto rows = RankedTensorType::get({dynamic}, i32);
  auto cacheType = tf::LatentCacheType::get(
      b.getContext(), config.num_hidden_layers, config.kv_lora_rank,
      config.qk_rope_head_dim, cast<FloatType>(element));
  auto logitsType =
      RankedTensorType::get({dynamic, config.vocab_size}, b.getF32Type());
  at("model", {"num_hidden_layers", "vocab_size"}, "Model");
  auto forward = func::FuncOp::create(
      b, loc, "forward",
      b.getFunctionType({ids, ids, rows, cacheType}, {logitsType, cacheType}));
  Block *body = forward.addEntryBlock();
  b.setInsertionPointToEnd(body);

  at("model.embed_tokens", {"vocab_size", "hidden_size"}, "Model");
  Value table = plainWeight("model.embed_tokens.weight", config.vocab_size,
                            config.hidden_size);
  Value x = tf::EmbeddingOp::create(
      b, loc, activation({dynamic, dynamic, config.hidden_size}),
      body->getArgument(0), table);
  tap(x, "embedding");
  at("model.rotary_emb", {"rope_theta", "rope_scaling", "qk_rope_head_dim"},
     "RotaryEmbedding");
  Value positions = body->getArgument(1), cache = body->getArgument(3);
  auto angles = tf::RopeTableOp::create(b, loc, positions, getRope());
  Shared shared{positions, angles.getCos(), angles.getSin()};
  for (const LayerRange &range : config.layerRanges())
    std::tie(x, cache) = layers(range, x, cache, shared);

  at("model", {"vocab_size"}, "Model");
  x = tf::GatherRowsOp::create(b, loc,
                               activation({dynamic, config.hidden_size}), x,
                               body->getArgument(2));
  at("model.norm", {"rms_norm_eps", "hidden_size"}, "RMSNorm");
  x = finalNorm(x);
  at("lm_head", {"vocab_size", "hidden_size", "tie_word_embeddings"}, "Model");
  Value head = config.tie_word_embeddings
                   ? table
                   : plainWeight("lm_head.weight", config.vocab_size,
                                 config.hidden_size);
  Value logits = tf::LinearOp::create(b, loc, logitsType, x, head);
  func::ReturnOp::create(b, loc, ValueRange{logits, cache});
}

/// What later stages need to know of the model, as a module attribute.
DictionaryAttr describeModel(OpBuilder &b, const ModelConfig &config,
                             const ImportOptions &options) {
  SmallVector<NamedAttribute> entries;
  auto text = [&](StringRef key, StringRef value) {
    entries.push_back(b.getNamedAttr(key, b.getStringAttr(value)));
  };
  auto number = [&](StringRef key, int64_t value) {
    entries.push_back(b.getNamedAttr(key, b.getI64IntegerAttr(value)));
  };
  text("name", config.name);
  text("model_type", config.model_type);
  number("hidden_size", config.hidden_size);
  number("num_hidden_layers", config.num_hidden_layers);
  number("vocab_size", config.vocab_size);
  number("max_position_embeddings", config.max_position_embeddings);
  number("num_attention_heads", config.num_attention_heads);
  number("kv_lora_rank", config.kv_lora_rank);
  number("qk_rope_head_dim", config.qk_rope_head_dim);
  number("n_routed_experts", config.n_routed_experts);
  number("num_experts_per_tok", config.num_experts_per_tok);
  text("activations", stringifyActivations(options.activations));
  if (config.bos_token_id)
    number("bos_token_id", *config.bos_token_id);
  entries.push_back(
      b.getNamedAttr("eos_token_ids", b.getI64ArrayAttr(config.eos_token_ids)));
  SmallVector<Attribute> leftOut;
  for (const LeftOut &part : config.leftOut)
    leftOut.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("prefix", b.getStringAttr(part.prefix)),
         b.getNamedAttr("reason", b.getStringAttr(part.reason))}));
  entries.push_back(b.getNamedAttr("left_out", b.getArrayAttr(leftOut)));
  return b.getDictionaryAttr(entries);
}

} // namespace

OwningOpRef<ModuleOp> moec::importModel(MLIRContext *context,
                                        const ModelConfig &config,
                                        const ImportOptions &options) {
  context->loadDialect<tf::TransformerDialect, func::FuncDialect>();
  OpBuilder b(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
  (*module)->setAttr("transformer.model", describeModel(b, config, options));
  b.setInsertionPointToEnd(module->getBody());
  BlockBuilder(b, *module, config, options).buildForward();
  if (failed(module->verify()))
    return nullptr;
  return module;
}
