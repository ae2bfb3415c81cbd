"""The forms of dropout, and the Gumbel softmax."""

from __future__ import annotations

import math
from typing import Any

from ogive.compiler.ir.shape import Shape
from ogive.errors import ArgumentError, DtypeError, ShapeError
from ogive.random.continuous import gumbel
from ogive.random.discrete import chances, to_probability
from ogive.random.generator import Generator
from ogive.tensor import build
from ogive.tensor.core import memory_device, to_axis, to_number
from ogive.tensor.creation.constructors import arange
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

SELU_FLOOR = -1.7580993408473766
"""The limit of SELU at -∞. Alpha dropout sets elements to it, not to 0."""


def dropout(
    x: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Set elements to 0 with probability `p`, and scale the others by 1 / (1 - p), in training.

    Shapes: unchanged.

    >>> ogive.random.dropout(Tensor([1.0, 2.0]), 0.5, training=False).tolist()
    [1.0, 2.0]
    >>> set(ogive.random.dropout(ogive.ones(100), 0.5).tolist()) <= {0.0, 2.0}
    True

    Raises `ArgumentError` unless 0 <= p <= 1, and `DtypeError` for integers.
    """
    return _dropped(x, p, training, x.shape, key, generator)


def feature_dropout(
    x: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Apply `dropout` to whole channels. Shapes: (N, C, ...), unchanged.

    >>> y = ogive.random.feature_dropout(ogive.ones(2, 3, 4))
    >>> bool((y == y[:, :, :1]).all())
    True
    """
    return _dropped(x, p, training, _channels(x, "feature_dropout"), key, generator)


def alpha_dropout(
    x: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Apply dropout that keeps mean 0 and deviation 1, for networks with SELU. Shapes: unchanged.

    Elements are set to the limit of SELU at -∞ with probability `p`. Then all elements are scaled
    and shifted, so that mean and deviation stay.

    >>> ogive.random.alpha_dropout(ogive.zeros(4), 0.5, training=False).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    return _replaced(x, p, training, x.shape, key, generator)


def feature_alpha_dropout(
    x: Tensor,
    p: float = 0.5,
    training: bool = True,
    *,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Apply `alpha_dropout` to whole channels. Shapes: (N, C, ...), unchanged.

    >>> ogive.random.feature_alpha_dropout(ogive.zeros(2, 3, 4)).shape
    (2, 3, 4)
    """
    if not training:
        return x
    return _replaced(x, p, training, _channels(x, "feature_alpha_dropout"), key, generator)


def gumbel_softmax(
    logits: Tensor,
    tau: float = 1.0,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
    *,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Return softmax((logits + g) / tau) along `dim`, with Gumbel noise g: a soft draw.

    Shapes: unchanged. With `hard`, the result is 1 at the maximum and 0 elsewhere, with the
    gradient of the soft draw. `eps` has no effect, nor has it in PyTorch.

    >>> ogive.random.gumbel_softmax(ogive.zeros(2, 5), hard=True).sum(-1).tolist()
    [1.0, 1.0]

    Raises `ArgumentError` unless tau is positive.
    """
    axis = to_axis(dim, logits.ndim, "gumbel_softmax")
    temperature = float(to_number(tau, "gumbel_softmax: tau"))
    if not temperature > 0:
        raise ArgumentError(f"gumbel_softmax: tau is {tau}, and must be positive")
    noise = created(
        gumbel, *logits.shape, dtype=logits.dtype, device=memory_device(logits), key=key,
        generator=generator,
    )  # fmt: skip
    soft = ((logits + noise) / temperature).softmax(axis)
    if not hard:
        return soft
    positions = arange(logits.shape[axis]).reshape(-1, *[1] * (logits.ndim - 1 - axis))
    chosen = (positions == soft.argmax(axis, keepdim=True)).cast(soft.dtype)
    return chosen - soft.detach() + soft


def _dropped(x: Tensor, p: Any, training: bool, shape: Shape, key: Any, generator: Any) -> Tensor:
    probability = _checked(x, p)
    if not training or probability == 0:
        return x
    kept = chances(x, 1 - probability, shape, key, generator)
    scale = 1 / (1 - probability) if probability < 1 else 0.0
    return where(kept, x * scale, 0)


def _replaced(x: Tensor, p: Any, training: bool, shape: Shape, key: Any, generator: Any) -> Tensor:
    probability = _checked(x, p)
    if not training or probability == 0:
        return x
    if probability == 1:
        return x * 0
    kept = chances(x, 1 - probability, shape, key, generator)
    scale = 1 / math.sqrt((SELU_FLOOR**2 * probability + 1) * (1 - probability))
    floor = SELU_FLOOR * scale
    return where(kept, x * scale, floor) - floor * probability


def _checked(x: Tensor, p: Any) -> float:
    if not x.dtype.is_float:
        raise DtypeError(f"dropout takes floats, not {x.dtype.name}; cast first")
    return to_probability(p)


def _channels(x: Tensor, name: str) -> Shape:
    if x.ndim < 2:
        raise ShapeError(f"{name} takes (N, C, ...), not {build.show(x.shape)}")
    return (*x.shape[:2], *[1] * (x.ndim - 2))
