"""Complex tensors: their parts, and the arithmetic that the graph has no ops for.

The graph adds, subtracts, multiplies, divides and compares complex numbers. All other operations
are composed here of the real and the imaginary part, through which gradients flow.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, promote
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, same_device, to_operand, to_tensor, wrap
from ogive.tensor.elementwise.binary_operations import Operation, common_dtype, refuse, to_node
from ogive.tensor.memory import views
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import cat, stack, where

if TYPE_CHECKING:
    from ogive.compiler.ir.node import UOp
    from ogive.tensor.tensor import Tensor

Pair = tuple["Tensor", "Tensor"]


def parts_of(z: Core) -> Pair:
    """The real and the imaginary part of a complex tensor."""
    with graph_lock:
        node = z.node
        part = node.dtype.part
        return (
            wrap(make(Op.REAL, part, (node,), None, node.shape), z.device),
            wrap(make(Op.IMAGINARY, part, (node,), None, node.shape), z.device),
        )


def _part(z: Tensor, op: Op) -> Tensor:
    """A view of one part of a complex tensor."""
    with graph_lock:
        shape = z.shape
        return views.computed(
            z, lambda node: make(op, node.dtype.part, (node,), None, shape), shape,
            lambda strides: tuple([2 * stride for stride in strides]),
        )  # fmt: skip


@open_to_eager
def complex(real: Any, imag: Any) -> Tensor:
    """`real + i·imag`, exactly: infinities and signed zeros stay in their part.

    Shapes broadcast. float32 parts give complex64, float64 parts complex128.

    >>> ogive.complex(Tensor([1.0, 2.0]), Tensor([0.5])).tolist()
    [(1+0.5j), (2+0.5j)]

    Raises `DtypeError` for parts that are not float32 or float64.
    """
    operands = (to_operand(real, "complex"), to_operand(imag, "complex"))
    tensors = [each for each in operands if isinstance(each, Core)] or [to_tensor(operands[0])]
    part = common_dtype(operands)
    if part not in (dtypes.float32, dtypes.float64):
        raise refuse(part, "complex", "the parts are float32 or float64; cast them first")
    device = same_device(tensors, "complex")
    with graph_lock:
        nodes = build.broadcast([to_node(each, part) for each in operands], "complex")
        return wrap(make(Op.COMPLEX, promote(part, dtypes.complex64), nodes), device)


@widened
@also(abs="absolute")
def polar(absolute: Any, angle: Any) -> Tensor:
    """The complex number at a distance from 0 and at an angle to the positive numbers.

    Shapes broadcast. float32 gives complex64, float64 complex128.

    >>> ogive.polar(Tensor([2.0]), Tensor([0.0])).tolist()
    [(2+0j)]
    """
    return complex(absolute * angle.cos(), absolute * angle.sin())


@open_to_eager
def view_as_real(z: Tensor) -> Tensor:
    """The parts of complex numbers along a new last axis. Shapes: (...) → (..., 2).

    >>> ogive.view_as_real(Tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]

    Raises `DtypeError` for a tensor that is not complex.
    """
    if not z.dtype.is_complex:
        raise refuse(z.dtype, "view_as_real", "it takes complex numbers apart")
    with graph_lock:
        return views.computed(
            z, lambda node: stack(parts_of(wrap(node, z.device)), -1).node, (*z.shape, 2),
            lambda strides: (*[2 * stride for stride in strides], 1),
        )  # fmt: skip


@open_to_eager
@widened
def view_as_complex(x: Tensor) -> Tensor:
    """Complex numbers from parts along the last axis. Shapes: (..., 2) → (...).

    >>> ogive.view_as_complex(Tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]

    Raises `ShapeError` unless the last axis has length 2.
    """
    if not x.shape or x.shape[-1] != 2:
        raise ShapeError(
            f"view_as_complex: shape {build.show(x.shape)} has no last axis of length 2 for the "
            "real and the imaginary part"
        )
    with graph_lock:
        return views.computed(
            x, lambda node: _joined(wrap(node, x.device)), x.shape[:-1],
            lambda strides: tuple([stride // 2 for stride in strides[:-1]]),
        )  # fmt: skip


def _joined(x: Tensor) -> UOp:
    return complex(x[..., 0], x[..., 1]).node


# Two operands


def combine(operation: Operation, operands: tuple[Any, Any], dtype: DType, device: str) -> Tensor:
    """A binary operation with a complex operand. Raises `DtypeError` if it has no complex form.

    Integer operands are rounded to the precision of `dtype`.
    """
    with graph_lock:
        nodes = build.broadcast([to_node(each, dtype) for each in operands], operation.name)
        if operation.op in _NODES:
            return wrap(make(operation.op, operation.result or dtype, nodes), device)
        left, right = [wrap(node, device) for node in nodes]
    if operation.op is Op.POW:
        return _power(left, right)
    raise refuse(dtype, operation.name, "")


_NODES = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.CMPEQ, Op.CMPNE})


def _power(base: Tensor, exponent: Tensor) -> Tensor:
    """exp(exponent · log(base)); powers of 0 are 0, but 0⁰ = 1."""
    value = (exponent * base.log()).exp()
    at_zero = exponent.eq(0).cast(value.dtype)
    return where(base.eq(0), at_zero, value)


def power(base: Core, exponent: Any) -> Tensor:
    """A power with a complex base or exponent; small whole powers are products."""
    dtype = common_dtype((base, exponent))
    with graph_lock:
        z = wrap(build.cast(base.node, dtype), base.device)
    whole = exponent if isinstance(exponent, int) else _whole(exponent)
    if whole is None or abs(whole) > _MOST_PRODUCTS:
        with graph_lock:
            return _power(z, wrap(build.constant(dtype, exponent), base.device))
    result, square = None, z
    remaining = abs(whole)
    while remaining:
        if remaining & 1:
            result = square if result is None else result * square
        remaining >>= 1
        if remaining:
            square = square * square
    if result is None:
        return filled_like(z, 1)
    return result.reciprocal() if whole < 0 else result


_MOST_PRODUCTS = 64


def _whole(value: Any) -> int | None:
    real = float(value.real)
    return int(real) if value.imag == 0 and real.is_integer() else None


def filled_like(x: Core, value: Any) -> Tensor:
    """`value` in the shape and dtype of `x`."""
    with graph_lock:
        return wrap(build.filled(x.node.dtype, value, x.node.shape), x.device)


# Products over axes, which no reductions of real numbers express


def product(z: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The product over some axes, which stay with length 1, by halving.

    Each step replaces n numbers by n/2 products of two.
    """
    for axis in axes:
        size = z.shape[axis]
        if size == 0:
            shape = tuple([1 if each == axis else n for each, n in enumerate(z.shape)])
            with graph_lock:
                return wrap(build.filled(z.dtype, 1, shape), z.device)
        while size > 1:
            half = size // 2
            pairs = z.narrow(axis, 0, half) * z.narrow(axis, half, half)
            z = pairs if size == 2 * half else _join(pairs, z.narrow(axis, size - 1, 1), axis)
            size -= half
    return z


