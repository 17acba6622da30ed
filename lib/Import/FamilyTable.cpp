//===- FamilyTable.cpp - Which models there are ---------------------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace moec;
using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

const Family *moec::findFamily(StringRef name) {
  static constexpr StringRef v3Types[] = {"deepseek_v3", "kimi_k2"};
  static constexpr StringRef v2Types[] = {"deepseek_v2"};
  static constexpr StringRef glmTypes[] = {"glm4_moe_lite"};
  static constexpr StringRef sarvamTypes[] = {"sarvam_mla"};
  static constexpr StringRef youtuTypes[] = {"youtu"};
  constexpr auto sigmoid = ScoringFunc::Sigmoid;
  constexpr auto noaux = TopkMethod::NoauxTc;
  static const Family families[] = {
      {"DeepseekV3ForCausalLM", v3Types, "DeepseekV3", /*isDense=*/false,
       sigmoid, noaux, /*normTopkProb=*/true, /*tieWordEmbeddings=*/false,
       /*ropeTheta=*/std::nullopt},
      {"DeepseekV2ForCausalLM", v2Types, "DeepseekV2", /*isDense=*/false,
       ScoringFunc::Softmax, TopkMethod::Greedy, /*normTopkProb=*/false,
       /*tieWordEmbeddings=*/false, /*ropeTheta=*/std::nullopt},
      {"Glm4MoeLiteForCausalLM", glmTypes, "Glm4MoeLite", /*isDense=*/false,
       sigmoid, noaux, /*normTopkProb=*/true, /*tieWordEmbeddings=*/false,
       /*ropeTheta=*/std::nullopt},
      {"SarvamMLAForCausalLM", sarvamTypes, "SarvamMLA", /*isDense=*/false,
       sigmoid, noaux, /*normTopkProb=*/true, /*tieWordEmbeddings=*/false,
       /*ropeTheta=*/std::nullopt},
      {"YoutuForCausalLM", youtuTypes, "Youtu", /*isDense=*/true, sigmoid,
       noaux, /*normTopkProb=*/true, /*tieWordEmbeddings=*/true,
       /*ropeTheta=*/10000.0},
  };
  for (const Family &family : families)
    if (family.architecture == name ||
        llvm::is_contained(family.modelTypes, name))
      return &family;
  return nullptr;
}

