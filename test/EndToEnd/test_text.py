"""tiny-kimi's text: the reference's greedy continuations."""
import json

import pytest

from conftest import TINY, run

EXPECTED = json.loads((TINY / "expected.json").read_text(encoding="utf-8"))

# Largest difference of a bf16 logit over the largest logit, on tiny-kimi's greedy
# steps: `moec-run check` measures 0.0099 (greedy_logits). Two logits that are
# nearer to each other than twice the bound may change places.
BF16_LOGIT_ROUNDING = 0.015


def generate(artifact, *options):
    result = run("moec-run", "generate", artifact, f"--weights={TINY}",
                 "--json", *options)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("variant", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case["prompt"])
def test_f32_reproduces_the_greedy_ids(compiled, case, variant):
    artifact = compiled(TINY, "--activations=f32")
    if variant == "x86-64-v4" and not has_avx512():
        pytest.skip("this CPU has no AVX-512")
    answer = generate(artifact, f"--prompt={case['prompt']}",
                      f"--variant={variant}",
                      f"--max-new-tokens={len(case['greedy_ids'])}")
    assert answer["prompt_ids"] == case["prompt_ids"]
    assert answer["ids"] == case["greedy_ids"]
    assert answer["text"] == case["text"]


def has_avx512():
    flags = open("/proc/cpuinfo", encoding="utf-8").read()
    return all(flag in flags for flag in
               ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"])


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case["prompt"])
def test_bf16_follows_until_a_margin_within_rounding(compiled, case):
    """The ids are the reference's; where they are not, two f32 logits were nearer
    to each other than bf16 can move them."""
    steps = len(case["greedy_ids"])
    bf16 = generate(compiled(TINY), f"--prompt={case['prompt']}",
                    f"--max-new-tokens={steps}")["ids"]
    if bf16 == case["greedy_ids"]:
        return
    first = next(step for step in range(steps)
                 if bf16[step] != case["greedy_ids"][step])
    # The margin of that step, from the f32 artifact, which is exact.
    ids = case["prompt_ids"] + case["greedy_ids"][:first]
    answer = generate(compiled(TINY, "--activations=f32"),
                      f"--prompt-ids={','.join(map(str, ids))}",
                      "--max-new-tokens=1", "--top-logits=2")
    best, second = (entry["logit"] for entry in answer["top_logits"][0])
    assert (best - second) / abs(best) <= 2 * BF16_LOGIT_ROUNDING


def test_sampling_is_seeded(compiled):
    artifact = compiled(TINY)
    options = ["--prompt=In the beginning", "--temperature=1", "--top-k=50",
               "--top-p=0.95", "--min-p=0.01", "--max-new-tokens=24"]
    first = generate(artifact, *options, "--seed=7")
    assert first["ids"] == generate(artifact, *options, "--seed=7")["ids"]
    assert first["ids"] != generate(artifact, *options, "--seed=8")["ids"]


def test_text_streams_as_generated(compiled):
    result = run("moec-run", "generate", compiled(TINY, "--activations=f32"),
                 f"--weights={TINY}", f"--prompt={EXPECTED[0]['prompt']}",
                 "--max-new-tokens=64")
    assert result.returncode == 0
    assert EXPECTED[0]["text"] in result.stdout