def running_product(z: Tensor, axis: int) -> Tensor:
    """The product up to each element along an axis, by doubling: log₂ n steps."""
    reach, size = 1, z.shape[axis]
    while reach < size:
        kept = size - reach
        later = z.narrow(axis, reach, kept) * z.narrow(axis, 0, kept)
        z = _join(z.narrow(axis, 0, reach), later, axis).contiguous()
        reach *= 2
    return z


def _join(first: Tensor, second: Tensor, axis: int) -> Tensor:
    return cat([first, second], axis)


def real(self: Tensor) -> Tensor:
    """The real part: of a real tensor, the tensor itself. Shapes: unchanged.

    >>> Tensor([1 + 2j]).real.tolist()
    [1.0]
    """
    return _part(self, Op.REAL) if self.dtype.is_complex else self


def imag(self: Tensor) -> Tensor:
    """The imaginary part. Shapes: unchanged.

    >>> Tensor([1 + 2j]).imag.tolist()
    [2.0]

    Raises `DtypeError` for a real tensor, as in PyTorch.
    """
    if not self.dtype.is_complex:
        raise DtypeError(
            f"imag: a tensor of {self.dtype.name} has no imaginary part; cast it to a complex "
            "dtype first"
        )
    return _part(self, Op.IMAGINARY)


def conj(self: Tensor) -> Tensor:
    """x - iy for x + iy; a real tensor is returned as it is. Shapes: unchanged.

    >>> Tensor([1 + 2j]).conj().tolist()
    [(1-2j)]
    """
    if not self.dtype.is_complex:
        return self
    real, imaginary = parts_of(self)
    return complex(real, -imaginary)


def to_complex(self: Tensor) -> Any:
    """`complex(x)`: the value of a tensor with one element."""
    return builtins.complex(self.item())
