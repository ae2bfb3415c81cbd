"""What a warp does, in NumPy: loads of matrices, and products of fragments, as PTX defines them."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray

LANES = 32


def load_matrices(memory: NDArray[Any], addresses: list[int], transposed: bool) -> NDArray[Any]:
    """`ldmatrix.x4`: what each lane gets, four words of two elements of two bytes.

    `memory` is shared memory in elements of two bytes; lanes 8 i to 8 i + 7 give the addresses of
    the rows of matrix i.
    """
    words = numpy.empty((LANES, 4, 2), memory.dtype)
    for matrix in range(4):
        rows = [addresses[8 * matrix + row] // 2 for row in range(8)]
        values = numpy.stack([memory[row : row + 8] for row in rows])
        values = values.T if transposed else values
        for lane in range(LANES):
            pair = values[lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2]
            words[lane, matrix] = pair
    return words


def left_matrix(words: NDArray[Any]) -> NDArray[Any]:
    """The 16 × 16 elements that the left fragments of a warp are."""
    matrix = numpy.empty((16, 16), words.dtype)
    for lane in range(LANES):
        row, column = lane // 4, 2 * (lane % 4)
        for word, (down, right) in enumerate(((0, 0), (8, 0), (0, 8), (8, 8))):
            matrix[row + down, column + right : column + right + 2] = words[lane, word]
    return matrix


def right_matrix(words: NDArray[Any]) -> NDArray[Any]:
    """The 16 × 8 elements that the right fragments of a warp are, two words of each lane."""
    matrix = numpy.empty((16, 8), words.dtype)
    for lane in range(LANES):
        column, row = lane // 4, 2 * (lane % 4)
        for word, down in enumerate((0, 8)):
            matrix[row + down : row + down + 2, column] = words[lane, word]
    return matrix
