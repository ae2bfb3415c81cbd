"""Greatest common divisors and least common multiples.

The steps of Euclid's algorithm depend on the numbers, so NumPy computes these between kernels. A
kernel unrolled for the worst case would make 90 divisions per element, most of them in vain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from ogive.tensor import build
from ogive.tensor.elementwise.binary_operations import integer_dtype
from ogive.tensor.elementwise.pairwise import meet
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@open_to_eager
def gcd(input: Any, other: Any) -> Tensor:
    """The greatest number that divides both elements; 0 for two zeros. Shapes: broadcast.

    >>> ogive.gcd(Tensor([12, -8, 0]), 18).tolist()
    [6, 2, 18]

    Raises `DtypeError` for other than integers.
    """
    return _on_host(_divide, input, other, "gcd")


@open_to_eager
def lcm(input: Any, other: Any) -> Tensor:
    """The least positive number that both elements divide; 0 if one is 0. Shapes: broadcast.

    >>> ogive.lcm(Tensor([4, -3]), 6).tolist()
    [12, 6]

    Raises `DtypeError` for other than integers.
    """
    return _on_host(_multiply, input, other, "lcm")


def _divide(a: NDArray[Any], b: NDArray[Any], result: NDArray[Any]) -> None:
    numpy.gcd(a, b, out=result)


def _multiply(a: NDArray[Any], b: NDArray[Any], result: NDArray[Any]) -> None:
    numpy.lcm(a, b, out=result)


def _on_host(function: Callable[..., None], input: Any, other: Any, name: str) -> Tensor:
    a, b, dtype = meet(input, other, name, integer_dtype)
    shape = build.broadcast_shapes(a.shape, b.shape, name)
    result: Tensor = custom(
        function, [a.expand(shape), b.expand(shape)], (shape, dtype), name, batched=True
    )
    return result
