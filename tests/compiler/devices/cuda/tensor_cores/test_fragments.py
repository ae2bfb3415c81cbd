"""Fragments come from where the instructions want them, and tiles without conflicts of banks."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

from ogive.compiler.devices.cuda.tensor_cores.fragments import (
    LinePlace,
    SharedTile,
    lines_first,
    pieces_first,
    result_place,
)
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText
from tests.compiler.devices.cuda.tensor_cores.warp_model import (
    LANES,
    left_matrix,
    load_matrices,
    right_matrix,
)

TEXT = KernelText("index arithmetic", (), 32)


def _place(tile: SharedTile, line: int, byte: int) -> int:
    offset = tile.offset(TEXT, line, byte // 16)
    assert isinstance(offset, int)
    return offset + byte % 16


def _shared(matrix: numpy.ndarray) -> tuple[SharedTile, numpy.ndarray]:
    """A matrix of two-byte elements in swizzled lines."""
    tile = SharedTile(matrix.shape[0], matrix.shape[1] * 2)
    memory = numpy.full(tile.nbytes // 2, -1, matrix.dtype)
    for line, row in enumerate(matrix):
        for column, value in enumerate(row):
            memory[_place(tile, line, 2 * column) // 2] = value
    return tile, memory


def _load(
    matrix: numpy.ndarray, places: Callable[[KernelText, Index], LinePlace], line: int, piece: int,
    transposed: bool,
) -> numpy.ndarray:  # fmt: skip
    tile, memory = _shared(matrix)
    addresses = []
    for lane in range(LANES):
        place = places(TEXT, lane)
        assert isinstance(place.line, int)
        assert isinstance(place.piece, int)
        addresses.append(_place(tile, line + place.line, 16 * (piece + place.piece)))
    return load_matrices(memory, addresses, transposed)


@pytest.mark.parametrize("width", [32, 64, 128])
def test_left_fragments_of_rows_in_lines(width: int) -> None:
    matrix = numpy.arange(64 * width, dtype=numpy.int32).reshape(64, width)
    words = _load(matrix, lines_first, 16, 2, transposed=False)
    assert (left_matrix(words) == matrix[16:32, 16:32]).all()


@pytest.mark.parametrize("width", [32, 64, 128])
def test_left_fragments_of_columns_in_lines(width: int) -> None:
    matrix = numpy.arange(64 * width, dtype=numpy.int32).reshape(64, width)
    words = _load(matrix, pieces_first, 16, 2, transposed=True)
    assert (left_matrix(words) == matrix[16:32, 16:32].T).all()


@pytest.mark.parametrize("width", [32, 64, 128])
def test_right_fragments_of_columns_in_lines(width: int) -> None:
    matrix = numpy.arange(64 * width, dtype=numpy.int32).reshape(64, width)
    words = _load(matrix, pieces_first, 16, 2, transposed=False)
    assert (right_matrix(words[:, :2]) == matrix[16:24, 16:32].T).all()
    assert (right_matrix(words[:, 2:]) == matrix[24:32, 16:32].T).all()


@pytest.mark.parametrize("width", [32, 64, 128])
def test_right_fragments_of_rows_in_lines(width: int) -> None:
    matrix = numpy.arange(64 * width, dtype=numpy.int32).reshape(64, width)
    words = _load(matrix, lines_first, 16, 2, transposed=True)
    assert (right_matrix(words[:, :2]) == matrix[16:32, 16:24]).all()
    assert (right_matrix(words[:, 2:]) == matrix[16:32, 24:32]).all()


@pytest.mark.parametrize("line_bytes", [32, 64, 128, 256])
def test_a_swizzled_tile_has_every_piece_once(line_bytes: int) -> None:
    tile = SharedTile(24, line_bytes)
    places = {_place(tile, line, byte) for line in range(24) for byte in range(0, line_bytes, 16)}
    assert places == set(range(0, tile.nbytes, 16))


@pytest.mark.parametrize("line_bytes", [32, 64, 128, 256])
def test_the_same_piece_of_eight_lines_is_in_eight_sets_of_banks(line_bytes: int) -> None:
    tile = SharedTile(64, line_bytes)
    for first in range(0, 64, 8):
        for byte in range(0, line_bytes, 16):
            places = [_place(tile, line, byte) for line in range(first, first + 8)]
            assert len({place % 128 for place in places}) == 8


@pytest.mark.parametrize("line_bytes", [32, 64, 128, 256])
def test_lines_eight_apart_have_their_pieces_in_one_order(line_bytes: int) -> None:
    tile = SharedTile(64, line_bytes)
    for line in range(56):
        for byte in range(0, line_bytes, 16):
            assert _place(tile, line + 8, byte) == _place(tile, line, byte) + 8 * line_bytes


def test_pairs_of_a_warp_cover_its_result() -> None:
    covered = set()
    for lane in range(LANES):
        place = result_place(TEXT, lane)
        assert isinstance(place.row, int)
        assert isinstance(place.column, int)
        covered |= {(place.row + 8 * i, place.column + j) for i in (0, 1) for j in (0, 1)}
    assert covered == {(row, column) for row in range(16) for column in range(8)}
