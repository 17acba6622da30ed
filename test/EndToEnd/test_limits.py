"""The big models compile from config.json alone, in seconds and little memory."""
import json
import os
import subprocess
import time

import pytest

from conftest import BUILD, CONFIGS, run

BIG = ["moonshotai__Kimi-K2-Instruct", "deepseek-ai__DeepSeek-V3",
       "moonshotai__Moonlight-16B-A3B-Instruct"]


@pytest.mark.parametrize("name", BIG)
def test_compiles_small_and_soon(tmp_path, name):
    output = tmp_path / "big.moec"
    command = [str(BUILD / "bin" / "moec"), "compile",
               str(CONFIGS / f"{name}.json"), "-o", str(output), "--quiet"]
    begin = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    assert status == 0
    # The promise is 30 s and 2 GB on 2 cores (measured: 8 s and 0.27 GB); the
    # sanitizers' build is exempt from both.
    if "sanitize" not in str(BUILD):
        assert seconds <= 30
        assert usage.ru_maxrss <= 2 * 1024 * 1024
    size = sum(file.stat().st_size for file in output.rglob("*")
               if file.is_file())
    assert size <= 20_000_000


@pytest.mark.parametrize("level", ["transformer", "fused", "linalg",
                                   "bufferized"])
def test_ir_does_not_grow_with_layers_or_experts(tmp_path, level):
    original = json.loads((CONFIGS / f"{BIG[0]}.json").read_text())
    lines = set()
    # 40 is no other size of the model: with 32, as many as RoPE has angles, some
    # arithmetic on sizes would stand once for both.
    for changes in [{}, {"num_hidden_layers": 6}, {"n_routed_experts": 40}]:
        config = tmp_path / "config.json"
        config.write_text(json.dumps({**original, **changes}, indent=1))
        result = run("moec", "compile", config, f"--emit={level}", "--quiet")
        assert result.returncode == 0, result.stderr
        # Sizes are constants; two that are equal by chance stand once.
        lines.add(sum("arith.constant" not in line
                      for line in result.stdout.splitlines()))
    assert len(lines) == 1


def test_two_thousand_layers_compile(tmp_path):
    config = json.loads((CONFIGS / f"{BIG[0]}.json").read_text())
    config.update(num_hidden_layers=2000, hidden_size=64, n_routed_experts=1000)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    result = run("moec", "compile", path, "-o", tmp_path / "deep.moec")
    assert result.returncode == 0, result.stderr
