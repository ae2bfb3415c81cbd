"""Lines run by both libraries, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import torch as pytorch

import ogive.torch

Lines = list[str]
Shown = list[tuple[str, Any]]
Spreads = Sequence[np.ndarray[Any, Any] | None]

TOLERANCES = {
    "float64": 1e-8, "float32": 2e-4, "complex64": 2e-4, "float16": 1e-2, "bfloat16": 6e-2,
}  # fmt: skip


def names_for(library: ModuleType, shown: Shown) -> dict[str, Any]:
    """What lines may use besides builtins; `check` notes the values of tensors."""

    def make(seed: int, shape: tuple[int, ...], dtype: str) -> Any:
        """Small whole numbers, which most operations treat exactly."""
        random = np.random.default_rng(seed)
        low, high = (0, 2) if dtype == "bool" else (0 if dtype == "uint8" else -5, 6)
        values = random.integers(low, high, shape)
        return library.tensor(values).to(getattr(library, dtype))

    def floats(seed: int, *shape: int) -> Any:
        values = np.random.default_rng(seed).standard_normal(shape)
        return library.tensor(values.astype(np.float32))

    def places(seed: int, shape: tuple[int, ...], length: int, low: int = 0) -> Any:
        return library.tensor(np.random.default_rng(seed).integers(low, max(length, 1), shape))

    def check(*tensors: Any) -> None:
        for tensor in tensors:
            dtype = str(tensor.dtype).rpartition(".")[2]
            plain = tensor.detach().float() if dtype in ("bfloat16", "float16") else tensor.detach()
            shown.append((dtype, np.array(plain.numpy())))

    def captured(function: Any) -> Any:
        return function if library is pytorch else library.compile(function)

    return {
        "torch": library, "F": library.nn.functional, "make": make, "floats": floats,
        "places": places, "check": check, "captured": captured,
    }  # fmt: skip


def run(library: ModuleType, lines: Lines) -> Shown:
    """What a program shows under a library."""
    shown: Shown = []
    exec(compile("\n".join(lines), "lines", "exec"), names_for(library, shown))
    return shown


def difference(lines: Lines, spreads: Spreads | None = None) -> str | None:
    """What `ogive.torch` does otherwise than PyTorch, if anything.

    `spreads` is for each tensor how far its numbers may be besides, or None where it may be
    anything: see `tests.hunt.rounding`.
    """
    wanted = run(pytorch, lines)
    try:
        found = run(ogive.torch, lines)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if len(found) != len(wanted):
        return f"{len(found)} tensors are shown, not {len(wanted)}"
    for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
        spread = 0.0 if spreads is None else spreads[number]
        if spread is not None and (words := _compare(one, other, spread)):
            return f"tensor {number}: {words}"
    return None


def _compare(wanted: tuple[str, Any], found: tuple[str, Any], spread: Any) -> str | None:
    (dtype, one), (given, other) = wanted, found
    if dtype != given or one.shape != other.shape:
        return f"{given} of {other.shape}, not {dtype} of {one.shape}"
    if dtype not in TOLERANCES:
        same = (one == other) | (np.asarray(spread) > 0)
    else:
        size = np.abs(one[np.isfinite(one)]).max(initial=1.0)
        bound = TOLERANCES[dtype]
        same = np.isclose(other, one, rtol=bound, atol=bound * size + spread, equal_nan=True)
    if same.all():
        return None
    place = np.unravel_index(int(np.argmin(same)), one.shape)
    return f"{other[place]}, not {one[place]}, at {place}"


def count_computed(lines: Lines) -> int:
    """How many tensors a program shows that are not just its inputs."""
    made = sum("= make(" in line for line in lines)
    return len(run(pytorch, lines)) - made
