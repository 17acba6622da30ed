"""Writes the standard case: a slice of Kimi-K2 with its real layer shapes.

    python3 test/bench/compare/slice.py [-o FOLDER]

One dense and one MoE layer with 24 experts and a vocabulary of 8192, as
config.json and model.safetensors (1.9 GB) with random weights in the names and
types of the published checkpoint: FP8 codes of normally distributed values, a
scale for each 128x128 block such that weights have a standard deviation of
about 0.02, norms near 1. The same seed gives the same bytes.
"""
import common

if __name__ == "__main__":
    common.enter_environment()

import argparse
import json
import math
import os
import pathlib
import statistics
import struct
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from slice_config import slice_config

BLOCK = 128
DEVIATION = 0.02
# Codes have this standard deviation: 448, the largest one, is then 4.5 of them.
CODE_DEVIATION = 100.0


def e4m3_values():
    """The finite non-negative values by code, 0x00 to 0x7e."""
    codes = numpy.arange(0x7F)
    exponent, mantissa = codes >> 3, codes & 7
    return numpy.where(exponent == 0, mantissa * 2.0**-9,
                       (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))


def normal_codes():
    """65536 codes whose values are the normal distribution's quantiles."""
    normal = statistics.NormalDist(0, CODE_DEVIATION)
    values = numpy.array([normal.inv_cdf((index + 0.5) / 65536) for index in range(65536)])
    finite = e4m3_values()
    nearest = numpy.searchsorted((finite[1:] + finite[:-1]) / 2, numpy.abs(values))
    return (nearest | numpy.where(values < 0, 0x80, 0)).astype(numpy.uint8)


def to_bf16(values):
    """Bits of the nearest bfloat16, ties to even."""
    bits = values.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


class Plan:
    """Names, types and shapes of the tensors, in the order of the file."""

    def __init__(self, config):
        self.tensors = []  # (name, dtype, shape, kind)
        hidden, vocabulary = config["hidden_size"], config["vocab_size"]
        self.add("model.embed_tokens.weight", "BF16", [vocabulary, hidden], "matrix")
        for layer in range(config["num_hidden_layers"]):
            self.add_layer(config, layer)
        self.add("model.norm.weight", "BF16", [hidden], "norm")
        self.add("lm_head.weight", "BF16", [vocabulary, hidden], "matrix")

    def add(self, name, dtype, shape, kind):
        self.tensors.append((name, dtype, shape, kind))

    def add_linear(self, name, rows, columns):
        self.add(f"{name}.weight", "F8_E4M3", [rows, columns], "codes")
        self.add(f"{name}.weight_scale_inv", "F32",
                 [math.ceil(rows / BLOCK), math.ceil(columns / BLOCK)], "scale")

    def add_mlp(self, name, hidden, width):
        self.add_linear(f"{name}.gate_proj", width, hidden)
        self.add_linear(f"{name}.up_proj", width, hidden)
        self.add_linear(f"{name}.down_proj", hidden, width)

    def add_attention(self, name, config):
        hidden, heads = config["hidden_size"], config["num_attention_heads"]
        nope, rope = config["qk_nope_head_dim"], config["qk_rope_head_dim"]
        value, latent, query = config["v_head_dim"], config["kv_lora_rank"], config["q_lora_rank"]
        self.add_linear(f"{name}.q_a_proj", query, hidden)
        self.add(f"{name}.q_a_layernorm.weight", "BF16", [query], "norm")
        self.add_linear(f"{name}.q_b_proj", heads * (nope + rope), query)
        self.add_linear(f"{name}.kv_a_proj_with_mqa", latent + rope, hidden)
        self.add(f"{name}.kv_a_layernorm.weight", "BF16", [latent], "norm")
        self.add_linear(f"{name}.kv_b_proj", heads * (nope + value), latent)
        self.add_linear(f"{name}.o_proj", hidden, heads * value)

    def add_layer(self, config, layer):
        name, hidden = f"model.layers.{layer}", config["hidden_size"]
        self.add(f"{name}.input_layernorm.weight", "BF16", [hidden], "norm")
        self.add_attention(f"{name}.self_attn", config)
        self.add(f"{name}.post_attention_layernorm.weight", "BF16", [hidden], "norm")
        if layer < config["first_k_dense_replace"]:
            self.add_mlp(f"{name}.mlp", hidden, config["intermediate_size"])
            return
        width, experts = config["moe_intermediate_size"], config["n_routed_experts"]
        self.add(f"{name}.mlp.gate.weight", "BF16", [experts, hidden], "matrix")
        self.add(f"{name}.mlp.gate.e_score_correction_bias", "F32", [experts], "bias")
        for expert in range(experts):
            self.add_mlp(f"{name}.mlp.experts.{expert}", hidden, width)
        self.add_mlp(f"{name}.mlp.shared_experts", hidden, width * config["n_shared_experts"])


SIZES = {"F8_E4M3": 1, "BF16": 2, "F32": 4}


def tensor_bytes(generator, codes, shape, kind):
    if kind == "codes":
        draws = generator.integers(0, 65536, math.prod(shape), dtype=numpy.uint16)
        return codes[draws]
    if kind == "scale":
        # Blocks differ by a tenth, so that a scale of the wrong block shows.
        scales = generator.uniform(0.9, 1.1, shape) * (DEVIATION / CODE_DEVIATION)
        return scales.astype(numpy.float32)
    if kind == "norm":
        return to_bf16(generator.normal(1, 0.05, shape))
    if kind == "bias":
        return generator.normal(0, 0.01, shape).astype(numpy.float32)
    assert kind == "matrix"
    return to_bf16(generator.standard_normal(shape, dtype=numpy.float32) * DEVIATION)


def header(tensors):
    entries, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, dtype, shape, _ in tensors:
        size = math.prod(shape) * SIZES[dtype]
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(entries).encode()
    return text + b" " * (-len(text) % 64 + 56)  # data starts at a multiple of 64


def write_weights(path, tensors, seed):
    generator, codes = numpy.random.default_rng(seed), normal_codes()
    with open(path, "wb") as file:
        text = header(tensors)
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, shape, kind in tensors:
            file.write(memoryview(tensor_bytes(generator, codes, shape, kind)).cast("B"))


def write_slice(folder, seed):
    config = slice_config()
    folder.mkdir(parents=True, exist_ok=True)
    # config.json comes last: a folder that has one is complete.
    (folder / "config.json").unlink(missing_ok=True)
    partial = folder / "model.safetensors.partial"
    write_weights(partial, Plan(config).tensors, seed)
    os.replace(partial, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def main():
    options = argparse.ArgumentParser(
        description="Writes the slice of Kimi-K2 that the comparison runs.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("-o", "--output", type=pathlib.Path, default=common.SLICE,
                         metavar="FOLDER")
    options.add_argument("--seed", type=int, default=0)
    arguments = options.parse_args()
    try:
        write_slice(arguments.output, arguments.seed)
    except OSError as error:
        common.fail(f"cannot write the slice: {error}")
    size = (arguments.output / "model.safetensors").stat().st_size
    print(f"{arguments.output}: {size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
