"""What rounding decides: PyTorch once more, with each rounded value moved by a few roundings.

A bound on rounding that holds for all programs hides defects; one that is tight has jumps and
cancellation for differences (`prod(...) % 7`, `argmax` of equal numbers). So a program that differs
is run by PyTorch again, some times, with what its operations read and give moved as rounding might.
What that changes is the bound: `spreads` says by how much, for each number shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch as pytorch
from torch.utils._python_dispatch import TorchDispatchMode

Shown = Sequence[Any]
"""Arrays, and whatever else a program shows, always in the same order."""

REPETITIONS = 12
ROUNDINGS = 4.0
"""By how many roundings a value is moved at most."""
MARGIN = 4.0
"""How much more than what was seen may be rounding."""

ROUNDING = {
    "add", "sub", "rsub", "mul", "div", "pow", "sum", "mean", "prod", "cumsum", "cumprod", "var",
    "std", "var_mean", "std_mean", "norm", "linalg_vector_norm", "_softmax", "_log_softmax",
    "logsumexp", "exp", "log", "log1p", "tanh", "sigmoid", "sin", "cos", "atan", "atan2", "erf",
    "sqrt", "rsqrt", "reciprocal", "hypot", "mm", "bmm", "addmm", "baddbmm", "addmv", "mv", "dot",
    "convolution", "native_layer_norm", "native_batch_norm", "gelu", "silu", "mish", "elu",
    "softplus", "log_sigmoid_forward", "_cdist_forward", "lerp", "addcmul", "addcdiv", "kron",
    "upsample_linear1d", "upsample_bilinear2d", "avg_pool2d", "_adaptive_avg_pool2d", "remainder",
    "fmod", "floor_divide", "index_add", "scatter_add", "_index_put_impl", "index_put", "linspace",
    "_to_copy", "trace", "leaky_relu", "renorm", "_scaled_dot_product_flash_attention_for_cpu",
    "logaddexp", "cosh", "sinh", "mse_loss", "binary_cross_entropy", "nll_loss_forward",
}  # fmt: skip
"""Operations whose results are rounded, by the names of PyTorch's table."""

CANCELLING = {
    "native_layer_norm", "native_batch_norm", "var", "std", "var_mean", "std_mean", "logsumexp",
    "_softmax", "_log_softmax", "mean", "renorm",
}  # fmt: skip
"""Of these those that divide sums, or take them off: their error is one of the greatest number that
is read, and whole numbers come out rounded, too.
"""


class _Moved(TorchDispatchMode):  # type: ignore[misc]  # of a library without types
    """Each operation that rounds reads and gives other numbers, a few roundings away."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = np.random.default_rng(seed)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = func._schema.name.partition("::")[2]
        plain = name.removesuffix("_").removesuffix("_backward")
        if plain not in ROUNDING:
            return func(*args, **(kwargs or {}))
        writes = any(each.alias_info is not None for each in func._schema.arguments)
        largest = max((_largest(each) for each in args), default=0.0)
        if not writes:
            args = tuple([self._moved(each, 0.0) for each in args])
        result = func(*args, **(kwargs or {}))
        least = largest if plain in CANCELLING else 0.0
        for each in result if isinstance(result, tuple | list) else (result,):
            if _rounds(each):
                each.copy_(self._moved(each, least))
        return result

    def _moved(self, tensor: Any, least: float) -> Any:
        """The tensor with its numbers moved; whole numbers that are exact stay, where all are."""
        if not _rounds(tensor):
            return tensor
        unit = pytorch.finfo(tensor.dtype).eps
        moves = (self.random.random(tuple(tensor.shape)) * 2 - 1) * ROUNDINGS * unit
        moves = pytorch.from_numpy(np.asarray(moves))
        values = tensor.detach().double()
        is_exact = (values == values.round()) & (values.abs() <= 2 / unit)
        if least:
            is_exact = pytorch.zeros_like(is_exact)
        size = values.abs().clamp(min=least)
        moved = pytorch.where(is_exact, values, values + moves * size)
        return moved.to(tensor.dtype)


def _rounds(value: Any) -> bool:
    return isinstance(value, pytorch.Tensor) and value.dtype.is_floating_point


def _largest(value: Any) -> float:
    if not _rounds(value) or not value.numel():
        return 0.0
    greatest = float(value.detach().double().abs().max())
    return greatest if math.isfinite(greatest) else 0.0


def spreads(run: Callable[[], Shown]) -> list[np.ndarray[Any, Any] | None]:
    """For all that `run` shows by PyTorch: how far rounding may move each of its numbers.

    It is None where rounding decides even the shape, or whether anything is shown.
    """
    plain = run()
    found: list[np.ndarray[Any, Any] | None] = [np.zeros(np.shape(each)) for each in plain]
    for seed in range(REPETITIONS):
        try:
            with _Moved(seed):
                moved = run()
        except (RuntimeError, IndexError, ValueError):
            moved = []
        for place, one in enumerate(plain):
            spread = found[place]
            if place >= len(moved) or np.shape(moved[place]) != np.shape(one):
                found[place] = None
            elif spread is not None:
                found[place] = np.maximum(spread, _distance(one, moved[place]))
    return [None if spread is None else MARGIN * spread for spread in found]


def _distance(one: Any, other: Any) -> np.ndarray[Any, Any]:
    """How far numbers are from each other; one that is no number is at any distance."""
    with np.errstate(invalid="ignore"):
        left, right = np.asarray(one).astype("complex128"), np.asarray(other).astype("complex128")
        distance = np.abs(left - right)
    distance = np.where(np.isnan(distance), np.inf, distance)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    return np.asarray(np.where(same, 0.0, distance))
