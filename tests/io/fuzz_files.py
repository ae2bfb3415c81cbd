"""Loads files that are damaged at random, or made up, under a limit of memory.

    python -m tests.io.fuzz_files ROUNDS SEED FOLDER

prints a line of JSON for each format: how many were `loaded` and `refused`, what was raised that is
`untyped`, how many bytes of memory were taken at most (`peak`), how many files were left open.
"""

from __future__ import annotations

import io
import json
import os
import random
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import gguf
import numpy
import torch

import ogive
from ogive import OgiveError, Tensor
from tests.io import measure_files, pickles


def make_safetensors(path: Path) -> None:
    tensors = {"a": Tensor([1.0, 2.0]), "b": ogive.arange(6).reshape(2, 3), "c": Tensor([True])}
    ogive.save(tensors, path)


def make_torch(path: Path) -> None:
    base = torch.arange(6.0)
    torch.save({"a": base[1:4], "b": [base.reshape(2, 3).t(), 1], "c": {"d": torch.ones(2)}}, path)


def make_gguf(path: Path) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("tokens", ["a", "bc"])
    writer.add_array("scores", [1, 2, 3])
    writer.add_tensor("a", numpy.arange(4, dtype=numpy.float32))
    kind = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor("b", numpy.arange(34, dtype=numpy.uint8).reshape(1, 34), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_packed(path: Path) -> None:
    numpy.savez_compressed(path, a=numpy.arange(6).reshape(2, 3), b=numpy.ones(2, ">f4"))


FORMATS = {
    ".safetensors": make_safetensors,
    ".pt": make_torch,
    ".gguf": make_gguf,
    ".npy": lambda path: numpy.save(path, numpy.arange(6, dtype=">i2").reshape(2, 3)),
    ".npz": lambda path: numpy.savez(path, a=numpy.arange(3), b=numpy.ones((2, 2), order="F")),
    "-packed.npz": make_packed,
}


def read_all(value: Any) -> None:
    """Compute every tensor that a file gave."""
    if isinstance(value, Tensor):
        value.numpy()
    elif isinstance(value, dict):
        read_all(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            read_all(each)


# Damage


EXTREMES = (0, 1, 2, 0x7F, 0xFF, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 63) - 1, 1 << 63)


def cut(raw: bytes, dice: random.Random) -> bytes:
    return raw[: dice.randrange(len(raw))]


def flip_bit(raw: bytes, dice: random.Random) -> bytes:
    changed = bytearray(raw)
    changed[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def set_word(raw: bytes, dice: random.Random) -> bytes:
    """A number of 1 to 8 bytes, which may be a length, made extreme or changed by a little."""
    size = min(dice.choice([1, 2, 4, 8]), len(raw))
    at = dice.randrange(len(raw) - size + 1)
    before = int.from_bytes(raw[at : at + size], "little")
    number = dice.choice([*EXTREMES, before + 1, before - 1, 2 * before, -before])
    return raw[:at] + (number % (1 << 8 * size)).to_bytes(size, "little") + raw[at + size :]


def swap_words(raw: bytes, dice: random.Random) -> bytes:
    size = min(dice.choice([1, 2, 4, 8]), len(raw) // 2)
    one, other = sorted(dice.randrange(len(raw) - size + 1) for _ in range(2))
    if other - one < size:
        return flip_bit(raw, dice)
    words = raw[one : one + size], raw[other : other + size]
    return raw[:one] + words[1] + raw[one + size : other] + words[0] + raw[other + size :]


def move_part(raw: bytes, dice: random.Random) -> bytes:
    """A part taken out, doubled, or put elsewhere."""
    begin, end, place = sorted(dice.randrange(len(raw) + 1) for _ in range(3))
    part = raw[begin:end]
    return dice.choice([raw[:begin] + raw[end:], raw[:place] + part + raw[place:]])


DAMAGES = (cut, flip_bit, flip_bit, set_word, set_word, swap_words, move_part)


def damage(raw: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.choice([1, 1, 1, 2, 5])):
        if raw:
            raw = dice.choice(DAMAGES)(raw, dice)
    return raw


def damage_member(raw: bytes, dice: random.Random) -> bytes:
    """An archive that is right in itself, with a member that is not."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(made, "w") as new:
        chosen = dice.choice(old.namelist())
        for info in old.infolist():
            content = old.read(info)
            if info.filename == chosen:
                content = damage(content, dice)
            new.writestr(info.filename, content, info.compress_type)
    return made.getvalue()


def random_header(dice: random.Random) -> bytes:
    """A safetensors file whose header is JSON, of parts that it may have and others."""
    words = [
        '{', '}', '[', ']', ',', ':', '"a"', '"b"', '"dtype"', '"F32"', '"shape"', '[2]', '[0]',
        '"data_offsets"', '[0,8]', '[8,8]', '"__metadata__"', '1e400', '-1', '9' * 5000, 'null',
        '[' + '9' * 4300 + ',' + '9' * 4300 + ']',
        '"\\ud800"', 'NaN', '{"dtype":"F32","shape":[2],"data_offsets":[0,8]}',
        '{"dtype":"BOOL","shape":[' + "1," * 70 + '8],"data_offsets":[0,8]}',
    ]  # fmt: skip
    header = "{" + "".join(dice.choices(words, k=dice.choice([2, 5, 20])))
    known = f'{{"a":{dice.choice(words[-2:])},{dice.choice(words[6:8])}:{dice.choice(words)}}}'
    raw = dice.choice([header, known]).encode()
    return struct.pack("<Q", len(raw)) + raw + bytes(dice.choice([0, 8, 16]))


def make_file(suffix: str, whole: bytes, dice: random.Random) -> bytes:
    """The next file of a format."""
    if suffix == ".pt" and dice.random() < 0.4:
        return pickles.checkpoint(pickles.random_program(dice), packed=dice.random() < 0.2)
    if suffix == ".safetensors" and dice.random() < 0.3:
        return random_header(dice)
    if zipfile.is_zipfile(io.BytesIO(whole)) and dice.random() < 0.5:
        return damage_member(whole, dice)
    return damage(whole, dice)


def fuzz(suffix: str, rounds: int, seed: int, folder: Path) -> dict[str, object]:
    """Load so many files of a format."""
    path = folder / f"x{suffix}"
    FORMATS[suffix](path)
    whole = path.read_bytes()
    read_all(ogive.load(path))
    dice = random.Random(seed)
    counts = {"loaded": 0, "refused": 0}
    untyped: list[str] = []
    files, before = len(os.listdir("/proc/self/fd")), measure_files.peak_bytes()
    for number in range(rounds):
        raw = make_file(suffix, whole, dice)
        path.write_bytes(raw)
        try:
            loaded = ogive.load(path)
            counts["loaded"] += 1
            if dice.random() < 0.02:  # each new shape is compiled
                read_all(loaded)
        except OgiveError:
            counts["refused"] += 1
        except BaseException as error:
            kept = folder / f"untyped-{number}{suffix}"
            kept.write_bytes(raw)
            untyped.append(f"{kept}: {type(error).__name__}: {error}")
    peak = measure_files.peak_bytes() - before
    left = len(os.listdir("/proc/self/fd")) - files
    return {**counts, "format": suffix, "untyped": untyped, "peak": peak, "open files": left}


def main() -> None:
    """Load files of each format."""
    rounds, seed, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    measure_files.limit_memory(2 << 30)
    for suffix in FORMATS:
        print(json.dumps(fuzz(suffix, rounds, seed, folder)), flush=True)


if __name__ == "__main__":
    main()
