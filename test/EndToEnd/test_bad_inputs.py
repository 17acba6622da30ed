"""Wrong and hostile files: a message that names file and place, exit code 1, and
nothing left behind. The readers' own tables (test/Import, test/Runtime) have many
more cases; these go through the programs."""
import json
import shutil
import signal
import struct
import subprocess
import time

import pytest

from conftest import BUILD, CONFIGS, TINY, run

CONFIG = (TINY / "config.json").read_text(encoding="utf-8")


def with_value(key, value):
    config = json.loads(CONFIG)
    config[key] = value
    return json.dumps(config, indent=1)


def without(key):
    config = json.loads(CONFIG)
    del config[key]
    return json.dumps(config, indent=1)


# text of config.json, and what the message must hold beside the file's name
BROKEN_CONFIGS = {
    "empty": ("", "config.json:1:1"),
    "not json": ("hello", "config.json:1:1"),
    "an array": ("[1, 2]", "config.json:1:1"),
    "cut off": (CONFIG[:400], "config.json:"),
    "trailing text": (CONFIG + "x", "config.json:"),
    "nan": (CONFIG.replace("1e-06", "NaN"), "config.json:"),
    "infinity": (CONFIG.replace("1e-06", "Infinity"), "config.json:"),
    "deep": ("[" * 100_000, "config.json:1"),
    "deep object": ('{"a":' * 100_000, "config.json:1"),
    "invalid utf-8": ("{\"a\": \"\udcff\"}", "config.json:1"),
    "duplicate key": (CONFIG.replace('"vocab_size"', '"hidden_size"'), "hidden_size"),
    "no hidden_size": (without("hidden_size"), "hidden_size"),
    "no kv_lora_rank": (without("kv_lora_rank"), "kv_lora_rank"),
    "no vocab_size": (without("vocab_size"), "vocab_size"),
    "no layers": (without("num_hidden_layers"), "num_hidden_layers"),
    "zero layers": (with_value("num_hidden_layers", 0), "num_hidden_layers"),
    "negative": (with_value("hidden_size", -256), "hidden_size"),
    "a fraction": (with_value("hidden_size", 256.5), "hidden_size"),
    "2^63": (with_value("hidden_size", 2**63), "hidden_size"),
    "huge": (with_value("vocab_size", 10**18), "vocab_size"),
    "a string": (with_value("hidden_size", "256"), "hidden_size"),
    "a list": (with_value("hidden_size", [256]), "hidden_size"),
    "null": (with_value("hidden_size", None), "hidden_size"),
    "top-k": (with_value("num_experts_per_tok", 17), "num_experts_per_tok"),
    "groups": (with_value("n_group", 5), "n_group"),
    "top groups": (with_value("topk_group", 2), "topk_group"),
    "odd rope": (with_value("qk_rope_head_dim", 15), "qk_rope_head_dim"),
    "activation": (with_value("hidden_act", "gelu"), "hidden_act"),
    "bias": (with_value("attention_bias", True), "attention_bias"),
    "scoring": (with_value("scoring_func", "sqrtsoftplus"), "scoring_func"),
    "method": (with_value("topk_method", "best"), "topk_method"),
    "eps": (with_value("rms_norm_eps", 0), "rms_norm_eps"),
    "rope type": (with_value("rope_scaling", {"type": "linear", "factor": 2}), "rope"),
    "rope conflict": (with_value("rope_scaling", {"type": "yarn", "rope_type": "default"}), "rope"),
    "block": (with_value("quantization_config", {"quant_method": "fp8", "weight_block_size": [128]}), "weight_block_size"),
    "awq": (with_value("quantization_config", {"quant_method": "awq", "bits": 4}), "awq"),
    "gptq": (with_value("quantization_config", {"quant_method": "gptq", "bits": 4}), "gptq"),
    "unknown model": (with_value("architectures", ["LlamaForCausalLM"]), "LlamaForCausalLM"),
}


@pytest.mark.parametrize("name", BROKEN_CONFIGS)
def test_config(tmp_path, name):
    text, fragment = BROKEN_CONFIGS[name]
    config = tmp_path / "config.json"
    config.write_bytes(text.encode("utf-8", "surrogateescape"))
    output = tmp_path / "out.moec"
    result = run("moec", "compile", config, "-o", output)
    assert result.returncode == 1, result.stderr
    assert "config.json" in result.stderr
    assert fragment in result.stderr
    assert "error:" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json"]


