"""Contestant llama.cpp: the slice as Q8_0, through llama-cpp-python's C API.

    python3 test/bench/compare/run_llama_cpp.py [--threads 1,2] [--batch 1,4,16]

A prompt of 512 tokens in one batch; decode of 1, 4 and 16 sequences at once,
each step with a logits row for every sequence, as llama-bench does it.
"""
import common

if __name__ == "__main__":
    common.enter_environment()

import ctypes
import pathlib

import llama_cpp
import numpy

NAME = "llama.cpp q8_0"


@llama_cpp.llama_log_callback
def only_errors(level, text, _):
    if level >= 4:  # GGML_LOG_LEVEL_ERROR
        print(text.decode(errors="replace"), end="", file=common.sys.stderr)


class Model:
    def __init__(self, path):
        if not path.exists():
            common.fail(f"there is no {path}; write it by test/bench/compare/write_gguf.py")
        llama_cpp.llama_log_set(only_errors, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(
            str(path).encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            common.fail(f"llama.cpp does not load {path}")
        self.yarn_beta_fast = self.number("rope.scaling.yarn_beta_fast")
        self.yarn_beta_slow = self.number("rope.scaling.yarn_beta_slow")
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(
            llama_cpp.llama_model_get_vocab(self.model))

    def number(self, key):
        """A number that write_gguf.py left in the file."""
        text = ctypes.create_string_buffer(64)
        length = llama_cpp.llama_model_meta_val_str(
            self.model, f"deepseek2.{key}".encode(), text, len(text))
        if length < 0:
            common.fail(f"the GGUF file has no deepseek2.{key}; write it anew by write_gguf.py")
        return float(text.value)


class Session:
    """A context for so many sequences, its batch and its cache."""

    def __init__(self, model, threads, sequences, tokens):
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = sequences * tokens
        parameters.n_batch = parameters.n_ubatch = max(sequences, tokens)
        parameters.n_seq_max = sequences
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.kv_unified = False
        # llama.cpp does not take these from a deepseek2 file: it would use 32 and 1.
        parameters.yarn_beta_fast = model.yarn_beta_fast
        parameters.yarn_beta_slow = model.yarn_beta_slow
        self.context = llama_cpp.llama_init_from_model(model.model, parameters)
        if not self.context:
            common.fail(f"llama.cpp makes no context of {sequences} x {tokens} tokens")
        self.batch = llama_cpp.llama_batch_init(max(sequences, tokens), 0, 1)

    def close(self):
        llama_cpp.llama_batch_free(self.batch)
        llama_cpp.llama_free(self.context)

    def clear(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def decode(self, rows):
        """Runs rows of (token, position, sequence, with logits)."""
        self.batch.n_tokens = len(rows)
        for index, (token, position, sequence, logits) in enumerate(rows):
            self.batch.token[index] = token
            self.batch.pos[index] = position
            self.batch.n_seq_id[index] = 1
            self.batch.seq_id[index][0] = sequence
            self.batch.logits[index] = logits
        status = llama_cpp.llama_decode(self.context, self.batch)
        if status != 0:
            common.fail(f"llama_decode of {len(rows)} tokens returned {status}")
        llama_cpp.llama_synchronize(self.context)


def run_prompt(session, tokens):
    session.clear()
    last = len(tokens) - 1
    session.decode([(token, position, 0, position == last)
                    for position, token in enumerate(tokens)])


def run_decode(session, sequences):
    session.clear()
    for position in range(len(sequences[0])):
        session.decode([(tokens[position], position, sequence, True)
                        for sequence, tokens in enumerate(sequences)])


def measure_prompt(model, threads, arguments):
    tokens = common.prompt(arguments.prompt_tokens, model.vocabulary)
    session = Session(model, threads, 1, len(tokens))
    run_prompt(session, tokens[:64])  # touches the weights
    seconds, cpus = common.measure(lambda: run_prompt(session, tokens), arguments.repetitions)
    session.close()
    common.report(NAME, f"prompt {len(tokens)}", threads, len(tokens) / seconds, "tokens/s",
                  arguments.repetitions, cpus)


def measure_decode(model, threads, batch, arguments):
    sequences = [common.prompt(arguments.decode_tokens, model.vocabulary, sequence)
                 for sequence in range(batch)]
    session = Session(model, threads, batch, arguments.decode_tokens)
    run_decode(session, [tokens[:2] for tokens in sequences])
    seconds, cpus = common.measure(lambda: run_decode(session, sequences), arguments.repetitions)
    session.close()
    common.report(NAME, f"decode batch {batch}", threads,
                  batch * arguments.decode_tokens / seconds, "tokens/s", arguments.repetitions, cpus)


def write_logits(model, arguments):
    tokens = common.prompt(arguments.prompt_tokens, model.vocabulary)
    session = Session(model, arguments.threads[-1], 1, len(tokens))
    run_prompt(session, tokens)
    row = llama_cpp.llama_get_logits_ith(session.context, len(tokens) - 1)
    numpy.save(arguments.logits, numpy.ctypeslib.as_array(row, (model.vocabulary,)))
    session.close()


def main():
    options = common.model_parser("llama.cpp on the slice as Q8_0")
    options.add_argument("--gguf", type=pathlib.Path, default=common.GGUF, metavar="FILE")
    common.logits_option(options)
    arguments = options.parse_args()
    model = Model(arguments.gguf)
    if arguments.logits:
        write_logits(model, arguments)
        return
    for threads in arguments.threads:
        measure_prompt(model, threads, arguments)
        for batch in arguments.batch:
            measure_decode(model, threads, batch, arguments)


if __name__ == "__main__":
    main()
