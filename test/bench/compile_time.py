"""Compile time, peak memory and artifact size of the big configurations.

    python3 test/bench/compile_time.py

Prints a table; the best of three runs of `moec compile` each.
"""
import os
import pathlib
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MODELS = ["moonshotai__Kimi-K2-Instruct", "deepseek-ai__DeepSeek-V3",
          "moonshotai__Moonlight-16B-A3B-Instruct"]


def measure(name, folder):
    output = pathlib.Path(folder) / "model.moec"
    command = [str(SOURCE / "build" / "bin" / "moec"), "compile",
               str(SOURCE / "test" / "models" / "configs" / f"{name}.json"),
               "-o", str(output), "--quiet"]
    begin = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"moec compile failed on {name}")
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    return time.monotonic() - begin, usage.ru_maxrss / 1024, size


def main():
    print(f"{'model':42} {'seconds':>8} {'peak MB':>8} {'artifact kB':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            seconds, memory, size = min(measure(name, folder) for _ in range(3))
            print(f"{name:42} {seconds:8.2f} {memory:8.0f} {size / 1000:12.0f}")


if __name__ == "__main__":
    main()