REFUSED = ["moonshotai__Kimi-K2-Thinking.full", "moonshotai__Kimi-K2.5",
           "deepseek-ai__DeepSeek-V3.2", "zai-org__GLM-5",
           "moonshotai__Kimi-K3", "deepseek-ai__DeepSeek-V4-Flash",
           "meituan-longcat__LongCat-Flash-Lite", "rednote-hilab__dots.llm1",
           "MiniMaxAI__MiniMax-M2.5", "nvidia__DeepSeek-V3-0324-NVFP4"]


def test_every_other_published_model_is_accepted(tmp_path):
    for config in sorted(CONFIGS.glob("*.json")):
        if config.stem not in REFUSED:
            result = run("moec", "compile", config, "--emit=linalg", "--quiet")
            assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_models_that_are_refused(tmp_path, name):
    result = run("moec", "compile", CONFIGS / f"{name}.json", "-o",
                 tmp_path / "out.moec")
    assert result.returncode == 1
    assert "error:" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(TINY, folder)
    return folder


def header_of(shard):
    data = shard.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + size]), data[8 + size:]


def write_shard(shard, header, body):
    text = json.dumps(header).encode()
    shard.write_bytes(struct.pack("<Q", len(text)) + text + body)


SHARD = "model-2-of-3.safetensors"
INDEX = "model.safetensors.index.json"


def cut(shard):
    shard.write_bytes(shard.read_bytes()[:-1])


def append(shard):
    shard.write_bytes(shard.read_bytes() + bytes(16))


def huge_header(shard):
    shard.write_bytes(struct.pack("<Q", 2**62) + shard.read_bytes()[8:])


def edit_header(change):
    def edit(shard):
        header, body = header_of(shard)
        names = [name for name in header if name != "__metadata__"]
        change(header, names)
        write_shard(shard, header, body)
    return edit


def edit_index(change):
    def edit(shard):
        path = shard.parent / INDEX
        index = json.loads(path.read_text())
        change(index)
        path.write_text(json.dumps(index))
    return edit


def first_in(index):
    return next(name for name, file in index["weight_map"].items() if file == SHARD)


