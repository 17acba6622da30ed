"""The built programs, and artifacts that are compiled once per run."""
import json
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MOEC_BUILD_DIR", SOURCE / "build"))
MODELS = SOURCE / "test" / "models"
GOLDEN = MODELS / "golden"
TINY = MODELS / "tiny-kimi"
CONFIGS = MODELS / "configs"


def run(program, *arguments, **options):
    """Runs a built program; the result has returncode, stdout and stderr."""
    command = [str(BUILD / "bin" / program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True,
                          errors="replace", timeout=600, **options)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """compiled(model, *options): the artifact, made at the first call."""
    folder = tmp_path_factory.mktemp("artifacts")
    made = {}

    def make(model, *options):
        key = (str(model), options)
        if key not in made:
            output = folder / f"{len(made)}.moec"
            result = run("moec", "compile", model, "-o", output, "--quiet",
                         *options)
            assert result.returncode == 0, result.stderr
            made[key] = output
        return made[key]

    return make


def check(artifact, weights, golden, *options):
    """moec-run check's report, by name of the value, and of the greedy steps."""
    result = run("moec-run", "check", artifact, f"--weights={weights}",
                 f"--golden={golden}", "--report-json", *options)
    assert result.stdout, result.stderr
    report = json.loads(result.stdout)
    return {value["name"]: value for value in report["values"]}, report["greedy"]
