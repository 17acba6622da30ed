//===- ConfigTestSupport.cpp - Reading configurations in tests ------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigTestSupport.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace moec;
using namespace moec::test;

static const char smallText[] = R"({
  "architectures": [
    "DeepseekV3ForCausalLM"
  ],
  "model_type": "kimi_k2",
  "attention_bias": false,
  "bos_token_id": 1,
  "eos_token_id": 2,
  "first_k_dense_replace": 1,
  "hidden_act": "silu",
  "hidden_size": 96,
  "intermediate_size": 160,
  "kv_lora_rank": 48,
  "max_position_embeddings": 16384,
  "moe_intermediate_size": 40,
  "moe_layer_freq": 1,
  "n_group": 4,
  "n_routed_experts": 16,
  "n_shared_experts": 1,
  "norm_topk_prob": true,
  "num_attention_heads": 6,
  "num_experts_per_tok": 3,
  "num_hidden_layers": 5,
  "num_key_value_heads": 6,
  "num_nextn_predict_layers": 0,
  "q_lora_rank": 56,
  "qk_nope_head_dim": 32,
  "qk_rope_head_dim": 16,
  "quantization_config": {
    "activation_scheme": "dynamic",
    "fmt": "e4m3",
    "quant_method": "fp8",
    "weight_block_size": [128, 64]
  },
  "rms_norm_eps": 1e-06,
  "rope_theta": 50000.0,
  "routed_scaling_factor": 2.827,
  "rope_scaling": {
    "beta_fast": 8.0,
    "beta_slow": 1.0,
    "factor": 32.0,
    "mscale": 0.5,
    "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 512,
    "type": "yarn"
  },
  "scoring_func": "sigmoid",
  "tie_word_embeddings": false,
  "topk_group": 2,
  "topk_method": "noaux_tc",
  "torch_dtype": "bfloat16",
  "v_head_dim": 24,
  "vocab_size": 250
}
)";

std::string moec::test::smallConfig(const std::vector<Edit> &edits) {
  std::string text = smallText;
  for (const Edit &edit : edits) {
    size_t place = text.find(edit.from);
    if (place == std::string::npos ||
        text.find(edit.from, place + 1) != std::string::npos)
      ADD_FAILURE() << "not in the text exactly once: " << edit.from;
    else
      text.replace(place, edit.from.size(), edit.to);
  }
  return text;
}

std::string Reading::all() const { return llvm::join(messages, "\n"); }

bool Reading::has(llvm::StringRef fragment) const {
  return llvm::any_of(messages, [&](llvm::StringRef message) {
    return message.contains(fragment);
  });
}

Reader::Reader() { context.printOpOnDiagnostic(false); }

static void collect(const mlir::Diagnostic &diagnostic, bool isNote,
                    std::vector<std::string> &messages) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto loc = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
    out << loc.getLine() << ":" << loc.getColumn() << ": ";
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    out << "error: ";
    break;
  case mlir::DiagnosticSeverity::Warning:
    out << "warning: ";
    break;
  case mlir::DiagnosticSeverity::Note:
  case mlir::DiagnosticSeverity::Remark:
    out << (isNote ? "note: " : "remark: ");
    break;
  }
  out << diagnostic;
  messages.push_back(text);
  for (const mlir::Diagnostic &note :
       const_cast<mlir::Diagnostic &>(diagnostic).getNotes())
    collect(note, /*isNote=*/true, messages);
}

template <typename ReadT>
static Reading run(mlir::MLIRContext &context, ReadT read) {
  Reading reading;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        collect(diagnostic, /*isNote=*/false, reading.messages);
      });
  mlir::FailureOr<ModelConfig> config = read();
  if (mlir::succeeded(config))
    reading.config = std::move(*config);
  return reading;
}

Reading Reader::parse(const std::string &config,
                      std::optional<std::string> generation,
                      std::optional<std::string> hfQuant) {
  ConfigTexts texts = {{config, "config.json"}, std::nullopt, std::nullopt};
  if (generation)
    texts.generationConfig.emplace(*generation, "generation_config.json");
  if (hfQuant)
    texts.hfQuantConfig.emplace(*hfQuant, "hf_quant_config.json");
  return run(context, [&] { return parseModelConfig(&context, texts); });
}

Reading Reader::read(llvm::StringRef path) {
  std::string full = std::string(MOEC_TEST_MODELS) + "/" + path.str();
  return run(context, [&] { return readModelConfig(&context, full); });
}
