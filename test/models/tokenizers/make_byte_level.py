#===- make_byte_level.py - Train the byte-level test tokenizer -------------===#
#
# Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Trains byte-level/tokenizer.json and writes the ids it gives.

    python make_byte_level.py

A small byte-level BPE with DeepSeek-V3's pre-tokenizer sequence, added tokens
of each kind, and a template that puts BOS first. Needs the package tokenizers
(0.23.3 made the committed files).
"""
import json
import os

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        pre_tokenizers, processors, trainers)

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "byte-level")
KIMI_CASES = os.path.join(HERE, "..", "tiny-kimi", "tokenizer_cases.json")

BOS, EOS, PAD = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>")
DIGITS = r"\p{N}{1,3}"
CJK = "[一-龥\u3040-ゟ゠-ヿ]+"
GENERAL = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
           "|[^\r\n" r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
           r"| ?[\p{P}\p{S}]+[" "\r\n" "]*"
           r"|\s*[" "\r\n" "]+"
           r"|\s+(?!\S)|\s+")

CORPUS = """The compiler reads a configuration and writes a program. The program reads weights and writes text.
A tokenizer cuts text into pieces, and pieces into tokens; every token has a number. Numbers are not words.
When a run of one letter is long, the merges must not take longer than the letters ask for.
for (int row = 0; row < rows; ++row) { sum += weight[row] * input[row]; }
def decode(ids):
    return b"".join(table[number] for number in ids).decode("utf-8", "replace")
{"hidden_size": 7168, "num_hidden_layers": 61, "rope_theta": 50000.0, "quant_method": "fp8"}
<html><body class="page">&amp; one more thing, isn't it? We'll see what they've said.</body></html>
编译器读取配置并生成程序。程序读取权重并输出文字。分词器把文字切成小块，再把小块变成编号。
今天天气很好，我们一起去公园散步。数字不是文字，文字也不是数字。
コンパイラは設定を読み、プログラムを書きます。ひらがなとカタカナと漢字があります。
컴파일러는 설정을 읽고 프로그램을 씁니다. Компилятор читает настройки и пишет программу.
1234567890 2024-05-17 3.14159 1,000,000 0x7fff 192.168.0.1
Les mots français ont des accents: été, naïve, cœur, garçon. Größe, Übung, Straße.
"""
TEXTS = ["  a  b\n\nc", "<｜User｜>你好<｜Assistant｜>", BOS + "text",
         "a<think>b</think><thinking", "<think<think>>", "<｜User",
         "12345678 1234", "ab12cd345", "漢字かなカナ混じり文123", "....word",
         " .word", "don't we'll", "(paren", "\r\n\r\n  x", "e\u0301a\u0301",
         "№①②", "a\u180eb", "\u0085 \u00a0", "𠀀龥龦", "ー〜", "\u1c80"]


def train():
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        *(split(Regex(p), "isolated") for p in (DIGITS, CJK, GENERAL)),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(
        CORPUS.splitlines(keepends=True) * 3,
        trainers.BpeTrainer(
            vocab_size=1100, min_frequency=2, show_progress=False,
            special_tokens=[AddedToken(s, normalized=True, special=True)
                            for s in (BOS, EOS, PAD)],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_tokens(
        [AddedToken(s, normalized=True, special=False)
         for s in ("<｜User｜>", "<｜Assistant｜>")]
        + [AddedToken(s, normalized=False, special=False)
           for s in ("<think>", "</think>", "<think")])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(
            single=BOS + " $A", pair=f"{BOS} $A {BOS}:1 $B:1",
            special_tokens=[(BOS, 0)])])
    return tokenizer


def put(name, value):
    with open(os.path.join(OUT, name), "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)


def main():
    os.makedirs(OUT, exist_ok=True)
    data = json.loads(train().to_str())
    data["normalizer"] = {"type": "Sequence", "normalizers": []}
    # Published files of this family have the older form of merges.
    data["model"]["merges"] = [" ".join(m) for m in data["model"]["merges"]]
    put("tokenizer.json", data)
    put("tokenizer_config.json", {
        "add_bos_token": True, "add_eos_token": False,
        "bos_token": {"__type": "AddedToken", "content": BOS, "lstrip": False,
                      "normalized": True, "rstrip": False,
                      "single_word": False},
        "eos_token": EOS, "legacy": True, "model_max_length": 16384,
        "tokenizer_class": "LlamaTokenizerFast"})
    tokenizer = Tokenizer.from_file(os.path.join(OUT, "tokenizer.json"))
    with open(KIMI_CASES, encoding="utf-8") as file:
        texts = [case["text"] for case in json.load(file)["plain"]][:140]
    lines = []
    for text in texts + TEXTS + CORPUS.splitlines():
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        lines.append(json.dumps({"text": text, "ids": ids},
                                ensure_ascii=False, separators=(",", ":")))
    with open(os.path.join(OUT, "cases.json"), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
