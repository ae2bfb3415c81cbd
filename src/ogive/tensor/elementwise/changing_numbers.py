"""Numbers that a line of the program changes from run to run become data.

    for step in range(100):
        x -= rate * x.grad            rate = 0.1, 0.099, 0.098, …
        losses.append(x.sum().item())

A number is a constant of the graph, so each new number would make a new graph to compile. Once a
line comes with another number than before, and something was computed in between, its numbers are
kept in memory that kernels read, and the graph stays the same.

A line that makes several numbers between two runs, in a loop of one graph, keeps constants:
memory for each would cost more than it saves.
"""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType

import numpy

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.history import traced
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.compiler.live.registry import make
from ogive.config import current_config
from ogive.errors import PACKAGE_FOLDER
from ogive.tensor import build
from ogive.tensor.core import DEFAULT_DEVICE
from ogive.tensor.memory.memory_nodes import memory_node

PASSED_THROUGH = frozenset(
    PACKAGE_FOLDER + path
    for path in (
        "tensor/elementwise/arithmetic.py", "tensor/elementwise/binary_operations.py",
        "tensor/memory/in_place_operations.py", "tensor/method_functions.py",
        "compat/methods/keywords.py", "torch/tensors/functions.py",
    )
)  # fmt: skip
"""The files whose frames lie between the program's operator and the node. A number that comes from
any other file of the library is its own, and a constant."""

_MOST_LINES = 4096

_CONSTANT, _DATA, _SEVERAL = range(3)


class _Line:
    """The last number of a line, the run that it came before, and whether its numbers are data."""

    __slots__ = ("kind", "number", "run")

    def __init__(self, number: Scalar, run: int) -> None:
        self.kind, self.number, self.run = _CONSTANT, number, run

    def is_data(self, number: Scalar) -> bool:
        """Whether the current number of the line is data."""
        run, now = self.run, kept_graphs.turns
        self.run = now
        if number != self.number:
            self.number = number
            if run == now:
                self.kind = _SEVERAL
            elif self.kind == _CONSTANT:
                self.kind = _DATA
        return self.kind == _DATA


_lines: dict[tuple[CodeType, int], _Line] = {}


def number_node(dtype: DType, number: Scalar, shape: Shape, device: str) -> UOp:
    """The node of a number of the program, for a tensor of that dtype, shape and device."""
    memory = _changing_number(dtype, number) if device is DEFAULT_DEVICE else None
    if memory is None:
        return make(Op.CONST, dtype, (), number)
    return build.expand_to(memory, shape)


def _changing_number(dtype: DType, number: Scalar) -> UOp | None:
    """Memory that holds a number of the program, if its line changes it; else None."""
    if dtype not in (dtypes.float32, dtypes.float64):
        return None
    if traced and threading.get_ident() in traced:
        return None
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in PASSED_THROUGH:
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        return None
    place = frame.f_code, frame.f_lasti
    line = _lines.get(place)
    if line is None:
        if len(_lines) >= _MOST_LINES:
            _lines.clear()
        _lines[place] = _Line(number, kept_graphs.turns)
        return None
    if not line.is_data(number) or not current_config().generalize:
        return None
    buffer = Buffer(dtype.itemsize)
    buffer.fill(numpy.array(number, dtype.numpy))
    return memory_node(buffer, (), dtype, place)
