"""Time and peak memory of `moec compile` on a whole model's configuration.

    python3 test/bench/compare/compile.py [--config FILE] [--repetitions 3]

Prints two JSON lines: seconds, and peak resident memory in MB of 10^6 bytes.
"""
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import common

NAME = "moec compile"
KIMI_K2 = common.CONFIGS / "moonshotai__Kimi-K2-Instruct.json"


def compile_model(binaries, config, artifact):
    """Compiles: seconds and peak resident bytes of the compiler."""
    command = [str(common.binary(binaries, "moec")), "compile", str(config),
               "-o", str(artifact), "--quiet"]
    begin = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        common.fail(f"moec compile failed with status {process.returncode}: {' '.join(command)}")
    return seconds, usage.ru_maxrss * 1024


def main():
    options = common.repetitions_parser("Compile time and peak memory of moec")
    common.binary_option(options)
    options.add_argument("--config", type=pathlib.Path, default=KIMI_K2, metavar="FILE")
    arguments = options.parse_args()
    if not arguments.config.exists():
        common.fail(f"there is no {arguments.config}")
    runs = []
    for _ in range(arguments.repetitions):
        with tempfile.TemporaryDirectory() as folder:
            artifact = pathlib.Path(folder) / "model.moec"
            runs.append(compile_model(arguments.bin, arguments.config, artifact))
    seconds, memory = (statistics.median(column) for column in zip(*runs))
    name = arguments.config.stem.split("__")[-1]
    common.report(NAME, name, 1, seconds, "seconds", len(runs))
    common.report(NAME, f"{name}, peak memory", 1, memory / 1e6, "MB", len(runs))


if __name__ == "__main__":
    main()
