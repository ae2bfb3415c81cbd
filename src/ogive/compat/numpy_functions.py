"""NumPy's functions on tensors: `numpy.exp(tensor)`, `numpy.mean(tensor)` and others.

One table maps ufuncs to methods, and one maps functions to ours with NumPy's names of arguments.
All of them are lazy and give tensors. A function in neither table raises an error that says what to
do; nothing is converted silently.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.errors import ArgumentTypeError, OgiveError
from ogive.tensor.core import Core, to_operand, to_tensor
from ogive.tensor.creation import constructors
from ogive.tensor.movement import joining

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

UFUNCS: dict[Any, str] = {
    numpy.absolute: "abs",
    numpy.add: "add",
    numpy.arccos: "acos",
    numpy.arccosh: "acosh",
    numpy.arcsin: "asin",
    numpy.arcsinh: "asinh",
    numpy.arctan2: "atan2",
    numpy.arctan: "atan",
    numpy.arctanh: "atanh",
    numpy.bitwise_and: "bitwise_and",
    numpy.bitwise_or: "bitwise_or",
    numpy.bitwise_xor: "bitwise_xor",
    numpy.ceil: "ceil",
    numpy.copysign: "copysign",
    numpy.cos: "cos",
    numpy.cosh: "cosh",
    numpy.deg2rad: "deg2rad",
    numpy.divide: "div",
    numpy.equal: "eq",
    numpy.exp2: "exp2",
    numpy.exp: "exp",
    numpy.expm1: "expm1",
    numpy.fabs: "abs",
    numpy.float_power: "float_power",
    numpy.floor: "floor",
    numpy.floor_divide: "floor_divide",
    numpy.fmax: "fmax",
    numpy.fmin: "fmin",
    numpy.fmod: "fmod",
    numpy.greater: "gt",
    numpy.greater_equal: "ge",
    numpy.heaviside: "heaviside",
    numpy.hypot: "hypot",
    numpy.invert: "bitwise_not",
    numpy.isfinite: "isfinite",
    numpy.isinf: "isinf",
    numpy.isnan: "isnan",
    numpy.left_shift: "bitwise_left_shift",
    numpy.less: "lt",
    numpy.less_equal: "le",
    numpy.log10: "log10",
    numpy.log1p: "log1p",
    numpy.log2: "log2",
    numpy.log: "log",
    numpy.logaddexp2: "logaddexp2",
    numpy.logaddexp: "logaddexp",
    numpy.logical_and: "logical_and",
    numpy.logical_not: "logical_not",
    numpy.logical_or: "logical_or",
    numpy.logical_xor: "logical_xor",
    numpy.matmul: "matmul",
    numpy.maximum: "maximum",
    numpy.minimum: "minimum",
    numpy.multiply: "mul",
    numpy.negative: "neg",
    numpy.nextafter: "nextafter",
    numpy.not_equal: "ne",
    numpy.positive: "positive",
    numpy.power: "pow",
    numpy.rad2deg: "rad2deg",
    numpy.reciprocal: "reciprocal",
    numpy.remainder: "remainder",
    numpy.right_shift: "bitwise_right_shift",
    numpy.rint: "round",
    numpy.sign: "sign",
    numpy.signbit: "signbit",
    numpy.sin: "sin",
    numpy.sinh: "sinh",
    numpy.sqrt: "sqrt",
    numpy.square: "square",
    numpy.subtract: "sub",
    numpy.tan: "tan",
    numpy.tanh: "tanh",
    numpy.trunc: "trunc",
}
"""The method of a tensor for each ufunc."""

REDUCTIONS: dict[Any, str] = {
    numpy.add: "sum",
    numpy.multiply: "prod",
    numpy.maximum: "amax",
    numpy.minimum: "amin",
    numpy.logical_and: "all",
    numpy.logical_or: "any",
}
"""The method of a tensor for `reduce` of each ufunc."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""Our function for each function of NumPy, with NumPy's names of arguments."""

BY_VALUE = (
    numpy.allclose, numpy.array2string, numpy.array_equal, numpy.array_repr, numpy.array_str,
    numpy.save, numpy.savetxt, numpy.savez, numpy.savez_compressed,
)  # fmt: skip
"""Functions that do not give an array: NumPy's own are called, on the values."""


OPERATORS: dict[Any, Callable[..., Any]] = {
    numpy.add: operator.add, numpy.subtract: operator.sub, numpy.multiply: operator.mul,
    numpy.true_divide: operator.truediv, numpy.floor_divide: operator.floordiv,
    numpy.remainder: operator.mod, numpy.power: operator.pow, numpy.less: operator.lt,
    numpy.less_equal: operator.le, numpy.greater: operator.gt, numpy.greater_equal: operator.ge,
    numpy.equal: operator.eq, numpy.not_equal: operator.ne,
}  # fmt: skip
"""The operators for ufuncs of a number and a tensor, in this order."""


