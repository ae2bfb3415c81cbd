"""Functions with PyTorch's meaning: methods as functions, and functions that differ from ours."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ogive
from ogive.eager.equal_dtypes import checked
from ogive.errors import ArgumentTypeError
from ogive.tensor.creation.constructors import full
from ogive.tensor.memory.data_attribute import replace_value
from ogive.tensor.method_functions import as_function, created
from ogive.tensor.movement.stacking import meshgrid as _meshgrid
from ogive.tensor.reduction.distances import pdist as _pdist
from ogive.tensor.tensor import Tensor
from ogive.torch.names import METHODS, NUMBER_FIRST, ONE_DTYPE, OUT, OUT_OF_SAME
from ogive.torch.tensors.parameter_names import PARAMETERS, by_names

__all__ = [
    "_shape_as_tensor", "chain_matmul", "ctc_loss", "embedding", "is_inference_mode_enabled",
    "is_nonzero", "max", "meshgrid", "min", "pdist", "vander",
]  # fmt: skip

FIRST = {"split": "tensor", "bilinear": "input1"}
"""PyTorch's names of the first argument where that is not `input`."""


def find(name: str) -> Any:
    """The function or object that the tables list as `name`, with PyTorch's parameter names."""
    function = _find(name)
    return by_names(function, PARAMETERS[name]) if name in PARAMETERS else function


def _find(name: str) -> Any:
    if name in METHODS:
        method = as_function(getattr(Tensor, name), FIRST.get(name, "input"))
        return taking_out(method) if name in OUT else method
    if name in NUMBER_FIRST:
        return taking_out(as_function(getattr(Tensor, name), from_number=_as_operand))
    function = checked(getattr(ogive, name)) if name in ONE_DTYPE else getattr(ogive, name)
    return taking_out(function) if name in OUT_OF_SAME else function


def taking_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function take `out=`: tensors to which its result, or its results, are assigned."""

    @functools.wraps(function)
    def taking(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        results = function(*args, **kwargs)
        if out is None:
            return results
        if isinstance(out, Tensor):
            return _fill(out, results)
        for target, value in zip(out, results, strict=True):
            _fill(target, value)
        return out

    return taking


def _fill(out: Tensor, result: Tensor) -> Tensor:
    """Assign a result to the tensor `out`. An empty tensor takes the result's shape."""
    if out.shape == result.shape:
        return out.copy_(result)
    if out.numel():
        raise ArgumentTypeError(
            f"out= has the shape {out.shape} and is not empty, so it cannot be resized to "
            f"{result.shape}; give a tensor of that shape, or an empty one"
        )
    replace_value(out, result.to(out.dtype))
    return out


def _as_operand(number: Any, other: Any = None) -> Tensor:
    """A number as a tensor, in the dtype to which it is promoted with another operand."""
    dtype = ogive.result_type(number, other) if isinstance(other, Tensor) else None
    if dtype is not None and dtype.is_integer:
        limits = ogive.iinfo(dtype)
        if not limits.min <= number <= limits.max:
            dtype = None  # out of range, which a quotient allows: it is computed in floats
    return created(full, (), number, dtype=dtype)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid. Shapes: (a,), (b,) → (a, b) each, for "xy" (b, a).

    >>> rows, columns = ogive.torch.meshgrid(Tensor([1, 2]), Tensor([3, 4, 5]))
    >>> rows.shape
    torch.Size([2, 3])
    """
    return _meshgrid(*tensors, indexing=indexing)


def _extreme(name: str, of_two: str) -> Callable[..., Any]:
    one = as_function(getattr(Tensor, name))
    two = as_function(getattr(Tensor, of_two))

    def extreme(*args: Any, **kwargs: Any) -> Any:
        if "other" in kwargs or (len(args) == 2 and isinstance(args[1], Tensor)):
            return two(*args, **kwargs)
        return one(*args, **kwargs)

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = f"`{name}(x)`, `{name}(x, dim)`: values, indices; `{name}(x, other)`."
    return taking_out(extreme)


max = _extreme("max", "maximum")
min = _extreme("min", "minimum")


def is_nonzero(input: Tensor) -> bool:
    """Whether a tensor of one element is not zero."""
    return bool(input)


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is on. Gradients are off then, as under `no_grad`."""
    return not ogive.is_grad_enabled()


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of matrices, computed in the cheapest order."""
    return ogive.multi_dot(matrices)


def ctc_loss(*args: Any, **kwargs: Any) -> Tensor:
    """`nn.functional.ctc_loss`, whose reduction may also be a number."""
    from ogive.nn.functional import ctc_loss as loss

    if len(args) > 5 and isinstance(args[5], int):
        args = (*args[:5], ("none", "mean", "sum")[args[5]], *args[6:])
    return loss(*args, **kwargs)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each entry, in decreasing order by default. Shapes: (n,) → (n, N)."""
    powers: Tensor = ogive.linalg.vander(x, N=N)
    return powers if increasing else powers.flip(-1)




def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a table: `nn.functional.embedding` with `weight` as the first argument."""
    from ogive.nn import functional as F

    absent = None if padding_idx < 0 else padding_idx
    return F.embedding(indices, weight, absent, scale_grad_by_freq=scale_grad_by_freq)


def _shape_as_tensor(input: Tensor) -> Tensor:
    """The shape as a tensor of integers."""
    made: Tensor = ogive.asarray(list(input.shape), dtype=ogive.int64)
    return made


def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The distances between all pairs of rows of a matrix, each pair once."""
    return _pdist(input, p)