const Wrapper *moec::findWrapper(StringRef name) {
  static constexpr StringRef kimiVlParts[] = {"vision_tower.",
                                              "multi_modal_projector."};
  static constexpr StringRef kimiK25Parts[] = {"vision_tower.",
                                               "mm_projector."};
  static const Wrapper wrappers[] = {
      {"KimiVLForConditionalGeneration", "kimi_vl", "language_model.",
       kimiVlParts},
      {"KimiK25ForConditionalGeneration", "kimi_k25", "language_model.",
       kimiK25Parts},
  };
  for (const Wrapper &wrapper : wrappers)
    if (wrapper.architecture == name || wrapper.modelType == name)
      return &wrapper;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Refused models
//===----------------------------------------------------------------------===//

static constexpr StringRef sparseIndexer =
    "its attention reads only the keys that a sparse indexer chooses "
    "(index_topk)";
static constexpr StringRef groupedQueries =
    "its attention is grouped-query attention (GQA), not multi-head latent "
    "attention (MLA)";
static constexpr StringRef linearAttention =
    "most of its layers have linear attention, the others have MLA without "
    "rope";
static constexpr StringRef ownNames =
    "it has its own key and tensor names, and scales queries by position";

static bool matches(StringRef pattern, StringRef name) {
  if (pattern.consume_back("*"))
    return name.starts_with(pattern);
  return !pattern.empty() && pattern == name;
}

const Refusal *moec::findRefusal(StringRef name) {
  static const Refusal refusals[] = {
      {"DeepseekV32ForCausalLM", "deepseek_v32", true, sparseIndexer},
      {"GlmMoeDsaForCausalLM", "glm_moe_dsa", true, sparseIndexer},
      {"KimiLinearForCausalLM", "kimi_linear", false, linearAttention},
      {"KimiK3*", "kimi_k3", false, linearAttention},
      {"DeepseekV4*", "deepseek_v4*", false,
       "it has one key-value head of 512, hash-routed layers and "
       "sqrtsoftplus scores"},
      {"LongcatFlash*", "longcat*", false,
       "it has two attentions per layer, identity experts and scaled latents"},
      {"BailingHybrid*", "bailing_hybrid", false,
       "most of its layers have linear attention"},
      {"Bailing*", "bailing*", false, groupedQueries},
      {"MistralLarge3*", "mistral_large_3", false, ownNames},
      {"Mistral3*", "mistral3", false, ownNames},
      {"Dots1ForCausalLM", "dots1", false, groupedQueries},
      {"MiniMax*", "minimax*", false, groupedQueries},
      {"Glm4MoeForCausalLM", "glm4_moe", false, groupedQueries},
      {"Glm4ForCausalLM", "glm4", false, groupedQueries},
      {"MiMo*", "mimo*", false, groupedQueries},
      {"Qwen*", "qwen*", false, groupedQueries},
      {"Llama*", "llama*", false, groupedQueries},
      {"Mistral*", "mistral*", false, groupedQueries},
      {"Mixtral*", "mixtral*", false, groupedQueries},
      {"Gemma*", "gemma*", false, groupedQueries},
      {"GptOss*", "gpt_oss", false, groupedQueries},
      {"DeepseekForCausalLM", "deepseek", false, groupedQueries},
  };
  for (const Refusal &refusal : refusals)
    if (matches(refusal.architecture, name) || matches(refusal.modelType, name))
      return &refusal;
  return nullptr;
}

ArrayRef<UnsupportedKey> moec::unsupportedKeys() {
  using When = UnsupportedKey::When;
  static constexpr UnsupportedKey keys[] = {
      {"index_topk", When::Set,
       "a sparse indexer that chooses the keys attention reads"},
      {"linear_attn_config", When::Set, "layers with linear attention"},
      {"sliding_window", When::Set, "attention within a window"},
      {"swiglu_limit", When::Set, "a clamped SwiGLU"},
      {"zero_expert_num", When::Set, "identity experts"},
      {"num_hash_layers", When::Set, "hash-routed layers"},
      {"hc_mult", When::Set, "several residual streams"},
      {"ngram_vocab_size_ratio", When::Set, "embeddings of token n-grams"},
      {"mla_use_nope", When::True, "attention without rope"},
      {"mla_use_output_gate", When::True, "gated attention outputs"},
      {"mla_scale_q_lora", When::True, "scaled query latents"},
      {"mla_scale_kv_lora", When::True, "scaled key-value latents"},
      {"attention_bias", When::True, "biases in attention"},
      {"mlp_bias", When::True, "biases in the MLP"},
  };
  return keys;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> moec::otherSpellings(StringRef key) {
  static constexpr StringRef routed[] = {"num_experts", "num_local_experts"};
  static constexpr StringRef perToken[] = {"num_experts_per_token", "moe_topk"};
  static constexpr StringRef shared[] = {"num_shared_experts"};
  static constexpr StringRef norm[] = {"moe_renormalize"};
  static constexpr StringRef epsilon[] = {"norm_eps", "layernorm_epsilon"};
  static constexpr std::pair<StringRef, ArrayRef<StringRef>> spellings[] = {
      {"n_routed_experts", routed}, {"num_experts_per_tok", perToken},
      {"n_shared_experts", shared}, {"norm_topk_prob", norm},
      {"rms_norm_eps", epsilon},
  };
  for (const auto &[canonical, others] : spellings)
    if (canonical == key)
      return others;
  return {};
}

bool moec::hasNoEffect(StringRef key) {
  static const llvm::StringSet<> keys = {
      // Training, parallel execution, and the library that saved the file.
      "_attn_implementation",
      "_name_or_path",
      "attention_dropout",
      "attn_implementation",
      "auto_map",
      "aux_loss_alpha",
      "embedding_initializer_range",
      "ep_size",
      "initializer_range",
      "pretraining_tp",
      "router_aux_loss_coef",
      "seq_aux",
      "transformers_version",
      "use_cache",
      // Copies of values that are derived from others.
      "default_theta",
      "head_dim",
      "kv_channels",
      "q_head_dim",
      "qk_head_dim",
      // No effect in this family's attention.
      "use_qk_norm",
      // Parts beside the text model.
      "ignore_index",
      "image_placeholder",
      "media_placeholder_token_id",
      "pad_token_id",
      "use_unified_vision_chunk",
      "video_placeholder",
      "vision_config",
      // Indexer keys that mean nothing without index_topk.
      "index_head_dim",
      "index_n_heads",
      "indexer_rope_interleave",
      // Defaults that old exports write out: generation and classification.
      "add_cross_attention",
      "bad_words_ids",
      "begin_suppress_tokens",
      "chunk_size_feed_forward",
      "cross_attention_hidden_size",
      "decoder_start_token_id",
      "diversity_penalty",
      "do_sample",
      "early_stopping",
      "encoder_no_repeat_ngram_size",
      "exponential_decay_length_penalty",
      "finetuning_task",
      "forced_bos_token_id",
      "forced_eos_token_id",
      "id2label",
      "is_decoder",
      "is_encoder_decoder",
      "label2id",
      "length_penalty",
      "max_length",
      "min_length",
      "no_repeat_ngram_size",
      "num_beam_groups",
      "num_beams",
      "num_return_sequences",
      "output_attentions",
      "output_hidden_states",
      "output_scores",
      "prefix",
      "problem_type",
      "pruned_heads",
      "remove_invalid_values",
      "repetition_penalty",
      "return_dict",
      "return_dict_in_generate",
      "sep_token_id",
      "suppress_tokens",
      "task_specific_params",
      "temperature",
      "tf_legacy_loss",
      "tie_encoder_decoder",
      "tokenizer_class",
      "top_k",
      "top_p",
      "torchscript",
      "typical_p",
      "use_bfloat16",
  };
  return keys.contains(key);
}
