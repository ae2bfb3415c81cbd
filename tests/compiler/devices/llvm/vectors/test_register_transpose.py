"""Tiles turned in registers, for all element sizes and shapes of tiles."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import link
from ogive.compiler.devices.llvm.kernel_writer import Writer, vector_attributes
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.llvm.llvm_types import register_type
from ogive.compiler.devices.llvm.vectors.register_transpose import transpose
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.targets.target import Target, describe_cpu

SHAPES = [(2, 4), (4, 2), (4, 4), (4, 16), (8, 8), (8, 16), (16, 4), (16, 8), (16, 16)]


def function_text(target: Target, dtype: DType, rows: int, length: int) -> str:
    """A function `turn(rows, columns)` of packed matrices."""
    writer = Writer()
    kind, turned = register_type(dtype, length), register_type(dtype, rows)
    vectors = []
    for row in range(rows):
        place = writer.instruction(f"getelementptr {kind}, ptr %rows, i64 {row}")
        vectors.append(writer.instruction(f"load {kind}, ptr {place}, align 1"))
    for number, column in enumerate(transpose(writer, vectors, dtype, length)):
        place = writer.instruction(f"getelementptr {turned}, ptr %columns, i64 {number}")
        writer.effect(f"store {turned} {column}, ptr {place}, align 1")
    return "\n".join(
        [
            "define void @turn(ptr %rows, ptr %columns) #0 {",
            *writer.lines,
            "ret void",
            "}",
            *writer.declarations,
            vector_attributes(target),
        ]
    )


@pytest.mark.parametrize("dtype", [dtypes.uint8, dtypes.int16, dtypes.float32, dtypes.float64])
def test_the_columns_of_a_tile_are_its_rows_transposed(dtype: DType) -> None:
    for rows, length in SHAPES:
        text = function_text(host_target(), dtype, rows, length)
        kernel = link(assemble(text, host_target()), "turn")
        tile = np.arange(rows * length).astype(dtype.numpy).reshape(rows, length)
        columns = np.zeros((length, rows), dtype.numpy)
        turn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)
        turn(tile.ctypes.data, columns.ctypes.data)
        np.testing.assert_array_equal(columns, tile.T)


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"])
def test_machines_with_short_vectors_turn_tiles_too(triple: str) -> None:
    target = describe_cpu(triple)
    for dtype in (dtypes.uint8, dtypes.float32, dtypes.float64):
        assert assemble(function_text(target, dtype, 8, 16), target)
