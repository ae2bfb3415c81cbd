"""PyTorch's operators as its own database calls them, in `ogive.torch`: by name and signature.

`python -m tests.torch.operator_database` runs samples of all and counts; it takes half an hour.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections import Counter
from typing import Any

import torch as pytorch

import ogive
import ogive.torch
from tests.conformance.check import check
from tests.conformance.database import OPERATORS

SPACES = ("", "nn.functional", "linalg", "fft", "special", "signal.windows", "_C._nn", "Tensor")
SAMPLES = 2


def _walk(root: Any, path: str) -> Any:
    """What a dotted path leads to, or None."""
    found, full = root, root.__name__
    for part in filter(None, path.split(".")):
        full = f"{full}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(full)
            except ImportError:
                return None
    return found


def _paths() -> dict[int, list[str]]:
    """Where each function of PyTorch's is, by its id."""
    found: dict[int, list[str]] = {}
    for space in SPACES:
        module = _walk(pytorch, space)
        for name in dir(module):
            function = getattr(module, name, None)
            if callable(function):
                found.setdefault(id(function), []).append(f"{space}.{name}".strip("."))
    return found


PATHS = _paths()


def find(operator: Any) -> Any:
    """What the operator calls, with `torch` being ours; None where there is none."""
    function = operator.op
    for path in PATHS.get(id(function), []):
        found = _walk(ogive.torch, path.replace("_C._nn.", "nn.functional."))
        if found is not None:
            return found
    if isinstance(function, types.FunctionType) and "testing._internal" in function.__module__:
        known = {**function.__globals__, "torch": ogive.torch, "F": ogive.torch.nn.functional}
        made = types.FunctionType(
            function.__code__, known, function.__name__, function.__defaults__, function.__closure__
        )
        made.__kwdefaults__ = function.__kwdefaults__
        return made
    method = getattr(ogive.Tensor, getattr(function, "__name__", ""), None)
    return _walk(ogive.torch, operator.name) or method


def main() -> int:
    """Run the samples, print what fails, and count."""
    counts: Counter[str] = Counter()
    for label, operator in OPERATORS.items():
        function = find(operator)
        result = None if function is None else check(operator, SAMPLES, function=function)
        if result is None:
            counts["absent"] += 1
            print(f"{label}: absent", flush=True)
        elif result.unexplained:
            counts["fail"] += 1
            print(result.unexplained[0], flush=True)
        else:
            counts["pass, with stated differences" if result.reasons else "pass"] += 1
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
