"""Why a function was traced again, in one line."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from ogive.config import Config
from ogive.ir.dtype import to_dtype
from ogive.jit.trees import argument_leaves
from ogive.tensor.tensor import Tensor

Facts = dict[str, str]
"""For each leaf of the arguments, what a trace depends on."""


def describe_call(
    args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str], config: Config
) -> Facts:
    """What a trace for this call depends on, in words."""
    facts: Facts = {}
    objects: dict[int, str] = {}
    for path, leaf in argument_leaves(args, kwargs, names):
        facts[path] = _describe(leaf)
        if isinstance(leaf, Tensor | numpy.ndarray):
            twin = objects.setdefault(id(leaf), path)
            if twin != path:
                facts[path] += f", the same as {twin}"
    facts["configuration"] = ", ".join(map(str, (*config.code_key, config.threads)))
    return facts


def _describe(leaf: Any) -> str:
    if isinstance(leaf, Tensor):
        return f"{leaf.dtype.name} {leaf.shape} on {leaf.device}"
    if isinstance(leaf, numpy.ndarray):
        return f"{to_dtype(leaf.dtype).name} {leaf.shape} array"
    kind = type(leaf).__name__
    return f"{leaf!r:.60}" if leaf is None or isinstance(leaf, bool) else f"{kind} {leaf!r:.60}"


def difference(before: Facts, after: Facts) -> str:
    """What changed from one call to another."""
    changes = []
    for path in {**before, **after}:
        old, new = before.get(path, "absent"), after.get(path, "absent")
        if old != new:
            changes.append(f"{path}: {old} → {new}")
    shown = "; ".join(changes[:3])
    more = f" (and {len(changes) - 3} more)" if len(changes) > 3 else ""
    return shown + more or "which arguments share memory, or the trace was dropped to make room"


def log(name: str, reason: str) -> None:
    """Print one line."""
    print(f"ogive: recompile {name}: {reason}", file=sys.stderr)
