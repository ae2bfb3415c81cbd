"""Programs compiled once by Ogive, run with many sizes, and by PyTorch in float64 with each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from tests.movement_chains.cases import INTEGERS
from tests.movement_chains.consumers import Context
from tests.movement_chains.running import TOLERANCES, compare, rounded
from tests.symbolic_chains.consumers import CONSUMERS
from tests.symbolic_chains.programs import NAMES, Program, moved, symbolic_input

Array = NDArray[Any]
GREATEST = 1e9
"""The greatest result that a gradient is taken of."""


class Outcome(NamedTuple):
    """How many results were compared, and what the first difference is, if there is one."""

    cases: int
    words: str | None


def run_program(program: Program, config: Config | None = None) -> Outcome:
    """Compile a program and run it with all its sizes."""
    cases = 0
    try:
        results = _by_ogive(program)
        if not results:
            return Outcome(0, None)
        plan = Tensor.prepare_batch(results, config)
        for sizes in program.bindings:
            try:
                wanted = _by_torch(program, sizes)
            except (RuntimeError, IndexError):
                continue  # a size without a meaning, as the largest of nothing
            greatest = max([float(np.abs(each).max(initial=0)) for each in wanted])
            if program.has_gradient and not greatest < GREATEST:
                continue  # its square, which the weights of the gradient have, may be infinite
            plan.execute_with_vars(**dict(zip(NAMES, sizes, strict=False)))
            for place, (result, right) in enumerate(zip(results, wanted, strict=True)):
                words = compare(result.numpy(), right, program.dtype, TOLERANCES)
                if words is not None:
                    return Outcome(cases, f"result {place} with sizes {sizes}: {words}")
                cases += 1
    except Exception as error:
        return Outcome(cases, f"{type(error).__name__}: {error}")
    return Outcome(cases, None)


def _compute(program: Program, whole: Any, x: Any, at: Context) -> list[Any]:
    """All results of a program, and last the gradient, if it has one."""
    value = moved(program, x, at.library)
    results, total = [], None
    for name, arguments in program.consumptions:
        kind = CONSUMERS[name]
        result = kind.apply(value, at, *arguments)
        results.append(result)
        if program.has_gradient and kind.has_gradient:
            # Weights that are another at each place, whatever the sizes are, and well-conditioned.
            weighted = (result / (result.detach().square() + 1)).sum()
            total = weighted if total is None else total + weighted
    if total is not None:
        results.extend(at.library.autograd.grad(total, [whole]))
    return results


def _by_ogive(program: Program) -> list[Tensor]:
    whole, part = symbolic_input(program)
    at = Context(ogive, lambda array: Tensor(rounded(array, program.dtype)))
    return _compute(program, whole, part, at)


def _by_torch(program: Program, sizes: tuple[int, ...]) -> list[Array]:
    wide = program.dtype if program.dtype in INTEGERS else "float64"

    def operand(array: Array) -> Any:
        return torch.tensor(rounded(array, program.dtype).astype(wide))

    whole = operand(program.array)
    if program.has_gradient:
        whole.requires_grad_()
    part = whole[tuple([slice(0, size) for size in sizes])]
    results = _compute(program, whole, part, Context(torch, operand))
    return [np.asarray(result.detach().numpy()) for result in results]
