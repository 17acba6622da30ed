"""Contestant moec: the slice compiled by `moec compile`, measured by `moec-run bench`.

    python3 test/bench/compare/run_moec.py [--threads 1,2] [--batch 1,4,16]

Weights are the slice's own file, mapped as it is.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import common
import compile as compiler

NAME = "moec"


def run_bench(command, threads):
    """Runs moec-run: CPUs that it used on average, loading included."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    begin = time.perf_counter()
    # Its table goes to stderr, where it does not mix with the JSON lines.
    process = subprocess.Popen(command, env=environment, stdout=sys.stderr)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        common.fail(f"moec-run bench failed with status {process.returncode}:"
                    f" {' '.join(command)}")
    return (usage.ru_utime + usage.ru_stime) / (time.perf_counter() - begin)


def read_bench(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        common.fail(f"moec-run bench wrote no figures to {path}: {error}")


def case_of(run):
    if run["kind"] == "prompt":
        return f"prompt {run['tokens']}"
    return f"decode batch {run['batch']}"


def measure(artifact, threads, folder, arguments):
    figures = folder / f"threads{threads}.json"
    cpus = run_bench(
        [str(common.binary(arguments.bin, "moec-run")), "bench", str(artifact),
         "--weights", str(arguments.slice),
         "--prompt-tokens", str(arguments.prompt_tokens),
         "--batch", ",".join(map(str, arguments.batch)),
         "--decode-tokens", str(arguments.decode_tokens),
         "--threads", str(threads), "--repetitions", str(arguments.repetitions),
         "--json", str(figures)], threads)
    result = read_bench(figures)
    if result["weights"] != str(arguments.slice):
        common.fail(f"moec-run bench was to take the weights of {arguments.slice},"
                    f" but says that it took '{result['weights']}'")
    for run in result["runs"]:
        common.report(NAME, case_of(run), threads, run["tokens_per_second"], "tokens/s",
                      arguments.repetitions, cpus)


def main():
    options = common.model_parser("moec on the slice")
    common.binary_option(options)
    options.add_argument("--artifact", type=pathlib.Path, metavar="NAME.moec",
                         help="compiled already; None: compile the slice's config.json")
    arguments = options.parse_args()
    if not (arguments.slice / "config.json").exists():
        common.fail(f"no slice in {arguments.slice}; write it by test/bench/compare/slice.py")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        artifact = arguments.artifact or folder / "slice.moec"
        if not arguments.artifact:
            compiler.compile_model(arguments.bin, arguments.slice / "config.json", artifact)
        for threads in arguments.threads:
            measure(artifact, threads, folder, arguments)


if __name__ == "__main__":
    main()
