"""moec-run bench: the table, the JSON, and what it refuses."""
import json

from conftest import TINY, run

QUICK = ["--prompt-tokens=8", "--batch=1,3", "--decode-tokens=2", "--threads=1,2",
         "--repetitions=2"]


def bench(artifact, *options):
    return run("moec-run", "bench", artifact, *options)


def test_table_and_json(compiled, tmp_path):
    report = tmp_path / "bench.json"
    result = bench(compiled(TINY), f"--weights={TINY}", *QUICK, f"--json={report}")
    assert result.returncode == 0, result.stderr
    for test in ["pp8", "tg2@b1", "tg2@b3"]:
        assert result.stdout.count(test) == 2  # once for each number of threads
    assert "mapped" in result.stderr
    text = json.dumps(json.loads(report.read_text()))
    assert "tg2@b3" in text and str(TINY) in text


def test_random_weights(compiled):
    result = bench(compiled(TINY), "--random-weights", *QUICK)
    assert result.returncode == 0, result.stderr
    assert "random weights" in result.stderr


def test_refuses_what_contradicts(compiled, tmp_path):
    artifact = compiled(TINY)
    both = bench(artifact, f"--weights={TINY}", "--random-weights", *QUICK)
    neither = bench(artifact, *QUICK)
    no_number = bench(artifact, "--random-weights", "--batch=1,x")
    no_variant = bench(artifact, "--random-weights", "--variant=z80", *QUICK)
    no_folder = bench(artifact, "--random-weights", *QUICK,
                      f"--json={tmp_path / 'none' / 'bench.json'}")
    assert [both.returncode, neither.returncode, no_number.returncode] == [2, 2, 2]
    assert no_variant.returncode == 1 and "z80" in no_variant.stderr
    assert no_folder.returncode == 1 and "bench.json" in no_folder.stderr
