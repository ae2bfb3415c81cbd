"""How values of several ranks become one, by MPI and by NumPy: both give the same.

A maximum of floats is NaN where any of them is. MPI's own is whichever operand a comparison leaves,
so that ranks may have different ones; it is given an operation of ours for that.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType

Array = NDArray[Any]

OPERATIONS = ("sum", "mean", "max", "min", "prod")
"""What values of ranks are combined by; a mean is a sum until it is divided."""

_NAMES = {"sum": "SUM", "mean": "SUM", "max": "MAX", "min": "MIN", "prod": "PROD"}
_OF_TRUTHS = {"sum": "LOR", "max": "LOR", "min": "LAND", "prod": "LAND"}
_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "SUM": numpy.add, "MAX": numpy.maximum, "MIN": numpy.minimum, "PROD": numpy.multiply,
    "LOR": numpy.logical_or, "LAND": numpy.logical_and,
}  # fmt: skip


def mpi_operation(
    mpi: Any, operations: MutableMapping[tuple[str, DType], Any], dtype: DType, op: str
) -> Any:
    """The operation of MPI; `operations` keeps those that are ours."""
    name = _name(dtype, op)
    if op not in ("max", "min") or not dtype.is_float:
        return getattr(mpi, name)
    if (name, dtype) not in operations:
        # In the order of ranks: of two zeros, which may differ in their signs, all have the same.
        function = _over_memory(_FUNCTIONS[name], dtype)
        operations[name, dtype] = mpi.Op.Create(function, commute=False)
    return operations[name, dtype]


def _over_memory(function: Callable[..., Array], dtype: DType) -> Callable[[Any, Any, Any], None]:
    def combine(given: Any, onto: Any, datatype: Any) -> None:
        one, other = [numpy.frombuffer(memory, dtype.numpy) for memory in (given, onto)]
        function(one, other, out=other)

    return combine


def combine_rows(every: Array, dtype: DType, op: str, total: Array) -> None:
    """Write what arrays of two ranks or more, along a first axis, give in the order of ranks."""
    function = _FUNCTIONS[_name(dtype, op)]
    with numpy.errstate(all="ignore"):
        function(every[0], every[1], out=total)
        for row in every[2:]:
            function(total, row, out=total)


def _name(dtype: DType, op: str) -> str:
    return (_OF_TRUTHS if dtype is dtypes.bool_ else _NAMES)[op]
