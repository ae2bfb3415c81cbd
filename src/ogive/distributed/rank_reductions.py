"""Reductions over ranks, by MPI and by NumPy. Both give the same bits.

A maximum of floats is NaN if any of them is. MPI's own depends on the order of operands where one
is NaN, so that ranks may get different results. So MPI is given operations that are defined here.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType

Array = NDArray[Any]

OPERATIONS = ("sum", "mean", "max", "min", "prod")
"""The names of the reductions. A mean is reduced as a sum, and divided afterwards."""

_NAMES = {"sum": "SUM", "mean": "SUM", "max": "MAX", "min": "MIN", "prod": "PROD"}
_OF_TRUTHS = {"sum": "LOR", "max": "LOR", "min": "LAND", "prod": "LAND"}
_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "SUM": numpy.add, "MAX": numpy.maximum, "MIN": numpy.minimum, "PROD": numpy.multiply,
    "LOR": numpy.logical_or, "LAND": numpy.logical_and,
}  # fmt: skip


def mpi_operation(
    mpi: Any, operations: MutableMapping[tuple[str, DType], Any], dtype: DType, op: str
) -> Any:
    """Return the operation of MPI. `operations` caches those defined here."""
    name = _name(dtype, op)
    if op not in ("max", "min") or not dtype.is_float:
        return getattr(mpi, name)
    if (name, dtype) not in operations:
        # In the order of ranks, so that all get the same one of two zeros that differ in sign.
        function = _over_memory(_FUNCTIONS[name], dtype)
        operations[name, dtype] = mpi.Op.Create(function, commute=False)
    return operations[name, dtype]


def _over_memory(function: Callable[..., Array], dtype: DType) -> Callable[[Any, Any, Any], None]:
    def combine(given: Any, onto: Any, datatype: Any) -> None:
        one, other = [numpy.frombuffer(memory, dtype.numpy) for memory in (given, onto)]
        function(one, other, out=other)

    return combine


def combine_rows(every: Array, dtype: DType, op: str, total: Array) -> None:
    """Reduce the arrays of two ranks or more, along a first axis, into `total`."""
    function = _FUNCTIONS[_name(dtype, op)]
    with numpy.errstate(all="ignore"):
        function(every[0], every[1], out=total)
        for row in every[2:]:
            function(total, row, out=total)


def _name(dtype: DType, op: str) -> str:
    return (_OF_TRUTHS if dtype is dtypes.bool_ else _NAMES)[op]
