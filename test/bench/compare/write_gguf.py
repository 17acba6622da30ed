"""Writes the slice as a GGUF file for llama.cpp: the same weights as Q8_0.

    python3 test/bench/compare/write_gguf.py [--slice FOLDER] [-o FILE]

Architecture deepseek2 as llama.cpp's own converter writes it: kv_b_proj split
into attn_k_b (transposed, per head) and attn_v_b, so that attention runs on the
latents. Matrices are Q8_0; norms, the router and its bias are F32.
"""
import common

if __name__ == "__main__":
    common.enter_environment()

import argparse
import os
import pathlib

import gguf
import numpy

from checkpoint import Checkpoint

ATTENTION = {"q_a_proj": "attn_q_a", "q_b_proj": "attn_q_b", "kv_a_proj_with_mqa": "attn_kv_a_mqa",
             "o_proj": "attn_output"}
NORMS = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
         "self_attn.q_a_layernorm": "attn_q_a_norm", "self_attn.kv_a_layernorm": "attn_kv_a_norm"}
PROJECTIONS = {"gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down"}


def to_q8_0(values):
    """Blocks of 32: an F16 scale and 32 signed bytes."""
    blocks = values.reshape(-1, 32)
    scales = numpy.abs(blocks).max(axis=1, keepdims=True) / 127
    inverse = numpy.divide(1, scales, out=numpy.zeros_like(scales), where=scales != 0)
    packed = numpy.empty((len(blocks), 34), numpy.uint8)
    packed[:, :2] = scales.astype(numpy.float16).view(numpy.uint8)
    packed[:, 2:] = numpy.rint(blocks * inverse).astype(numpy.int8).view(numpy.uint8)
    return packed.reshape(*values.shape[:-1], values.shape[-1] // 32 * 34)


class Converter:
    def __init__(self, checkpoint, path):
        self.checkpoint, self.config = checkpoint, checkpoint.config
        self.writer = gguf.GGUFWriter(path, "deepseek2")

    def add_matrix(self, name, values):
        self.writer.add_tensor(f"{name}.weight", to_q8_0(values),
                               raw_dtype=gguf.GGMLQuantizationType.Q8_0)

    def copy_matrix(self, name, source):
        self.add_matrix(name, self.checkpoint.values(f"{source}.weight"))

    def copy_plain(self, name, source):
        self.writer.add_tensor(name, numpy.array(self.checkpoint.values(source)))

    def add_attention_fields(self):
        config, writer = self.config, self.writer
        rope, latent = config["qk_rope_head_dim"], config["kv_lora_rank"]
        writer.add_head_count(config["num_attention_heads"])
        # On the latents all heads share one key.
        writer.add_head_count_kv(1)
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
        writer.add_q_lora_rank(config["q_lora_rank"])
        writer.add_kv_lora_rank(latent)
        writer.add_key_length(latent + rope)
        writer.add_value_length(latent)
        writer.add_key_length_mla(config["qk_nope_head_dim"] + rope)
        writer.add_value_length_mla(config["v_head_dim"])
        writer.add_rope_dimension_count(rope)
        writer.add_rope_freq_base(config["rope_theta"])
        scaling = config["rope_scaling"]
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(scaling["factor"])
        writer.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
        writer.add_rope_scaling_yarn_beta_fast(scaling["beta_fast"])
        writer.add_rope_scaling_yarn_beta_slow(scaling["beta_slow"])
        # llama.cpp reads this key divided by 0.1.
        writer.add_rope_scaling_yarn_log_mul(0.1 * scaling["mscale_all_dim"])

    def add_fields(self):
        config, writer = self.config, self.writer
        writer.add_name("Kimi-K2 slice")
        writer.add_tokenizer_model("none")
        writer.add_vocab_size(config["vocab_size"])
        writer.add_context_length(config["max_position_embeddings"])
        writer.add_embedding_length(config["hidden_size"])
        writer.add_block_count(config["num_hidden_layers"])
        writer.add_feed_forward_length(config["intermediate_size"])
        writer.add_leading_dense_block_count(config["first_k_dense_replace"])
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])
        writer.add_expert_count(config["n_routed_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
        writer.add_expert_shared_count(config["n_shared_experts"])
        writer.add_expert_weights_scale(config["routed_scaling_factor"])
        writer.add_expert_weights_norm(config["norm_topk_prob"])
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
        self.add_attention_fields()

    def add_kv_b(self, name, source):
        config = self.config
        nope, value = config["qk_nope_head_dim"], config["v_head_dim"]
        kv_b = self.checkpoint.values(f"{source}.kv_b_proj.weight")
        kv_b = kv_b.reshape(config["num_attention_heads"], nope + value, config["kv_lora_rank"])
        self.add_matrix(f"{name}.attn_k_b", numpy.ascontiguousarray(kv_b[:, :nope].swapaxes(1, 2)))
        self.add_matrix(f"{name}.attn_v_b", numpy.ascontiguousarray(kv_b[:, nope:]))

    def add_experts(self, name, source):
        for projection, target in PROJECTIONS.items():
            experts = [to_q8_0(self.checkpoint.values(f"{source}.experts.{expert}.{projection}.weight"))
                       for expert in range(self.config["n_routed_experts"])]
            self.writer.add_tensor(f"{name}.{target}_exps.weight", numpy.stack(experts),
                                   raw_dtype=gguf.GGMLQuantizationType.Q8_0)
            self.copy_matrix(f"{name}.{target}_shexp", f"{source}.shared_experts.{projection}")
        self.copy_plain(f"{name}.ffn_gate_inp.weight", f"{source}.gate.weight")
        self.copy_plain(f"{name}.exp_probs_b.bias", f"{source}.gate.e_score_correction_bias")

    def add_layer(self, layer):
        name, source = f"blk.{layer}", f"model.layers.{layer}"
        for norm, target in NORMS.items():
            self.copy_plain(f"{name}.{target}.weight", f"{source}.{norm}.weight")
        for projection, target in ATTENTION.items():
            self.copy_matrix(f"{name}.{target}", f"{source}.self_attn.{projection}")
        self.add_kv_b(name, f"{source}.self_attn")
        if layer >= self.config["first_k_dense_replace"]:
            self.add_experts(name, f"{source}.mlp")
            return
        for projection, target in PROJECTIONS.items():
            self.copy_matrix(f"{name}.{target}", f"{source}.mlp.{projection}")

    def run(self):
        self.add_fields()
        self.copy_matrix("token_embd", "model.embed_tokens")
        for layer in range(self.config["num_hidden_layers"]):
            self.add_layer(layer)
        self.copy_plain("output_norm.weight", "model.norm.weight")
        self.copy_matrix("output", "lm_head")
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def main():
    options = argparse.ArgumentParser(description="Writes the slice as GGUF, Q8_0.",
                                      formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--slice", type=pathlib.Path, default=common.SLICE, metavar="FOLDER")
    options.add_argument("-o", "--output", type=pathlib.Path, default=common.GGUF, metavar="FILE")
    arguments = options.parse_args()
    partial = arguments.output.with_suffix(".partial")
    try:
        Converter(Checkpoint(arguments.slice), partial).run()
        os.replace(partial, arguments.output)
    except OSError as error:
        common.fail(f"cannot write {arguments.output}: {error}")
    print(f"{arguments.output}: {arguments.output.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