BROKEN_WEIGHTS = {
    "cut by a byte": (cut, SHARD),
    "cut by half": (lambda shard: shard.write_bytes(shard.read_bytes()[:len(shard.read_bytes()) // 2]), SHARD),
    "bytes behind the end": (append, SHARD),
    "empty file": (lambda shard: shard.write_bytes(b""), SHARD),
    "seven bytes": (lambda shard: shard.write_bytes(bytes(7)), SHARD),
    "header of 2^62 bytes": (huge_header, SHARD),
    "header no json": (lambda shard: shard.write_bytes(struct.pack("<Q", 4) + b"{abc"), SHARD),
    "missing shard": (lambda shard: shard.unlink(), SHARD),
    "dtype": (edit_header(lambda header, names: header[names[0]].update(dtype="F7")), "F7"),
    "shape": (edit_header(lambda header, names: header[names[0]].update(shape=[1])), SHARD),
    "negative shape": (edit_header(lambda header, names: header[names[0]].update(shape=[-1])), SHARD),
    "offsets swapped": (edit_header(lambda header, names: header[names[0]]["data_offsets"].reverse()), SHARD),
    "overlap": (edit_header(lambda header, names: header[names[1]].update(header[names[0]])), SHARD),
    "offset beyond": (edit_header(lambda header, names: header[names[0]].update(data_offsets=[2**62, 2**62 + 4])), SHARD),
    "a tensor is missing": (edit_header(lambda header, names: header.pop(names[0])), SHARD),
    "renamed tensor": (edit_header(lambda header, names: header.update({"other": header.pop(names[0])})), "model."),
    "index no json": (lambda shard: (shard.parent / INDEX).write_text("{"), INDEX),
    "index without map": (edit_index(lambda index: index.pop("weight_map")), "weight_map"),
    "index leaves the folder": (edit_index(lambda index: index["weight_map"].update({first_in(index): "../" + SHARD})), ".."),
    "index absolute": (edit_index(lambda index: index["weight_map"].update({first_in(index): "/etc/passwd"})), "/etc/passwd"),
    "index lacks a tensor": (edit_index(lambda index: index["weight_map"].pop(first_in(index))), "model."),
    "index names the wrong shard": (edit_index(lambda index: index["weight_map"].update({first_in(index): "model-1-of-3.safetensors"})), "model-1-of-3"),
    "index names no file": (edit_index(lambda index: index["weight_map"].update({first_in(index): "gone.safetensors"})), "gone.safetensors"),
}


@pytest.mark.parametrize("name", BROKEN_WEIGHTS)
def test_weights(compiled, model, name):
    change, fragment = BROKEN_WEIGHTS[name]
    change(model / SHARD)
    result = run("moec-run", "generate", compiled(TINY), f"--weights={model}",
                 "--prompt=In")
    assert result.returncode == 1, result.stderr
    assert fragment in result.stderr
    assert result.stdout == ""


def edit_manifest(change):
    def edit(artifact):
        path = artifact / "manifest.json"
        manifest = json.loads(path.read_text())
        change(manifest)
        path.write_text(json.dumps(manifest))
    return edit


BROKEN_ARTIFACTS = {
    "no manifest": (lambda artifact: (artifact / "manifest.json").unlink(), "manifest.json"),
    "no json": (lambda artifact: (artifact / "manifest.json").write_text("{"), "manifest.json"),
    "other format": (edit_manifest(lambda manifest: manifest.update(format="zip")), "format"),
    "other version": (edit_manifest(lambda manifest: manifest.update(version=2)), "version"),
    "other abi": (edit_manifest(lambda manifest: manifest["code"].update(abi=9)), "abi"),
    "other target": (edit_manifest(lambda manifest: manifest.update(target="sm_90a")), "sm_90a"),
    "missing feature": (edit_manifest(lambda manifest: [variant["features"].append("avx9000") for variant in manifest["code"]["variants"]]), "avx9000"),
    "no parameters": (edit_manifest(lambda manifest: manifest.pop("parameters")), "parameters"),
    "slot beyond": (edit_manifest(lambda manifest: manifest["parameters"][0].update(slot=10**9)), "slot"),
    "negative size": (edit_manifest(lambda manifest: manifest["workspace"].update(bytes_fixed=-1)), "bytes_fixed"),
    "other shape": (edit_manifest(lambda manifest: manifest["parameters"][0].update(shape=[1, 2])), "model.embed_tokens.weight"),
    "wrong type": (edit_manifest(lambda manifest: manifest.update(taps="none")), "taps"),
    "damaged code": (lambda artifact: (artifact / "code.so").write_bytes((artifact / "code.so").read_bytes()[:-1] + b"x"), "code.so"),
    "no code": (lambda artifact: (artifact / "code.so").unlink(), "code.so"),
    "damaged tokenizer": (lambda artifact: (artifact / "tiktoken.model").write_text("?? 0\n"), "tiktoken.model"),
}


@pytest.mark.parametrize("name", BROKEN_ARTIFACTS)
def test_artifact(compiled, tmp_path, name):
    change, fragment = BROKEN_ARTIFACTS[name]
    artifact = tmp_path / "copy.moec"
    shutil.copytree(compiled(TINY), artifact)
    change(artifact)
    result = run("moec-run", "generate", artifact, f"--weights={TINY}", "--prompt=In")
    assert result.returncode == 1, result.stderr
    assert fragment in result.stderr


@pytest.mark.parametrize("options, fragment", [
    (["--prompt-ids=-1"], "-1"), (["--prompt-ids=2048"], "2048"),
    (["--prompt-ids=2147483648"], "2147483648"),
    (["--prompt=In", "--max-context=1", "--prompt-ids=1,2"], ""),
], ids=["negative", "vocab_size", "2^31", "two prompts"])
def test_prompts(compiled, options, fragment):
    result = run("moec-run", "generate", compiled(TINY), f"--weights={TINY}", *options)
    assert result.returncode in (1, 2)
    assert fragment in result.stderr


@pytest.mark.parametrize("text", ["", " ", "   \n"])
def test_prompts_of_nothing(compiled, tmp_path, text):
    file = tmp_path / "prompt.txt"
    file.write_text(text)
    result = run("moec-run", "generate", compiled(TINY), f"--weights={TINY}",
                 f"--prompt-file={file}", "--max-new-tokens=2")
    # White space is tokens; nothing is an error that says so.
    assert result.returncode == (0 if text else 1), result.stderr
    assert text or "empty" in result.stderr


def test_a_prompt_longer_than_the_context(compiled):
    result = run("moec-run", "generate", compiled(TINY), f"--weights={TINY}",
                 "--prompt-ids=" + ",".join(["1"] * 20), "--max-context=8")
    assert result.returncode == 1
    assert "20" in result.stderr and "8" in result.stderr


def test_the_context_fills_up(compiled):
    result = run("moec-run", "generate", compiled(TINY), f"--weights={TINY}",
                 "--prompt=In the beginning", "--max-context=10", "--json",
                 "--max-new-tokens=50")
    assert result.returncode == 0
    answer = json.loads(result.stdout)
    assert answer["finish_reason"] == "length"
    assert len(answer["prompt_ids"]) + len(answer["ids"]) <= 11


@pytest.mark.parametrize("command", [
    ["moec"], ["moec", "compile"], ["moec", "compile", "x", "--bogus"],
    ["moec", "compile", TINY], ["moec", "compile", TINY, "-o", "x", "--target=tpu"],
    ["moec", "compile", TINY, "-o", "x", "--activations=int3"],
    ["moec", "compile", TINY, "--emit=ptx"],
    ["moec", "compile", TINY, "-o", "x", "--page-size=1"],
    ["moec", "compile", "x.mlir", "-o", "x", "--from=linalg", "--taps"],
    ["moec", "compile", "x.mlir", "-o", "x", "--from=linalg", "--page-size=16"],
    ["moec-run"], ["moec-run", "generate"], ["moec-run", "generate", "x", "--bogus"],
], ids=lambda command: " ".join(str(word) for word in command[:4]))
def test_usage(command):
    assert run(*command).returncode == 2


@pytest.mark.parametrize("manifest", [None, '{"manifest_version": 3}'])
def test_an_output_that_is_no_artifact_is_left_alone(tmp_path, manifest):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("data")
    if manifest:
        (precious / "manifest.json").write_text(manifest)
    result = run("moec", "compile", TINY, "-o", precious)
    assert result.returncode == 1
    assert (precious / "file").read_text() == "data"
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_an_artifact_is_replaced_but_not_what_else_is_there(tmp_path):
    output = tmp_path / "model.moec"
    assert run("moec", "compile", TINY, "-o", output, "--save-ir").returncode == 0
    assert run("moec", "compile", TINY, "-o", f"{output}/").returncode == 0
    assert not (output / "ir").exists()
    (output / "notes.txt").write_text("x")
    result = run("moec", "compile", TINY, "-o", output)
    assert result.returncode == 1 and "notes.txt" in result.stderr
    assert (output / "notes.txt").exists()
    link = tmp_path / "link.moec"
    link.symlink_to(output)
    assert run("moec", "compile", TINY, "-o", link).returncode == 1
    assert (output / "code.so").exists()


def test_a_relative_output(tmp_path):
    result = run("moec", "compile", TINY, "-o", "model.moec", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model.moec"]


def test_an_interrupted_compile_leaves_nothing(tmp_path):
    process = subprocess.Popen([BUILD / "bin" / "moec", "compile", TINY, "-o",
                                tmp_path / "model.moec"],
                               stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    assert process.wait() != 0
    assert list(tmp_path.iterdir()) == []


def edited(tmp_path, level, old, new):
    """tiny-kimi's IR of a level with a change, and what compiling it gives."""
    source = tmp_path / f"{level}.mlir"
    assert run("moec", "compile", TINY, f"--emit={level}", "-o", source,
               "--quiet").returncode == 0
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    return run("moec", "compile", source, f"--from={level}", "-o",
               tmp_path / "edited.moec")


@pytest.mark.parametrize("level", ["transformer", "linalg", "bufferized"])
def test_edited_ir_that_contradicts_its_code(tmp_path, level):
    result = edited(tmp_path, level, "vocab_size = 2048 : i64",
                    "vocab_size = 25 : i64")
    assert result.returncode == 1
    assert "vocab_size 25" in result.stderr
    result = edited(tmp_path, level, "num_hidden_layers = 4 : i64",
                    'num_hidden_layers = "4"')
    assert result.returncode == 1
    assert "num_hidden_layers" in result.stderr
    if level != "transformer":
        result = edited(tmp_path, level, "moec.page_size = 64 : i64",
                        "moec.page_size = 16 : i64")
        assert result.returncode == 1
        assert "pages of 16" in result.stderr


def test_ir_of_another_level(tmp_path):
    source = tmp_path / "linalg.mlir"
    run("moec", "compile", TINY, "--emit=linalg", "-o", source, "--quiet")
    result = run("moec", "compile", source, "--from=bufferized", "-o",
                 tmp_path / "x.moec")
    assert result.returncode == 1
    assert "level linalg" in result.stderr


def test_an_empty_value_is_no_other_option(compiled):
    result = run("moec-run", "generate", compiled(TINY), f"--weights={TINY}",
                 "--prompt=", "--max-new-tokens=4")
    assert result.returncode == 1
    assert "empty" in result.stderr


@pytest.mark.parametrize("program, arguments", [
    ("moec", ["compile", TINY, "--emit=transformer", "--quiet"]),
    ("moec-run", ["generate", None, f"--weights={TINY}", "--prompt=In",
                  "--json"]),
])
def test_output_that_cannot_be_written(compiled, program, arguments):
    arguments = [compiled(TINY) if word is None else word for word in arguments]
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run([BUILD / "bin" / program, *arguments],
                                stdout=full, stderr=subprocess.PIPE, text=True,
                                timeout=600)
    assert result.returncode == 1
    assert "cannot write the output" in result.stderr
