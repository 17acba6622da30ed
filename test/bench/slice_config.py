"""The standard case of the benchmarks: a slice of Kimi-K2 with its layer shapes."""
import json
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BASE = SOURCE / "test" / "models" / "configs" / "moonshotai__Kimi-K2-Instruct.json"


def slice_config():
    """One dense and one MoE layer, 24 experts, a vocabulary of 8192."""
    config = json.loads(BASE.read_text())
    config |= {"num_hidden_layers": 2, "n_routed_experts": 24, "vocab_size": 8192,
               "bos_token_id": 8190, "eos_token_id": 8191}
    # The slice has no modelling files beside it.
    del config["auto_map"]
    return config
