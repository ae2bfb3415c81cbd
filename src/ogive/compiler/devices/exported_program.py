"""A program that runs without Python: kernels in order, and what each of their arguments is.

The host writes one as object code (`Host.write_program`), with one function that C can call:

    int32 name(argument 0, …, result 0, …, variable 0, …, memory)
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from ogive.compiler.ir.node import UOp
from ogive.named import NamedTuple


class Place(enum.Enum):
    """Where an argument of a kernel comes from."""

    ARGUMENT = "a pointer that the caller passes"
    RESULT = "a pointer that the caller passes, to memory that is written"
    CONSTANT = "an offset into the constants"
    MEMORY = "an offset into the scratch memory that the caller passes"
    NUMBER = "a number known when the program is written"
    VARIABLE = "a number that the caller passes"


class Word(NamedTuple):
    """One argument of a kernel: position, offset or number, or the name of a variable."""

    place: Place
    value: int | str


class ExportedLaunch(NamedTuple):
    """The call of a kernel, given as LLVM IR. `tiles` is a number or an expression of variables."""

    name: str
    ir: str
    words: tuple[Word, ...]
    tiles: int | UOp


class ExportedCopy(NamedTuple):
    """A copy of `nbytes` between two places."""

    to: Word
    source: Word
    nbytes: int


class ExportedProgram(NamedTuple):
    """All that is written: `name` is the function's, `variables` are bounds by name.

    `constants` is the path of a file of `constant_bytes` bytes, which becomes part of the object.
    """

    name: str
    arguments: int
    results: int
    variables: Mapping[str, tuple[int, int]]
    steps: tuple[ExportedLaunch | ExportedCopy, ...]
    constants: str
    constant_bytes: int


class ExportStatus(enum.IntEnum):
    """The numbers that the function returns."""

    DONE = 0
    FAULT = 1  # an index out of range, or an integer division by zero
    UNALIGNED = 2  # a result or the scratch memory is not aligned
    OUT_OF_BOUNDS = 3  # a variable is outside its bounds
