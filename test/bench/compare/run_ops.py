"""Single operations of Kimi-K2 on torch and IREE.

    python3 test/bench/compare/run_ops.py [--threads 1,2] [--table]

Linears at 1 to 512 rows, and absorbed MLA decode of one token: 64 heads over the
latents of 4k and 32k tokens. Prints a JSON line per case, in GFLOP/s.
"""
import common

if __name__ == "__main__":
    common.enter_environment()

import math

import torch

import iree_linear
import ops_table

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
HEADS, LATENT, ROPE, KEY = 64, 512, 64, 192
MSCALE = 0.1 * math.log(32) + 1  # of Kimi-K2's YaRN, factor 32

LINES = []


def record(contestant, case, threads, flops, run):
    seconds, cpus, count = common.measure_for(run)
    LINES.append(common.report(contestant, case, threads, flops / seconds / 1e9, "GFLOP/s",
                               count, cpus))


def measure_linears(dtype, threads):
    generator = torch.Generator().manual_seed(0)
    for name, (features, outputs) in common.LINEARS.items():
        weight = torch.randn(outputs, features, generator=generator).to(DTYPES[dtype])
        for rows in common.ROWS:
            values = torch.randn(rows, features, generator=generator).to(DTYPES[dtype])
            record(f"torch {dtype}", f"{name} {features}->{outputs}, {rows} rows", threads,
                   2 * rows * features * outputs,
                   lambda: torch.nn.functional.linear(values, weight))


def attend(query, cache):
    """Absorbed attention: scores over latents and RoPE keys, values the latents."""
    scores = query @ cache.T * (MSCALE * MSCALE / math.sqrt(KEY))
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(cache.dtype)
    return weights @ cache[:, :LATENT]


def measure_attention(dtype, threads):
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(HEADS, LATENT + ROPE, generator=generator).to(DTYPES[dtype])
    for context in common.CONTEXTS:
        cache = torch.randn(context, LATENT + ROPE, generator=generator).to(DTYPES[dtype])
        record(f"torch {dtype}", f"MLA decode, {context} tokens", threads,
               2 * HEADS * context * (2 * LATENT + ROPE), lambda: attend(query, cache))


def measure_iree(dtype, threads):
    for name, (features, outputs) in common.LINEARS.items():
        for rows in common.ROWS:
            seconds, count = iree_linear.measure(dtype, rows, features, outputs, threads)
            LINES.append(common.report(
                f"iree {dtype}", f"{name} {features}->{outputs}, {rows} rows", threads,
                2 * rows * features * outputs / seconds / 1e9, "GFLOP/s", count))


def main():
    options = common.parser("Single operations on torch and IREE")
    options.add_argument("--table", action="store_true", help="print a table at the end")
    arguments = options.parse_args()
    torch.set_num_interop_threads(1)
    with torch.inference_mode():
        for threads in arguments.threads:
            torch.set_num_threads(threads)
            for dtype in DTYPES:
                measure_linears(dtype, threads)
                measure_attention(dtype, threads)
                measure_iree(dtype, threads)
    if arguments.table:
        ops_table.print_table(LINES)


if __name__ == "__main__":
    main()
