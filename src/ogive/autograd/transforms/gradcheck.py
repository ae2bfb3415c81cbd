"""`gradcheck`: compares gradients with finite differences, for testing custom rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.autograd.transforms.function_gradients import vjp
from ogive.errors import DtypeError, GradientError
from ogive.tensor.tensor import Tensor

Array = NDArray[Any]


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Whether the gradients of a function agree with (f(x + eps) - f(x - eps)) / 2·eps.

    Every element of the float tensors in `inputs` that require gradients is compared, with every
    element of the results. They must be float64, because smaller floats hide the difference.

    >>> x = Tensor([0.5, 2.0], dtype=ogive.float64, requires_grad=True)
    >>> ogive.autograd.gradcheck(lambda x: (x * x.exp()).sum(), x)
    True

    Raises `GradientError` if they differ, or returns False without `raise_exception`. Raises
    `DtypeError` for floats other than float64.
    """
    tensors = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    places = [at for at, x in enumerate(tensors) if isinstance(x, Tensor) and x.requires_grad]
    if not places:
        raise GradientError("gradcheck: none of the inputs requires gradients")
    for at in places:
        if tensors[at].dtype.name != "float64":
            raise DtypeError(f"gradcheck: input {at} is of {tensors[at].dtype.name}, not float64")
    values = [tensors[at].numpy(force=True) for at in places]

    def run(*chosen: Any) -> tuple[Tensor, ...]:
        filled = list(tensors)
        for at, value in zip(places, chosen, strict=True):
            filled[at] = value
        results = func(*filled)
        return tuple(results) if isinstance(results, tuple | list) else (results,)

    slopes = _slopes(run, values, eps)
    for (number, at), by_rule in _by_rules(run, values).items():
        expected = slopes.get((number, at), numpy.zeros_like(by_rule))
        if not numpy.allclose(by_rule, expected, rtol=rtol, atol=atol):
            if not raise_exception:
                return False
            raise GradientError(
                f"gradcheck: the gradient of result {number} for input {places[at]} is\n{by_rule}\n"
                f"and small changes say\n{expected}"
            )
    return True


Slopes = dict[tuple[int, int], Array]
"""Jacobians (elements of the result, elements of the input), by numbers of result and input."""


def _slopes(run: Callable[..., tuple[Tensor, ...]], values: list[Array], eps: float) -> Slopes:
    columns: dict[tuple[int, int], list[Array]] = {}
    for at, value in enumerate(values):
        for place in range(value.size):
            pair = []
            for sign in (1, -1):
                moved = value.copy()
                moved.flat[place] += sign * eps
                changed = [*values[:at], moved, *values[at + 1 :]]
                pair.append([y.detach().numpy() for y in run(*map(Tensor, changed))])
            for number, (above, below) in enumerate(zip(*pair, strict=True)):
                slope = ((above - below) / (2 * eps)).reshape(-1)
                columns.setdefault((number, at), []).append(slope)
    return {key: numpy.stack(column, -1) for key, column in columns.items()}


def _by_rules(run: Callable[..., tuple[Tensor, ...]], values: list[Array]) -> Slopes:
    outputs, pull = vjp(run, *map(Tensor, values))
    rows: dict[tuple[int, int], list[Array]] = {}
    for number, output in enumerate(outputs):
        for place in range(int(output.numel())):
            weights = [numpy.zeros(y.shape, y.dtype.numpy) for y in outputs]
            weights[number].flat[place] = 1
            gradients = pull(tuple(map(Tensor, weights)))
            for at, gradient in enumerate(gradients):
                rows.setdefault((number, at), []).append(gradient.numpy().reshape(-1))
    return {key: numpy.stack(row) for key, row in rows.items()}