def call_ufunc(
    ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> Tensor:
    """Apply a ufunc to tensors, arrays and numbers. Raises `ArgumentTypeError` if we lack it."""
    name = f"numpy.{ufunc.__name__}{'' if method == '__call__' else '.' + method}"
    if method == "reduce" and ufunc in REDUCTIONS:
        reduced: Tensor = _call(name, reduce, (REDUCTIONS[ufunc], *inputs), {"axis": 0, **keywords})
        return reduced
    if method != "__call__" or ufunc not in UFUNCS:
        raise _absent(name)
    dtype = keywords.pop("dtype", None)
    if keywords:
        raise ArgumentTypeError(
            f"{name} of tensors takes no {', '.join(keywords)}: a tensor is computed later, and "
            "numpy() gives its values"
        )
    first, *rest = [to_operand(value, name) for value in inputs]
    if ufunc in OPERATORS and not isinstance(first, Core):
        # A number before a tensor must stay a number, since it has no dtype to be rounded to.
        number: Tensor = OPERATORS[ufunc](first, *rest)
        return number if dtype is None else number.cast(dtype)
    result: Tensor = getattr(_tensor(first), UFUNCS[ufunc])(*rest)
    return result if dtype is None else result.cast(dtype)


def call_function(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Apply a function of NumPy to tensors. Raises `ArgumentTypeError` if we lack it."""
    if function in BY_VALUE:
        values = {name: _value(value) for name, value in keywords.items()}
        return function(*[_value(value) for value in arguments], **values)
    name = f"{function.__module__}.{function.__name__}"
    if function not in FUNCTIONS:
        raise _absent(name)
    return _call(name, FUNCTIONS[function], arguments, keywords)


def reduce(method: str, a: Any, axis: Any = None, *, keepdims: bool = False, **more: Any) -> Tensor:
    """Reduce, with NumPy's names of arguments. `more` is passed to the method."""
    result: Tensor = getattr(_tensor(a), method)(dim=axis, keepdim=keepdims, **more)
    return result


def _call(name: str, own: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call our function for a function of NumPy. Raises `ArgumentTypeError` for extra arguments."""
    try:
        return own(*arguments, **keywords)
    except TypeError as error:
        if isinstance(error, OgiveError) or "argument" not in str(error):
            raise
        raise ArgumentTypeError(f"{name} of tensors: {error}") from None


def _absent(name: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{name} does not work on tensors; use a method of Tensor, or give it the values: x.numpy()"
    )


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Core) else to_tensor(value)  # type: ignore[return-value]


def _value(value: Any) -> Any:
    return value.numpy() if isinstance(value, Core) else value  # type: ignore[attr-defined]


def _implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(own: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, own))
        return own

    return register


# Reductions

for _function, _method in (
    (numpy.sum, "sum"), (numpy.prod, "prod"), (numpy.mean, "mean"), (numpy.max, "amax"),
    (numpy.amax, "amax"), (numpy.min, "amin"), (numpy.amin, "amin"), (numpy.all, "all"),
    (numpy.any, "any"), (numpy.argmax, "argmax"), (numpy.argmin, "argmin"),
):  # fmt: skip
    FUNCTIONS[_function] = functools.partial(reduce, _method)


def _spread(
    method: str, a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False
) -> Tensor:
    return reduce(method, a, axis, keepdims=keepdims, correction=ddof)


FUNCTIONS[numpy.var] = functools.partial(_spread, "var")
FUNCTIONS[numpy.std] = functools.partial(_spread, "std")


# Shapes

FUNCTIONS[numpy.shape] = lambda a: _tensor(a).shape
FUNCTIONS[numpy.ndim] = lambda a: _tensor(a).ndim
FUNCTIONS[numpy.ravel] = lambda a: _tensor(a).reshape(-1)
FUNCTIONS[numpy.flip] = lambda m, axis=None: _tensor(m).flip(
    *(range(_tensor(m).ndim) if axis is None else numpy.atleast_1d(axis).tolist())
)
FUNCTIONS[numpy.squeeze] = lambda a, axis=None: _tensor(a).squeeze(axis)
FUNCTIONS[numpy.swapaxes] = lambda a, axis1, axis2: _tensor(a).transpose(axis1, axis2)
FUNCTIONS[numpy.broadcast_to] = lambda array, shape: _tensor(array).expand(shape)


@_implements(numpy.size)
def _size(a: Any, axis: int | None = None) -> Any:
    return _tensor(a).numel() if axis is None else _tensor(a).shape[axis]


@_implements(numpy.reshape)
def _reshape(a: Any, shape: Any) -> Tensor:
    return _tensor(a).reshape(shape)


@_implements(numpy.transpose)
def _transpose(a: Any, axes: Sequence[int] | None = None) -> Tensor:
    tensor = _tensor(a)
    return tensor.permute(*(reversed(range(tensor.ndim)) if axes is None else axes))


@_implements(numpy.expand_dims)
def _expand_dims(a: Any, axis: Any) -> Tensor:
    tensor = _tensor(a)
    axes = numpy.atleast_1d(axis).tolist()
    rank = tensor.ndim + len(axes)
    for each in sorted(each % rank for each in axes):
        tensor = tensor.unsqueeze(each)
    return tensor


@_implements(numpy.moveaxis)
def _moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    tensor = _tensor(a)
    rank = tensor.ndim
    taken = [each % rank for each in numpy.atleast_1d(source).tolist()]
    placed = [each % rank for each in numpy.atleast_1d(destination).tolist()]
    order = [axis for axis in range(rank) if axis not in taken]
    for place, axis in sorted(zip(placed, taken, strict=True)):
        order.insert(place, axis)
    return tensor.permute(*order)


# Along an axis, and of matrices

FUNCTIONS[numpy.tile] = lambda A, reps: _tensor(A).tile(reps)
FUNCTIONS[numpy.roll] = lambda a, shift, axis=None: _tensor(a).roll(shift, axis)
FUNCTIONS[numpy.repeat] = lambda a, repeats, axis=None: _tensor(a).repeat_interleave(repeats, axis)
FUNCTIONS[numpy.diag] = lambda v, k=0: _tensor(v).diag(k)
FUNCTIONS[numpy.tril] = lambda m, k=0: _tensor(m).tril(k)
FUNCTIONS[numpy.triu] = lambda m, k=0: _tensor(m).triu(k)
FUNCTIONS[numpy.trace] = lambda a: _tensor(a).trace()
FUNCTIONS[numpy.outer] = lambda a, b: _tensor(a).reshape(-1).outer(_tensor(b).reshape(-1))
FUNCTIONS[numpy.kron] = lambda a, b: _tensor(a).kron(_tensor(b))


def _scan(method: str, a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    tensor = _tensor(a)
    if axis is None:
        tensor, axis = tensor.reshape(-1), 0
    result: Tensor = getattr(tensor, method)(axis, dtype)
    return result


FUNCTIONS[numpy.cumsum] = functools.partial(_scan, "cumsum")
FUNCTIONS[numpy.cumprod] = functools.partial(_scan, "cumprod")


# Joining and choosing


@_implements(numpy.concatenate)
def _concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Tensor:
    tensors = [_tensor(array) for array in arrays]
    if axis is None:
        tensors = [tensor.reshape(-1) for tensor in tensors]
    return joining.cat(tensors, axis or 0)


@_implements(numpy.stack)
def _stack(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    return joining.stack([_tensor(array) for array in arrays], axis)


@_implements(numpy.where)
def _where(condition: Any, x: Any, y: Any) -> Tensor:
    return joining.where(_tensor(condition), x, y)


@_implements(numpy.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> Tensor:
    return _tensor(a).clamp(a_min, a_max)


@_implements(numpy.round, numpy.around)
def _round(a: Any, decimals: int = 0) -> Tensor:
    if decimals:
        raise ArgumentTypeError(f"numpy.round of tensors takes decimals=0, not {decimals}")
    return _tensor(a).round()


# Products and creation


@_implements(numpy.dot)
def _dot(a: Any, b: Any) -> Tensor:
    first, second = _tensor(a), _tensor(b)
    if not first.ndim or not second.ndim:
        return first * second
    if second.ndim > 2:
        raise ArgumentTypeError("numpy.dot of tensors takes up to 2 axes on the right; use matmul")
    return first.matmul(second)


@_implements(numpy.zeros_like)
def _zeros_like(a: Any, dtype: Any = None) -> Tensor:
    return constructors.zeros_like(a, dtype=dtype)


@_implements(numpy.ones_like)
def _ones_like(a: Any, dtype: Any = None) -> Tensor:
    return constructors.ones_like(a, dtype=dtype)


@_implements(numpy.full_like)
def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    return constructors.full_like(a, fill_value, dtype=dtype)


@_implements(numpy.isclose)
def _isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    return _tensor(a).isclose(_tensor(b), rtol, atol, equal_nan)
