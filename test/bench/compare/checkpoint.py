"""Reads the slice: tensors of model.safetensors, dequantised to F32 by numpy."""
import json
import math
import struct

import numpy

import common
import slice as slice_writer

BLOCK = slice_writer.BLOCK


def decode_table():
    """The value of each of the 256 e4m3 codes; NaN has none in a slice."""
    finite = numpy.append(slice_writer.e4m3_values(), numpy.nan)
    return numpy.concatenate([finite, -finite]).astype(numpy.float32)


class Checkpoint:
    """A slice's folder: `config` and the tensors by name."""

    def __init__(self, folder):
        config, weights = folder / "config.json", folder / "model.safetensors"
        try:
            self.config = json.loads(config.read_text())
            self.data = numpy.memmap(weights, numpy.uint8, "r")
        except (OSError, ValueError) as error:
            common.fail(f"no slice in {folder} ({error}); write it by test/bench/compare/slice.py")
        (length,) = struct.unpack("<Q", self.data[:8].tobytes())
        self.entries = json.loads(self.data[8:8 + length].tobytes())
        self.entries.pop("__metadata__", None)
        self.begin = 8 + length
        self.table = decode_table()

    def raw(self, name):
        if name not in self.entries:
            common.fail(f"the slice has no tensor {name}; write it anew by slice.py")
        entry = self.entries[name]
        begin, end = entry["data_offsets"]
        return self.data[self.begin + begin:self.begin + end], entry["dtype"], entry["shape"]

    def values(self, name):
        """The tensor as F32, its blocks' scales applied."""
        data, dtype, shape = self.raw(name)
        if dtype == "F32":
            return data.view(numpy.float32).reshape(shape)
        if dtype == "BF16":
            bits = data.view(numpy.uint16).astype(numpy.uint32) << 16
            return bits.view(numpy.float32).reshape(shape)
        values = self.table[data].reshape(shape)
        scales = self.values(f"{name}_scale_inv")
        for row in range(math.ceil(shape[0] / BLOCK)):
            columns = numpy.repeat(scales[row], BLOCK)[:shape[1]]
            values[row * BLOCK:(row + 1) * BLOCK] *= columns
        return values

    def names(self):
        return [name for name in self.entries if not name.endswith("_scale_inv")]
