"""Initial values of parameters, after PyTorch's defaults. Each function fills a tensor in place.

The functions are `ogive.nn.init`'s: `init.kaiming_uniform_(layer.weight, nonlinearity="relu")`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive import random
from ogive.autograd.mode import no_grad
from ogive.compiler.ir.dtype import default_float, to_dtype
from ogive.errors import ArgumentError, ShapeError, nearest
from ogive.nn.parameter import Parameter
from ogive.random.continuous import uniform_by_data
from ogive.random.generator import Generator
from ogive.tensor.core import to_shape
from ogive.tensor.creation.constructors import full_like
from ogive.tensor.memory.data_attribute import replace_value
from ogive.tensor.method_functions import chosen_floats, created
from ogive.tensor.tensor import Tensor

GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "sigmoid": 1.0, "tanh": 5 / 3,
    "relu": math.sqrt(2), "selu": 0.75,
}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that makes up for the loss of standard deviation in a nonlinearity.

    >>> round(calculate_gain("relu"), 4)
    1.4142
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in GAINS:
        names = [*GAINS, "leaky_relu"]
        raise ArgumentError(
            f"unknown nonlinearity {nonlinearity!r}{nearest(nonlinearity, names)}; "
            f"there are {', '.join(names)}"
        )
    return GAINS[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """The fan-in and fan-out of a weight: inputs per output, and outputs per input."""
    if tensor.ndim < 2:
        raise ShapeError(
            f"fans are defined for weights of two axes or more, not for the shape {tensor.shape}"
        )
    outputs, inputs, *taps = [int(size) for size in tensor.shape]
    field = math.prod(taps)
    return inputs * field, outputs * field


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Evenly between `a` and `b`."""
    if generator is not None:
        with no_grad():
            return tensor.uniform_(a, b, generator=generator)
    if tensor.is_eager:
        return _fill(tensor, created(uniform_by_data, tensor.shape, a, b, tensor.dtype))
    return _fill(tensor, uniform_by_data(tensor.shape, a, b, tensor.dtype))


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """From the normal distribution."""
    if tensor.is_eager or generator is not None:
        with no_grad():
            return tensor.normal_(mean, std, generator=generator)
    # As data, so that layers of other deviations share the kernel.
    centre, deviation = [Tensor(numpy.array(x, tensor.dtype.numpy)) for x in (mean, std)]
    drawn = random.randn(*tensor.shape, dtype=tensor.dtype)
    return _fill(tensor, drawn * deviation + centre)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with draws from the normal distribution, restricted to values between `a` and `b`."""
    low, high = [math.erf((bound - mean) / (std * math.sqrt(2))) for bound in (a, b)]
    drawn = created(random.rand, *tensor.shape, dtype=tensor.dtype, generator=generator)
    even = drawn * (high - low) + low
    return _fill(tensor, (even.erfinv() * (std * math.sqrt(2)) + mean).clamp(a, b))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    return _fill(tensor, full_like(tensor, val))


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity: ones on the diagonal."""
    rows, columns = tensor.shape
    return _fill(tensor, created(Tensor, numpy.eye(rows, columns, dtype=tensor.dtype.numpy)))


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Evenly within ±gain·√(6 / (inputs + outputs))."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal with the deviation gain·√(2 / (inputs + outputs))."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fans(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with uniform draws within ±gain·√(3 / fan)."""
    bound = math.sqrt(3) * _kaiming_deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal with the deviation gain / √fan."""
    return normal_(tensor, 0.0, _kaiming_deviation(tensor, a, mode, nonlinearity), generator)


def orthogonal_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Orthonormal rows or columns, whichever are fewer."""
    rows, columns = int(tensor.shape[0]), math.prod([int(size) for size in tensor.shape[1:]])
    sizes = (max(rows, columns), min(rows, columns))
    tall = created(random.randn, *sizes, dtype=tensor.dtype, generator=generator)
    q, r = tall.qr()
    q = q * r.diagonal().sign()
    directions = q if rows >= columns else q.T
    return _fill(tensor, (directions * gain).reshape(tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it returns its input.

    Shapes: (outputs, inputs, taps, ...), the outputs in as many parts as there are groups.

    >>> layer = nn.Conv1d(2, 2, 3, padding=1, bias=False)
    >>> _ = nn.init.dirac_(layer.weight)
    >>> layer(Tensor([[[1.0, 2.0], [3.0, 4.0]]])).tolist()
    [[[1.0, 2.0], [3.0, 4.0]]]

    Raises `ShapeError` for other than three to five axes, or outputs that groups do not divide.
    """
    if tensor.ndim not in (3, 4, 5) or int(tensor.shape[0]) % groups:
        raise ShapeError(
            f"dirac_ takes weights of convolutions in {groups} groups, not the shape {tensor.shape}"
        )
    outputs, inputs, *taps = [int(size) for size in tensor.shape]
    values = numpy.zeros((groups, outputs // groups, inputs, *taps), tensor.dtype.numpy)
    own = numpy.arange(min(outputs // groups, inputs))
    middle: tuple[Any, ...] = tuple([size // 2 for size in taps])
    values[(slice(None), own, own, *middle)] = 1
    return _fill(tensor, created(Tensor, values.reshape(outputs, inputs, *taps)))


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal, but for a share of zeros in each column of a matrix, at places drawn at random.

    >>> weight = nn.init.sparse_(ogive.empty(10, 3), sparsity=0.25)
    >>> (weight == 0).sum(0).tolist()
    [3, 3, 3]

    Raises `ShapeError` for a tensor that is not a matrix.
    """
    if tensor.ndim != 2:
        raise ShapeError(f"sparse_ takes a matrix, not the shape {tensor.shape}")
    zeros = math.ceil(sparsity * int(tensor.shape[0]))
    ranks = created(random.rand, *tensor.shape, generator=generator).argsort(0).argsort(0)
    drawn = created(random.randn, *tensor.shape, dtype=tensor.dtype, generator=generator) * std
    return _fill(tensor, drawn.masked_fill(ranks < zeros, 0.0))


def _kaiming_deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentError(f"mode must be 'fan_in' or 'fan_out', not {mode!r}")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[mode == "fan_out"])


def _fill(tensor: Tensor, values: Tensor) -> Tensor:
    replace_value(tensor, values)
    return tensor


def default_parameter(
    shape: tuple[int, ...], inputs: int, device: str | None, dtype: Any
) -> Parameter:
    """A new parameter with the default initial values: uniform draws within ±1/√inputs."""
    *lengths, inputs = to_shape((*shape, inputs), "a layer")
    if dtype is None and chosen_floats:
        (dtype,) = chosen_floats
    kind = default_float if dtype is None else to_dtype(dtype)
    bound = 1 / math.sqrt(inputs) if inputs else 0.0
    values = created(uniform_by_data, tuple(lengths), -bound, bound, kind)
    return Parameter(values if device is None else values.to(device=device))
