"""Prompts and decoding of the slice of Kimi-K2, with random weights.

    python3 test/bench/speed.py [options of moec-run bench]

Prints the table of moec-run bench and writes build/bench.json.
"""
import json
import os
import subprocess
import sys

from slice_config import SOURCE, slice_config

BUILD = SOURCE / "build"


def main():
    model, artifact = BUILD / "bench-slice", BUILD / "bench-slice.moec"
    model.mkdir(parents=True, exist_ok=True)
    (model / "config.json").write_text(json.dumps(slice_config(), indent=2) + "\n")
    compile_command = [BUILD / "bin" / "moec", "compile", model, "-o", artifact,
                       "--quiet"]
    options = sys.argv[1:]
    if not any(option.startswith("--threads") for option in options):
        options.append("--threads=" + ",".join(map(str, sorted({1, os.cpu_count()}))))
    bench_command = [BUILD / "bin" / "moec-run", "bench", artifact, "--random-weights",
                     f"--json={BUILD / 'bench.json'}", *options]
    for command in (compile_command, bench_command):
        status = subprocess.run(command).returncode
        if status != 0:
            sys.exit(status)


if __name__ == "__main__":
    main()
