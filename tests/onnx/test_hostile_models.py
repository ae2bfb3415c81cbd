"""Damaged and hostile models: typed errors only."""

from __future__ import annotations

import random

import pytest

import ogive
from ogive.errors import FileError, OgiveError
from tests.onnx.models import make_layer


def field(number: int, content: bytes) -> bytes:
    """A field of bytes on the wire."""
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value: int) -> bytes:
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


@pytest.mark.parametrize("cut", [1, 7, 100, 3000])
def test_a_model_that_is_cut_off_is_refused(cut: int) -> None:
    whole = make_layer().SerializeToString()
    with pytest.raises(FileError):
        ogive.onnx.load(whole[:-cut])


def test_a_length_past_the_end_is_refused() -> None:
    with pytest.raises(FileError, match="ends at byte"):
        ogive.onnx.load(b"\x3a" + varint(1 << 62))


def test_an_endless_number_is_refused() -> None:
    with pytest.raises(FileError, match="more than ten bytes"):
        ogive.onnx.load(b"\x08" + b"\xff" * 19)


def test_an_empty_model_is_refused() -> None:
    with pytest.raises(FileError, match="no graph"):
        ogive.onnx.load(b"")


def test_graphs_that_are_nested_too_deep_are_refused() -> None:
    graph = field(2, b"innermost")
    for _ in range(40):  # a node with an attribute that is a graph
        graph = field(1, field(4, b"If") + field(5, field(6, graph)))
    with pytest.raises(FileError, match="nested more than"):
        ogive.onnx.load(field(7, graph) + field(8, b"\x10\x12"))


def test_a_tensor_whose_shape_is_a_lie_is_refused() -> None:
    tensor = b"\x08" + varint(1 << 50) + b"\x10\x01" + field(8, b"w") + field(9, bytes(8))
    with pytest.raises(FileError, match="takes"):
        ogive.onnx.load(field(7, field(5, tensor)) + field(8, b"\x10\x12"))


def test_a_model_that_describes_more_than_its_size_is_refused() -> None:
    sparse = field(1, b"\x08\x01\x10\x01" + field(9, bytes(4)))
    sparse += field(2, b"\x08\x01\x10\x07" + field(9, bytes(8))) + b"\x18" + varint(1 << 40)
    with pytest.raises(FileError, match="out of proportion"):
        ogive.onnx.load(field(7, field(15, sparse)) + field(8, b"\x10\x12"))


def test_mutated_models_give_typed_errors_only() -> None:
    whole = make_layer().SerializeToString()
    generator = random.Random(5)
    refused = 0
    for _ in range(300):
        mutated = bytearray(whole)
        for _ in range(generator.randint(1, 6)):
            place = generator.choice([1, -1]) * generator.randrange(1, 160)
            mutated[place] = generator.randrange(256)
        try:
            ogive.onnx.load(bytes(mutated))
        except OgiveError:
            refused += 1
    assert refused > 100
