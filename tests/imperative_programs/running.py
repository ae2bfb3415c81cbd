"""Statements run by PyTorch and by Ogive, and what they leave compared."""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import ogive

Program = Sequence[str]
TOLERANCE = 1e-8
"""How far numbers may differ, of the greatest magnitude beside them: all are float64."""


class Difference(AssertionError):
    """Ogive gave something else than PyTorch, or refused what PyTorch does."""


def draw_array(shape: Sequence[int], dtype: str, seed: int) -> np.ndarray[Any, Any]:
    """Numbers that both libraries begin with."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype == "int64":
        return random.integers(-4, 5, shape)
    return random.standard_normal(shape)


def torch_names() -> dict[str, Any]:
    """What statements can use, for PyTorch."""

    def old(x: Any) -> Any:
        return x.clone() if isinstance(x, torch.Tensor) else x

    def own(x: Any) -> Any:
        return x.contiguous()

    return {
        "__name__": __name__, "T": torch, "nn": torch.nn, "F": torch.nn.functional,
        "optim": torch.optim, "copy": copy, "jit": lambda function: function,
        "old": old, "own": own,
        "data": lambda *given: torch.tensor(draw_array(*given)),
        "realize": lambda *tensors: None, "prepare": lambda *tensors: None,
        "read": lambda tensor: tensor.tolist(), "inputs": _inputs(torch),
    }  # fmt: skip


def ogive_names() -> dict[str, Any]:
    """The same for Ogive."""

    def realize(*tensors: Any) -> None:
        ogive.Tensor.realize_batch(list(tensors))

    def prepare(*tensors: Any) -> None:
        ogive.Tensor.prepare_batch(list(tensors)).execute()

    return {
        "__name__": __name__, "T": ogive, "nn": ogive.nn, "F": ogive.nn.functional,
        "optim": ogive.optim, "copy": copy, "jit": ogive.jit,
        "old": lambda x: x, "own": lambda x: x,
        "data": lambda *given: ogive.Tensor(draw_array(*given)),
        "realize": realize, "prepare": prepare, "read": lambda tensor: tensor.tolist(),
        "inputs": _inputs(ogive),
    }  # fmt: skip


def _inputs(library: Any) -> Callable[[Any, int], None]:
    def fill(module: Any, seed: int) -> None:
        """Give the parameters of a module numbers that both libraries have."""
        with library.no_grad():
            for number, parameter in enumerate(module.parameters()):
                array = draw_array(tuple(parameter.shape), "float64", seed * 100 + number)
                parameter.copy_(library.asarray(array * 0.5))

    return fill


class Both:
    """A program under way: what each library knows by which name."""

    def __init__(self) -> None:
        self.torch = torch_names()
        self.ogive = ogive_names()

    def perform(self, statement: str) -> bool:
        """Run a statement by both; False where PyTorch refuses it, and it is passed over.

        Raises `Difference`.
        """
        if statement.startswith("check("):
            self.check(statement[6:-1].split(", "))
            return True
        try:
            exec(noticed(statement), self.torch)
        except Exception:
            return False
        try:
            exec(statement, self.ogive)
        except Exception as error:
            words = f"{statement!r} is refused: {type(error).__name__}: {error}"
            raise Difference(words) from error
        return True

    def check(self, names: Sequence[str]) -> None:
        """Compare what some names mean. Raises `Difference`."""
        for name in names:
            if name in self.torch:
                self._compare(name, self.torch[name], self.ogive[name])

    def check_all(self) -> None:
        """Compare all that there is, the latest first."""
        self.check([name for name in reversed(self.torch) if name[1:].isdigit()])

    def _compare(self, name: str, wanted: Any, found: Any) -> None:
        if isinstance(wanted, torch.Tensor):
            self._compare_tensors(name, wanted, found)
        elif isinstance(wanted, torch.nn.Module):
            for key, entry in wanted.state_dict().items():
                self._compare_tensors(f"{name}: {key}", entry, found.state_dict()[key])
            for key, entry in wanted.named_parameters():
                parameter = dict(found.named_parameters())[key]
                self._compare_tensors(f"{name}: {key}", entry, parameter)
        elif isinstance(wanted, list | tuple | dict):
            pairs = wanted.items() if isinstance(wanted, dict) else enumerate(wanted)
            for key, entry in pairs:
                self._compare(f"{name}[{key!r}]", entry, found[key])

    def _compare_tensors(self, name: str, wanted: torch.Tensor, found: ogive.Tensor) -> None:
        with contextlib.suppress(RuntimeError):
            wanted = wanted.resolve_conj()
        array = wanted.detach().numpy()
        if tuple(found.shape) != array.shape:
            raise Difference(f"{name} has the shape {found.shape}, not {array.shape}")
        if found.dtype.name != array.dtype.name:
            raise Difference(f"{name} has the dtype {found.dtype.name}, not {array.dtype}")
        if found.requires_grad != wanted.requires_grad:
            raise Difference(f"{name}.requires_grad is {found.requires_grad}")
        got = found.detach().numpy()
        if not agree(got, array):
            raise Difference(f"{name} is\n{got}\nnot\n{array}")
        if wanted.is_leaf and (wanted.grad is None) != (found.grad is None):
            raise Difference(f"{name}.grad is {found.grad}, not {wanted.grad}")
        if wanted.is_leaf and wanted.grad is not None and found.grad is not None:
            self._compare_tensors(f"{name}.grad", wanted.grad, found.grad)


def noticed(statement: str) -> str:
    """A statement for PyTorch, with `x.data` as a view that it knows to be one."""
    return re.sub(r"\.data\b(?! =)", ".detach()", statement)


def agree(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> bool:
    """Whether arrays are equal up to rounding."""
    if got.dtype.kind not in "fc":
        return bool(np.array_equal(got, wanted))
    largest = max(1.0, float(np.nanmax(np.abs(wanted), initial=0.0)))
    return bool(np.allclose(got, wanted, rtol=TOLERANCE, atol=TOLERANCE * largest, equal_nan=True))


def run(program: Program) -> None:
    """Run a program by both libraries. Raises `Difference`."""
    both = Both()
    for statement in program:
        if not both.perform(statement) and ".backward(" in statement:
            return  # some gradients may have been added before it was refused
    both.check_all()
