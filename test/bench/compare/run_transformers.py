"""Contestant transformers: the slice as DeepseekV3ForCausalLM on torch, F32 and BF16.

    python3 test/bench/compare/run_transformers.py [--threads 1,2] [--dtype f32,bf16]

The weights are the slice's, dequantised once and cast. Of the library's ways to
run the experts each can be chosen; the default is the library's own.
"""
import common

if __name__ == "__main__":
    common.enter_environment()

import numpy
import torch
import transformers

from checkpoint import Checkpoint

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def configuration(fields, experts):
    fields = dict(fields)
    # The weights come dequantised, so the library need not know.
    del fields["quantization_config"], fields["model_type"], fields["torch_dtype"]
    config = transformers.DeepseekV3Config(**fields)
    config._attn_implementation = "sdpa"
    if experts:
        config._experts_implementation = experts
    return config


def source_values(checkpoint, name):
    """One of the model's parameters: experts lie stacked, gate above up."""
    base, _, last = name.rpartition(".")
    if not base.endswith(".experts"):
        return checkpoint.values(name)
    parts = ["gate_proj", "up_proj"] if last == "gate_up_proj" else ["down_proj"]
    return numpy.stack([
        numpy.concatenate([checkpoint.values(f"{base}.{expert}.{part}.weight") for part in parts])
        for expert in range(checkpoint.config["n_routed_experts"])])


def load(checkpoint, experts):
    config = configuration(checkpoint.config, experts)
    model = transformers.DeepseekV3ForCausalLM._from_config(config, dtype=torch.float32).eval()
    names = list(model.state_dict())
    with torch.no_grad():
        for name in names:
            target = model.get_parameter(name) if name in dict(model.named_parameters()) \
                else model.get_buffer(name)
            values = numpy.ascontiguousarray(source_values(checkpoint, name))
            if list(target.shape) != list(values.shape):
                common.fail(f"{name} has shape {list(values.shape)} in the slice,"
                            f" {list(target.shape)} in transformers {transformers.__version__}")
            target.copy_(torch.from_numpy(values))
    return model


def run_prompt(model, tokens):
    return model(tokens, use_cache=True, logits_to_keep=1).logits


def run_decode(model, tokens):
    cache = transformers.DynamicCache(config=model.config)
    for position in range(tokens.shape[1]):
        model(tokens[:, position:position + 1], past_key_values=cache, use_cache=True)


def sequences(model, count, length):
    vocabulary = model.config.vocab_size
    return torch.tensor([common.prompt(length, vocabulary, sequence) for sequence in range(count)])


def measure_cases(model, name, threads, arguments):
    torch.set_num_threads(threads)
    repetitions = arguments.repetitions
    tokens = sequences(model, 1, arguments.prompt_tokens)
    run_prompt(model, tokens[:, :64])
    seconds, cpus = common.measure(lambda: run_prompt(model, tokens), repetitions)
    common.report(name, f"prompt {arguments.prompt_tokens}", threads,
                  arguments.prompt_tokens / seconds, "tokens/s", repetitions, cpus)
    for batch in arguments.batch:
        tokens = sequences(model, batch, arguments.decode_tokens)
        run_decode(model, tokens[:, :2])
        seconds, cpus = common.measure(lambda: run_decode(model, tokens), repetitions)
        common.report(name, f"decode batch {batch}", threads, tokens.numel() / seconds,
                      "tokens/s", repetitions, cpus)


def cast(model, dtype):
    """Casts as the library's loading does: the router's bias stays F32."""
    biases = {name: buffer.clone() for name, buffer in model.named_buffers()}
    model.to(dtype)
    for name, buffer in model.named_buffers():
        buffer.data = biases[name]


def main():
    options = common.model_parser("transformers on the slice, F32 and BF16")
    options.add_argument("--dtype", default="f32,bf16", metavar="TYPE,...")
    options.add_argument("--experts", metavar="WAY", help="eager, batched_mm or grouped_mm")
    common.logits_option(options)
    arguments = options.parse_args()
    dtypes = arguments.dtype.split(",")
    for dtype in dtypes:
        if dtype not in DTYPES:
            options.error(f"--dtype: expected f32 or bf16, found '{dtype}'")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(max(arguments.threads))
    torch.set_num_interop_threads(1)
    with torch.inference_mode():
        model = load(Checkpoint(arguments.slice), arguments.experts)
        if arguments.logits:
            tokens = sequences(model, 1, arguments.prompt_tokens)
            numpy.save(arguments.logits, run_prompt(model, tokens)[0, 0].float().numpy())
            return
        # F32 first: the cast to BF16 cannot be taken back.
        for dtype in sorted(dtypes, key=list(DTYPES).index):
            cast(model, DTYPES[dtype])
            name = f"transformers {dtype}"
            name += f" {arguments.experts}" if arguments.experts else ""
            for threads in arguments.threads:
                measure_cases(model, name, threads, arguments)


if __name__ == "__main__":
    main()
