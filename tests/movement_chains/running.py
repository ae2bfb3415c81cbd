"""Cases run by Ogive, some at a time, by the reference, and by PyTorch in float64."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import torch
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from tests.movement_chains.cases import EXACT, SMOOTH, Case
from tests.movement_chains.consumers import CONSUMERS, Context
from tests.movement_chains.moves import make_move

Array = NDArray[Any]
TOLERANCES = {"float64": 1e-9, "float32": 2e-4, "float16": 4e-2, "bfloat16": 0.25}
"""How far a result may be from PyTorch's, of the greatest magnitude there. What is looked for are
wrong elements: what rounding may do is held by other tests."""

TO_REFERENCE = {"float64": 1e-11, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1.5e-2}
"""How far it may be from the reference's, which rounds where the graph does: sums are in another
order, and a product may be added before it is rounded."""

SMALLEST = {"float64": 0.05, "float32": 0.05, "float16": 1.0, "bfloat16": 1.0}
"""The least magnitude that counts: where terms cancel, what is left of them is rounding."""

LARGEST = {"float64": 1e30, "float32": 1e15, "float16": 1e3, "bfloat16": 1e15}
"""Cases whose results are greater are passed over: something in them may have been infinite."""

FUNCTIONS = SMOOTH | EXACT


class Difference(NamedTuple):
    """A case that gave something else than PyTorch."""

    case: Case
    words: str


def run_cases(
    cases: Iterable[Case], config: Config | None = None, by_reference: bool = True
) -> list[Difference]:
    """Run cases in one realization; those that differ from PyTorch, or from the reference."""
    found: list[Difference] = []
    built: list[tuple[Case, Tensor, Tensor | None]] = []
    for case in cases:
        try:
            reference = _by_ogive(case, "REFERENCE") if by_reference else None
            built.append((case, _by_ogive(case), reference))
        except Exception as error:
            found.append(Difference(case, f"{type(error).__name__}: {error}"))
    try:
        Tensor.realize_batch([tensor for _, tensor, _ in built], config)
        Tensor.realize_batch([each for *_, each in built if each is not None], config)
    except Exception as error:
        if len(built) == 1:
            return [*found, Difference(built[0][0], f"{type(error).__name__}: {error}")]
        alone = [run_cases([case], config, by_reference) for case, *_ in built]
        return found + [each for differences in alone for each in differences]
    for case, tensor, reference in built:
        got, words = tensor.numpy(), None
        if reference is not None:
            words = compare(got, reference.numpy(), case.dtype, TO_REFERENCE)
        if words is None:
            words = compare(got, _by_torch(case).detach().numpy(), case.dtype, TOLERANCES)
        if words is not None:
            found.append(Difference(case, words))
    return found


def _compute(case: Case, x: Any, at: Context) -> Any:
    value = FUNCTIONS[case.before](x)
    for move in case.moves:
        value = make_move(value, move, at.library)
    value = FUNCTIONS[case.between](value)
    value = CONSUMERS[case.consumer].apply(value, at, *case.arguments)
    return FUNCTIONS[case.after](value)


def _differentiated(x: Any, result: Any, library: Any) -> Any:
    weights = np.cos(np.arange(int(np.prod(result.shape)))).reshape(result.shape)
    weights = library.tensor(weights, device=result.device).to(result.dtype)
    weighted = (result * weights).sum()
    (gradient,) = library.autograd.grad(weighted, [x])
    return gradient


def rounded(array: Array, dtype: str) -> Array:
    """An array in the dtype of a case. Integers are small: sums of them fit, and products wrap."""
    if "float" not in dtype:
        return np.round(np.abs(array) if dtype == "uint8" else array).astype(dtype)
    return array.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def _by_ogive(case: Case, device: str = "CPU") -> Tensor:
    def operand(array: Array) -> Tensor:
        return Tensor(rounded(array, case.dtype), device=device)

    x = operand(case.array)
    if not case.has_gradient:
        result: Tensor = _compute(case, x, Context(ogive, operand))
        return result
    x.requires_grad_()
    gradient: Tensor = _differentiated(x, _compute(case, x, Context(ogive, operand)), ogive)
    return gradient


def _by_torch(case: Case) -> Any:
    wide = "float64" if "float" in case.dtype else case.dtype

    def operand(array: Array) -> Any:
        return torch.tensor(rounded(array, case.dtype).astype(wide))

    x = operand(case.array)
    if not case.has_gradient:
        return _compute(case, x, Context(torch, operand))
    x.requires_grad_()
    return _differentiated(x, _compute(case, x, Context(torch, operand)), torch)


def compare(got: Array, right: Array, dtype: str, tolerances: Mapping[str, float]) -> str | None:
    """What is wrong with a result of a case that computes in a dtype; None if nothing is."""
    if got.shape != right.shape:
        return f"shape {got.shape}, not {right.shape}"
    if right.dtype.kind not in "biu":
        right = right.astype(np.float64)
        scale = float(np.abs(right).max(initial=0.0))
        if not scale < LARGEST[dtype]:
            return None
        bound = tolerances[dtype] * max(scale, SMALLEST[dtype])
        good = np.abs(got.astype(np.float64) - right) <= bound
    else:
        good = got == right
    if np.all(good):
        return None
    place = tuple([int(axis[0]) for axis in np.nonzero(~np.atleast_1d(good))])
    elements = np.atleast_1d(got)[place], np.atleast_1d(right)[place]
    count = int((~good).sum())
    return f"{count} of {good.size} differ, at {place}: {elements[0]}, not {elements[1]}"
