"""Operations on batches of matrices that NumPy computes, as steps between kernels.

They are lazy like other operations, run on one core, and copy the matrices in and out. Gradients
are composed of tensor operations, so they can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentTypeError, DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, wrap
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.tensor import Tensor

    Array = NDArray[Any]

Outputs = TypeVar("Outputs")


def to_matrix(A: Any, name: str, square: bool = False) -> tuple[int, int]:
    """The rows and columns of a batch of matrices. Raises `ShapeError` and `DtypeError`."""
    if not isinstance(A, Core):
        raise ArgumentTypeError(f"{name} takes a tensor, got {A!r}")
    if A.ndim < 2 or (square and A.shape[-1] != A.shape[-2]):
        expected = "(..., n, n)" if square else "(..., m, n)"
        raise ShapeError(f"{name}: the shape is {build.show(A.shape)}; expected {expected}")
    if A.dtype.part not in (dtypes.float32, dtypes.float64):
        raise DtypeError(
            f"{name} takes float32 and float64, or complex numbers of them, not {A.dtype.name}; "
            "cast it first"
        )
    rows, columns = A.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise ShapeError(f"{name}: the shape {build.show(A.shape)} must not depend on variables")
    return rows, columns


def is_diagonal(A: Core) -> Tensor:
    """The mask of the diagonal of square matrices: (..., n, n) → (n, n) of bool."""
    with graph_lock:
        plane = A.node.shape[-2:]
        row, column = build.count_along(0, plane), build.count_along(1, plane)
        return wrap(make(Op.CMPEQ, dtypes.bool_, (row, column)), A.device)


def on_host(
    function: Callable[..., None],
    inputs: list[Tensor],
    shapes: list[Shape],
    name: str,
    real: int | None = None,
) -> Any:
    """The result of NumPy: one tensor, or several; the one numbered `real` is never complex."""
    dtype = inputs[0].dtype
    outputs = [
        (shape, dtype.part if number == real else dtype) for number, shape in enumerate(shapes)
    ]
    wanted = outputs if len(outputs) > 1 else outputs[0]
    return custom(function, inputs, wanted, name, batched=True)


def with_gradient(inputs: list[Tensor], outputs: Outputs, backward: Callable[..., Any]) -> Outputs:
    """The outputs with a backward function that maps their gradients to those of the inputs."""
    from ogive.autograd.custom import custom_gradient

    results: Outputs = custom_gradient(lambda *tensors: (outputs, backward))(*inputs)
    return results
