"""What the contestants share: their environment, options and lines of output.

A contestant prints one JSON line per measured case:

    {"contestant": "llama.cpp q8_0", "case": "decode batch 4", "threads": 1,
     "value": 11.9, "unit": "tokens/s", "repetitions": 3, "cpus": 0.99}

`value` is the median of the repetitions. `cpus` is CPU time over wall time
while they ran: a contestant that took more than its threads is an error.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
VENV = SOURCE / "build" / "compare-venv"
SETUP = "test/bench/compare/setup.sh"
BINARIES = SOURCE / "build" / "bin"
SLICE = SOURCE / "build" / "compare" / "slice"
GGUF = SOURCE / "build" / "compare" / "slice-q8_0.gguf"
CONFIGS = SOURCE / "test" / "models" / "configs"

PROMPT_TOKENS = 512
BATCHES = [1, 4, 16]
DECODE_TOKENS = 32
PROMPT_SEED = 1

# Context of the attention ops, rows of the linear ones.
CONTEXTS = [4096, 32768]
ROWS = [1, 4, 16, 256, 512]
LINEARS = {"expert gate": (7168, 2048), "o_proj": (8192, 7168)}


def fail(text):
    print(f"{pathlib.Path(sys.argv[0]).name}: {text}", file=sys.stderr)
    sys.exit(1)


def environment_problem():
    """Says what is wrong with the virtual environment, or None."""
    stamp = VENV / "complete"
    if not (VENV / "bin" / "python").exists():
        return f"there is no {VENV.relative_to(SOURCE)}; make it by {SETUP}"
    if not stamp.exists():
        return f"{VENV.relative_to(SOURCE)} is incomplete; finish it by {SETUP}"
    if stamp.read_text() != (HERE / "requirements.txt").read_text():
        return f"{VENV.relative_to(SOURCE)} is of older requirements; bring it up to date by {SETUP}"
    return None


def enter_environment():
    """Goes on under the environment's Python. Call before importing packages."""
    problem = environment_problem()
    if problem:
        fail(problem)
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        python = str(VENV / "bin" / "python")
        os.execv(python, [python, *sys.argv])


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a positive number, found '{text}'")
    return number


def positive_list(text):
    try:
        return [positive(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected positive numbers with commas between, found '{text}'") from None


def repetitions_parser(description):
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--repetitions", type=positive, default=1, metavar="N")
    return options


def parser(description):
    options = repetitions_parser(description)
    options.add_argument("--threads", type=positive_list, default=[1, 2], metavar="N,...")
    return options


def model_parser(description):
    options = parser(description)
    options.add_argument("--slice", type=pathlib.Path, default=SLICE, metavar="FOLDER",
                         help="what slice.py wrote")
    options.add_argument("--prompt-tokens", type=positive, default=PROMPT_TOKENS, metavar="N")
    options.add_argument("--batch", type=positive_list, default=BATCHES, metavar="N,...")
    options.add_argument("--decode-tokens", type=positive, default=DECODE_TOKENS, metavar="N")
    return options


def logits_option(options):
    options.add_argument("--logits", type=pathlib.Path, metavar="FILE.npy",
                         help="measure nothing: write the logits after the prompt")


def binary_option(options):
    options.add_argument("--bin", type=pathlib.Path, default=BINARIES, metavar="FOLDER",
                         help="where moec and moec-run are")


def binary(folder, name):
    path = folder / name
    if not os.access(path, os.X_OK):
        fail(f"there is no program {path}; build it, or name its folder by --bin")
    return path


def prompt(count, vocabulary, sequence=0):
    """Token ids that every contestant gets, different for each sequence."""
    import numpy
    generator = numpy.random.default_rng([PROMPT_SEED, sequence])
    return generator.integers(0, vocabulary, count).tolist()


def measure(run, repetitions):
    """Runs `run` that often: median seconds, and CPUs used meanwhile."""
    seconds = []
    cpu = time.process_time()
    for _ in range(repetitions):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds), (time.process_time() - cpu) / sum(seconds)


def measure_for(run, least_seconds=0.5, least_runs=3):
    """One warm-up run, then runs until `least_seconds` have gone by."""
    run()
    begin = time.perf_counter()
    run()
    count = max(least_runs, int(least_seconds / (time.perf_counter() - begin)) + 1)
    seconds, cpus = measure(run, count)
    return seconds, cpus, count


def report(contestant, case, threads, value, unit, repetitions, cpus=None):
    # A tenth is for the threads that hand out work and do little else.
    if cpus is not None and cpus > threads + 0.1:
        fail(f"{contestant}, {case}: used {cpus:.2f} CPUs where {threads} threads were allowed")
    line = {"contestant": contestant, "case": case, "threads": threads, "value": value,
            "unit": unit, "repetitions": repetitions}
    if cpus is not None:
        line["cpus"] = round(cpus, 2)
    print(json.dumps(line), flush=True)
    return line
