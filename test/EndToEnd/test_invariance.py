"""Bit for bit: batches, threads, chunks and pages do not change a result."""
import json

import pytest

from conftest import GOLDEN, TINY, run

FOLDERS = [GOLDEN / case for case in
           ["kimi-fp8", "deepseek-v3", "deepseek-v2-lite", "edge"]] + [TINY]
MODES = [("--activations=f32",), ("--activations=bf16",),
         ("--activations=fp8",),
         ("--activations=bf16", "--attention=expanded"),
         # More splits of the context than slots.
         ("--activations=bf16", "--page-size=8", "--tiles=split=16 slots=3")]


@pytest.mark.parametrize("variant", ["x86-64-v3", None])
@pytest.mark.parametrize("mode", MODES, ids=" ".join)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_batch_invariance(compiled, folder, mode, variant):
    result = run("moec-run", "check", compiled(folder, "--taps", *mode),
                 f"--weights={folder}",
                 f"--golden={folder / 'golden.safetensors'}",
                 "--batch-invariance", "--report-json",
                 *([f"--variant={variant}"] if variant else []))
    assert result.stdout, result.stderr
    report = json.loads(result.stdout)
    assert len(report["ways"]) >= 5
    assert [way["way"] for way in report["ways"] if not way["identical"]] == []
