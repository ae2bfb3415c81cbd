"""Functions that call another function with the arguments in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.dtype import Scalar
from ogive.tensor.core import Core, to_tensor

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def rsub(input: Tensor, other: Any, *, alpha: Scalar = 1) -> Tensor:
    """`other - alpha * input`, elementwise. Shapes broadcast.

    >>> ogive.rsub(Tensor([1, 2]), 10, alpha=3).tolist()
    [7, 4]

    Raises `DtypeError` for bool.
    """
    if alpha == 1:
        return other - input  # type: ignore[no-any-return]
    minuend: Any = other if isinstance(other, Core) else to_tensor(other, input.device)
    return minuend.sub(input, alpha=alpha)  # type: ignore[no-any-return]


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Scalar = 0) -> Tensor:
    """`pad` with mode "constant". Shapes: (a, b) → (a, before + b + after) for two numbers.

    >>> ogive.constant_pad_nd(Tensor([1, 2]), (1, 0), 7).tolist()
    [7, 1, 2]
    """
    return input.pad(pad, value=value)
