"""safetensors, with the `safetensors` package as the other side."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy
import pytest
import safetensors
import safetensors.torch
import torch

import ogive
from ogive import Tensor, nn
from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ArgumentTypeError, FileError, words_of
from tests.raising import raises

TORCH = {
    dtype: getattr(torch, "float8_e4m3fn" if dtype is dtypes.float8_e4m3 else dtype.name)
    for dtype in dtypes.ALL
    if dtype is not dtypes.complex128
}


def bits(array: Any) -> bytes:
    return bytes(numpy.ascontiguousarray(array).tobytes())


def file(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def entry(**changes: Any) -> dict[str, Any]:
    return {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]} | changes


@pytest.mark.parametrize("dtype", TORCH, ids=str)
def test_every_dtype_goes_out_and_comes_in(dtype: ogive.DType, tmp_path: Path) -> None:
    values = numpy.random.default_rng().integers(0, 2 if dtype.is_bool else 100, (3, 5))
    array = values.astype(dtype.numpy)
    path = tmp_path / "x.safetensors"
    ogive.io.save_safetensors(path, {"x": Tensor(array)})
    theirs = safetensors.torch.load_file(path)["x"]
    assert theirs.dtype is TORCH[dtype]
    assert bits(theirs.view(torch.uint8).numpy()) == bits(array)
    safetensors.torch.save_file({"y": theirs}, path)
    ours = ogive.io.load_safetensors(path)["y"]
    assert ours.dtype is dtype and ours.device == "DISK" and ours.shape == (3, 5)
    assert bits(ours.numpy()) == bits(array)


def test_names_order_empty_tensors_scalars_and_metadata_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tensors = {"ä.b": Tensor(2.5), "": ogive.zeros(0, 3), "c": Tensor([True, False, True])}
    ogive.io.save_safetensors(path, tensors, {"format": "pt", "ü": "日本"})
    loaded = ogive.io.load_safetensors(path)
    assert loaded.metadata == {"format": "pt", "ü": "日本"}
    assert {name: t.tolist() for name, t in loaded.items()} == {
        "ä.b": 2.5, "": [], "c": [True, False, True],
    }  # fmt: skip
    assert loaded[""].shape == (0, 3)
    with safetensors.safe_open(path, "pt") as theirs:
        assert theirs.metadata() == loaded.metadata


def test_views_lazy_values_and_files_are_written_as_they_are(tmp_path: Path) -> None:
    x = ogive.arange(12).reshape(3, 4)
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    ogive.io.save_safetensors(first, {"t": x.T, "sum": x.sum(0), "shared": x})
    loaded = ogive.io.load_safetensors(first)
    ogive.io.save_safetensors(second, {"rows": loaded["t"][1:3]})
    expected = numpy.arange(12).reshape(3, 4).T[1:3].tolist()
    assert safetensors.torch.load_file(second)["rows"].tolist() == expected


def test_each_tensor_lies_at_a_multiple_of_its_item_size(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tensors = {"a": Tensor([True]), "b": Tensor([1.0], dtype="float64"), "c": Tensor([1, 2])}
    ogive.io.save_safetensors(path, tensors)
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    assert length % 8 == 0
    for name, about in json.loads(raw[8 : 8 + length]).items():
        assert about["data_offsets"][0] % tensors[name].dtype.itemsize == 0


def test_only_the_rows_that_are_used_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    ogive.io.save_safetensors(path, {"x": ogive.arange(1000).reshape(100, 10)})
    rows = ogive.io.load_safetensors(path)["x"][:2]
    with path.open("r+b") as opened:  # the rest is gone
        opened.truncate(path.stat().st_size - 98 * 80)
    assert rows.tolist() == numpy.arange(20).reshape(2, 10).tolist()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    ogive.io.save_safetensors(path, {"x": Tensor([1])})
    before = path.read_bytes()
    cut = tmp_path / "cut.npy"
    numpy.save(cut, numpy.arange(1000))
    gone = ogive.io.load_npy(cut)
    os.truncate(cut, 100)
    with raises(FileError, match="has 100 bytes"):
        ogive.io.save_safetensors(path, {"x": Tensor([2]), "gone": gone})
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["cut.npy", "x.safetensors"]


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    path, usual = tmp_path / "x.safetensors", tmp_path / "usual"
    usual.touch()
    ogive.io.save_safetensors(path, {"x": Tensor([1])})
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with raises(FileError, match=r"nowhere.*cannot be written"):
        ogive.io.save_safetensors(tmp_path / "nowhere" / "x.safetensors", {})
    with raises(FileError, match="there is no such file", quoting="the user's own line"):
        ogive.io.load_safetensors(tmp_path / "x.safetensors")  # the user's own line
    with raises(FileError, match="it is a folder"):
        ogive.io.load_safetensors(tmp_path)


@pytest.mark.parametrize(
    ("tensors", "metadata", "error", "words"),
    [
        ([Tensor([1])], None, ArgumentTypeError, "takes a dictionary"),
        ({1: Tensor([1])}, None, ArgumentTypeError, "the name of a tensor is text, not 1"),
        ({"a": {"b": Tensor([1])}}, None, ArgumentTypeError, "no nesting"),
        ({"__metadata__": Tensor([1])}, None, ArgumentError, "is reserved"),
        ({"\ud800": Tensor([1])}, None, ArgumentError, "not valid Unicode"),
        ({}, {"a": 1}, ArgumentTypeError, "metadata is texts by name"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tensors: Any, metadata: Any, error: type[Exception], words: str, tmp_path: Path
) -> None:
    with raises(error, match=words):
        ogive.io.save_safetensors(tmp_path / "x.safetensors", tensors, metadata)
    assert not os.listdir(tmp_path)


HUGE = 1 << 62


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"[]", "begins with b'\\['"),
        (b"{", "not valid JSON"),
        (b'{"x": NaN}', "NaN is not JSON"),
        (b"{" + b'"a":[' * 100_000, "not valid JSON"),
        (b'{"\xff": 1}', "not valid JSON"),
        (b'{"\\ud800": 1}', "not valid JSON"),
        (b'{"x": {}, "x": {}}', "'x' is there twice"),
        (b'{"x": {"dtype": "U8", "dtype": "I8"}}', "'dtype' is there twice"),
        ({"x": 1}, "expected dtype, shape and data_offsets"),
        ({"x": {"dtype": "U8", "shape": [4]}}, "expected dtype, shape and data_offsets"),
        ({"x": entry(more=1)}, "expected dtype, shape and data_offsets"),
        ({"x": entry(dtype="F4")}, "has the dtype F4; known are BOOL"),
        ({"x": entry(dtype=["U8"])}, "has the dtype"),
        ({"x": entry(shape=4)}, "has the shape 4"),
        ({"x": entry(shape=[-4])}, "a length is 0 to"),
        ({"x": entry(shape=[4.0])}, "a length is 0 to"),
        ({"x": entry(shape=[True, 4])}, "a length is 0 to"),
        ({"x": entry(shape=[1] * 65)}, "up to 64 lengths"),
        ({"x": entry(shape=[HUGE, HUGE])}, "more than"),
        ({"x": entry(shape=[HUGE])}, "would end at"),
        ({"x": entry(shape=[3])}, "which is 3 bytes, and its data_offsets .* span 4"),
        ({"x": entry(data_offsets=[0])}, "expected \\[begin, end\\]"),
        ({"x": entry(data_offsets=[4, 0])}, "expected \\[begin, end\\]"),
        ({"x": entry(data_offsets=[-4, 0])}, "expected \\[begin, end\\]"),
        ({"x": entry(data_offsets=[10**4299, 10**4299])}, "expected \\[begin, end\\]"),
        ({"x": entry(data_offsets=[1, 5])}, "would end at"),
        ({"x": entry(), "y": entry()}, "overlaps another"),
        ({"x": entry(shape=[2], data_offsets=[0, 2])}, "2 bytes follow the last tensor"),
        ({"x": entry(shape=[2], data_offsets=[2, 4])}, "leaves 2 bytes"),
        ({"__metadata__": {"a": 1}, "x": entry()}, "not a dictionary of texts"),
        ({"__metadata__": [], "x": entry()}, "not a dictionary of texts"),
    ],
)
def test_a_malformed_header_is_refused(header: Any, words: str, tmp_path: Path) -> None:
    path = file(tmp_path / "x.safetensors", header, b"1234")
    with raises(FileError, match=words) as caught:
        ogive.io.load_safetensors(path)
    assert str(path) in words_of(caught.value) and "a safetensors file" in words_of(caught.value)


@pytest.mark.parametrize("length", [HUGE, 1 << 63, (1 << 64) - 1, 100_000_001, 10_000])
def test_a_header_is_never_longer_than_the_file(length: int, tmp_path: Path) -> None:
    path = file(tmp_path / "x.safetensors", {}, length=length)
    with raises(FileError, match=f"said to have {length} bytes"):
        ogive.io.load_safetensors(path)


def test_a_file_too_short_for_a_length_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"1234567")
    with raises(FileError, match="the file ends at 7"):
        ogive.io.load_safetensors(path)


def test_a_path_must_be_a_path() -> None:
    with raises(ArgumentTypeError, match="takes a path, not int"):
        ogive.io.load_safetensors(3)  # type: ignore[arg-type]
    with raises(FileError, match="cannot be read"):
        ogive.io.load_safetensors("a\0b")


def test_a_dtype_without_a_name_is_refused(tmp_path: Path) -> None:
    with raises(TypeError, match="'x' is of complex128, which the format has no name for"):
        ogive.io.save_safetensors(tmp_path / "x.safetensors", {"x": Tensor([1j], "complex128")})


def test_of_a_module_its_state_is_saved(tmp_path: Path) -> None:
    with raises(ArgumentTypeError, match=r"not Linear; give its state_dict\(\)"):
        ogive.save(nn.Linear(2, 2), tmp_path / "model.safetensors")
