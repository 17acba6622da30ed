"""A linear layer compiled by iree-compile, timed by iree-benchmark-module."""
import json
import pathlib
import subprocess
import tempfile

import common

# The weight is [outputs, features], as checkpoints have it.
SOURCE = """
func.func @linear(%values: tensor<{rows}x{features}x{dtype}>,
                  %weight: tensor<{outputs}x{features}x{dtype}>) -> tensor<{rows}x{outputs}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{rows}x{outputs}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{rows}x{outputs}xf32>)
      -> tensor<{rows}x{outputs}xf32>
  %result = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%values, %weight : tensor<{rows}x{features}x{dtype}>, tensor<{outputs}x{features}x{dtype}>)
      outs(%init : tensor<{rows}x{outputs}xf32>) -> tensor<{rows}x{outputs}xf32>
  return %result : tensor<{rows}x{outputs}xf32>
}}
"""


def run_tool(name, options):
    command = [str(common.VENV / "bin" / name), *options]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        common.fail(f"{name} failed with status {result.returncode}: {result.stderr[:1000]}")
    return result.stdout


def measure(dtype, rows, features, outputs, threads):
    """Seconds of one call, and the number of calls."""
    with tempfile.TemporaryDirectory() as folder:
        source, module = pathlib.Path(folder) / "linear.mlir", pathlib.Path(folder) / "linear.vmfb"
        source.write_text(SOURCE.format(dtype=dtype, rows=rows, features=features, outputs=outputs))
        run_tool("iree-compile", [
            str(source), "-o", str(module), "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
        text = run_tool("iree-benchmark-module", [
            f"--module={module}", "--function=linear", "--device=local-task",
            f"--task_topology_group_count={threads}", "--benchmark_format=json",
            f"--input={rows}x{features}x{dtype}=1", f"--input={outputs}x{features}x{dtype}=1"])
    result = json.loads(text)["benchmarks"][0]
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[result["time_unit"]]
    return result["real_time"] * scale, result["iterations"]
