"""`load` and `save` find the format; files that are damaged anywhere never do harm."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy
import pytest
import torch

import ogive
from ogive import OgiveError, Tensor
from ogive.errors import ArgumentError, FileError


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


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_format_shows_in_the_content_whatever_the_name(suffix: str, tmp_path: Path) -> None:
    FORMATS[suffix](tmp_path / f"x{suffix}")
    other = tmp_path / "model.bin"
    (tmp_path / f"x{suffix}").rename(other)
    read_all(ogive.load(other))


@pytest.mark.parametrize("suffix", FORMATS)
def test_damaged_files_give_typed_errors_or_tensors(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    FORMATS[suffix](path)
    whole = path.read_bytes()
    dice = random.Random(1)
    damaged = [whole[:length] for length in range(0, len(whole), max(1, len(whole) // 100))]
    for position in [*range(64), *[dice.randrange(len(whole)) for _ in range(500)]]:
        if position < len(whole):
            changed = bytearray(whole)
            changed[position] = dice.choice([changed[position] ^ 1 << dice.randrange(8), 0, 255])
            damaged.append(bytes(changed))
    refused = 0
    for raw in damaged:
        path.write_bytes(raw)
        try:
            loaded = ogive.load(path)
        except OgiveError:
            refused += 1
            continue
        if dice.random() < 0.02:  # each new shape is compiled
            read_all(loaded)
    assert refused > 100


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_that_is_cut_off_anywhere_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    FORMATS[suffix](path)
    whole = path.read_bytes()
    end = len(whole) - 31 if suffix == ".gguf" else len(whole)  # which ends in padding
    for length in {*range(0, end, 7), end - 1}:
        path.write_bytes(whole[:length])
        with pytest.raises(FileError, match=r"is not .* that can be read"):
            ogive.load(path)


@pytest.mark.parametrize("raw", [b"", b"hello", b"\x00" * 100])
def test_an_unknown_file_is_refused_by_what_it_begins_with(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(raw)
    with pytest.raises(FileError, match=r"begins with b'.*known are .safetensors"):
        ogive.load(tmp_path / "x.bin")


def test_the_name_says_what_was_expected(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"something else")
    with pytest.raises(FileError, match="is not a GGUF file that can be read: it begins with"):
        ogive.load(tmp_path / "x.gguf")


@pytest.mark.parametrize("name", ["x.gguf", "x"])
def test_what_cannot_be_written_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"one of .safetensors, .npy, .npz"):
        ogive.save({"x": Tensor([1])}, tmp_path / name)


def test_import_ogive_does_not_load_the_formats() -> None:
    program = "import sys, ogive; print(any(name.startswith('ogive.io') for name in sys.modules))"
    done = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert done.strip() == "False"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.npy")
    with pytest.raises(FileError, match="it is not a regular file"):
        ogive.load(tmp_path / "x.npy")
