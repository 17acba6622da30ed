"""Compares moec with llama.cpp and transformers on the slice of Kimi-K2.

    python3 test/bench/compare/compare.py [--rounds 3] [--json FILE]

Each round runs every contestant once, and each round begins with another one, so
that what slows the machine for a while slows all of them. Prints, per case, the
median of the rounds and the ratio moec / peer, after the time and peak memory of
`moec compile` on the whole of Kimi-K2. --ops adds the table of single operations.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

import common
import compile as compiler
import ops_table
import run_moec

PEERS = {"llama.cpp": "run_llama_cpp.py", "transformers": "run_transformers.py"}
REQUIREMENTS = common.HERE / "requirements.txt"


class Samples:
    """Values of all rounds by (case, threads) and contestant."""

    def __init__(self):
        self.values = {}
        self.units = {}

    def add(self, line):
        key = line["case"], line["threads"]
        self.units[key] = line["unit"]
        of_case = self.values.setdefault(key, {})
        of_case.setdefault(line["contestant"], []).append(line["value"])

    def contestants(self):
        return list(dict.fromkeys(name for case in self.values.values() for name in case))

    def rows(self):
        """One row per case, medians and ratios included."""
        rows = []
        for (case, threads), of_case in self.values.items():
            medians = {name: statistics.median(values) for name, values in of_case.items()}
            ratios = {name: medians[run_moec.NAME] / value for name, value in medians.items()
                      if run_moec.NAME in medians and name != run_moec.NAME}
            rows.append({"case": case, "threads": threads, "unit": self.units[case, threads],
                         "median": medians, "moec_over": ratios, "samples": of_case})
        return sorted(rows, key=lambda row: row["threads"])


def run_contestant(script, options):
    """Runs a script: the JSON lines that it printed."""
    command = [sys.executable, str(common.HERE / script), *options]
    print(f"compare: {script} {' '.join(options)}", file=sys.stderr, flush=True)
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        common.fail(f"{script} failed with status {result.returncode}; its message is above")
    try:
        return [json.loads(line) for line in result.stdout.splitlines()]
    except ValueError as error:
        common.fail(f"{script} printed what is not JSON ({error}): {result.stdout[:200]!r}")


def model_options(arguments):
    def joined(numbers):
        return ",".join(map(str, numbers))
    return ["--threads", joined(arguments.threads), "--batch", joined(arguments.batch),
            "--prompt-tokens", str(arguments.prompt_tokens),
            "--decode-tokens", str(arguments.decode_tokens),
            "--repetitions", str(arguments.repetitions)]


def contestants(arguments, artifact):
    """Each contestant's script with its options, moec first."""
    options = model_options(arguments)
    runs = [("run_moec.py", [*options, "--slice", str(arguments.slice), "--bin",
                             str(arguments.bin), "--artifact", str(artifact)])]
    for peer in arguments.peers:
        source = ["--gguf", str(arguments.gguf)] if peer == "llama.cpp" \
            else ["--slice", str(arguments.slice)]
        runs.append((PEERS[peer], [*options, *source]))
    return runs


def run_rounds(arguments, samples):
    with tempfile.TemporaryDirectory() as folder:
        artifact = pathlib.Path(folder) / "slice.moec"
        compiler.compile_model(arguments.bin, arguments.slice / "config.json", artifact)
        runs = contestants(arguments, artifact)
        for number in range(arguments.rounds):
            first = number % len(runs)
            for script, options in runs[first:] + runs[:first]:
                for line in run_contestant(script, options):
                    samples.add(line)


def print_table(samples):
    peers = [name for name in samples.contestants() if name != run_moec.NAME]
    columns = [run_moec.NAME, *peers]
    print(f"{'tokens/s':17} {'threads':>7}  " + "  ".join(f"{name:>18}" for name in columns))
    for row in samples.rows():
        cells = []
        for name in columns:
            cell = f"{row['median'][name]:.2f}" if name in row["median"] else "-"
            if name in row["moec_over"]:
                cell += f" ({row['moec_over'][name]:5.2f}x)"
            cells.append(f"{cell:>18}")
        print(f"{row['case']:17} {row['threads']:>7}  " + "  ".join(cells))
    print("\n(x): moec over that peer. Medians of the rounds.")


def print_spread(samples):
    """The widest range of one contestant's rounds, as a warning of noise."""
    spread, case, name = max(
        ((max(values) - min(values)) / statistics.median(values), row["case"], name)
        for row in samples.rows() for name, values in row["samples"].items())
    print(f"Widest range of the rounds: {spread:.0%} ({name}, {case}).")


def machine():
    models = [line.partition(":")[2].strip() for line in open("/proc/cpuinfo")
              if line.startswith("model name")]
    return {"cpu": models[0] if models else platform.processor(), "cpus": os.cpu_count(),
            "load_before": os.getloadavg()[0]}


def parse_arguments():
    options = common.model_parser("moec and its peers on the slice of Kimi-K2")
    common.binary_option(options)
    options.add_argument("--gguf", type=pathlib.Path, metavar="FILE",
                         default=common.GGUF, help="what write_gguf.py wrote")
    options.add_argument("--rounds", type=common.positive, default=3, metavar="N")
    options.add_argument("--peers", default=",".join(PEERS), metavar="NAME,...")
    options.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True,
                         help="time moec compile on the whole of Kimi-K2")
    options.add_argument("--ops", action="store_true", help="run single operations too")
    options.add_argument("--json", type=pathlib.Path, metavar="FILE")
    arguments = options.parse_args()
    arguments.peers = arguments.peers.split(",")
    for peer in arguments.peers:
        if peer not in PEERS:
            options.error(f"--peers: expected {' or '.join(PEERS)}, found '{peer}'")
    if arguments.json and not arguments.json.absolute().parent.is_dir():
        options.error(f"--json: there is no folder {arguments.json.absolute().parent}")
    return arguments


def check_inputs(arguments):
    """All that a contestant would miss, before the first minutes are spent."""
    problem = common.environment_problem()
    if problem:
        common.fail(problem)
    for name in ["moec", "moec-run"]:
        common.binary(arguments.bin, name)
    if not (arguments.slice / "config.json").exists():
        common.fail(f"no slice in {arguments.slice}; write it by test/bench/compare/slice.py")
    if "llama.cpp" in arguments.peers and not arguments.gguf.exists():
        common.fail(f"there is no {arguments.gguf}; write it by test/bench/compare/write_gguf.py")


def print_report(report, samples):
    for line in report.get("compile", []):
        print(f"{line['contestant']}, {line['case']}: {line['value']:.1f} {line['unit']}")
    if "ops" in report:
        ops_table.print_table(report["ops"])
    print_table(samples)
    print_spread(samples)


def write_json(path, report):
    try:
        path.write_text(json.dumps(report, indent=2) + "\n")
    except OSError as error:
        common.fail(f"cannot write {path}: {error}")


def main():
    arguments = parse_arguments()
    check_inputs(arguments)
    report = {"machine": machine(), "rounds": arguments.rounds,
              "peers": [line for line in REQUIREMENTS.read_text().splitlines() if "==" in line]}
    if arguments.compile:
        report["compile"] = run_contestant(
            "compile.py", ["--bin", str(arguments.bin), "--repetitions", str(arguments.rounds)])
    if arguments.ops:
        report["ops"] = run_contestant(
            "run_ops.py", ["--threads", ",".join(map(str, arguments.threads))])
    samples = Samples()
    run_rounds(arguments, samples)
    report["cases"] = samples.rows()
    print_report(report, samples)
    if arguments.json:
        write_json(arguments.json, report)


if __name__ == "__main__":
    main()
