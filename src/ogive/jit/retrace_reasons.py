"""Why a function was traced again, in one line."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.compiler.ir.dtype import to_dtype
from ogive.compiler.live import history
from ogive.config import Config
from ogive.jit.argument_trees import Call, argument_leaves, count_inputs
from ogive.tensor import autocast_dtypes
from ogive.tensor.tensor import Tensor

Facts = dict[str, str]
"""For each leaf of the arguments, what a trace depends on."""


def function_name(function: Any) -> str:
    """The function's name and where it is."""
    code = getattr(function, "__code__", None)
    name = (getattr(function, "__qualname__", None) or repr(function)).replace("<locals>.", "")
    return f"{name}()" if code is None else f"{name}() ({code.co_filename}:{code.co_firstlineno})"


def describe_call(
    args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str], config: Config, call: Call
) -> Facts:
    """The facts that a trace for this call depends on, in words."""
    facts: Facts = {}
    first: dict[int, str] = {}
    memories = iter(call.memories)
    for path, leaf in argument_leaves(args, kwargs, names):
        facts[path] = _describe(leaf)
        if isinstance(leaf, Tensor | numpy.ndarray):
            memory = next(memories)
            for _ in range(1, count_inputs(leaf)):
                next(memories)
            facts[path] += ", borrowed" if getattr(memory, "borrowed", False) else ""
            twin = first.setdefault(id(leaf), first.setdefault(id(memory), path))
            if twin != path and 0 not in leaf.shape:
                facts[path] += f", in the memory of {twin}"
    for name, value in [*zip(names, args, strict=False), *sorted(kwargs.items())]:
        if isinstance(value, tuple | list | dict):
            facts[f"type of {name}"] = type(value).__name__
    facts["configuration"] = ", ".join(map(str, (*config.code_key, config.threads)))
    dtype = autocast_dtypes.current()
    if dtype is not None:
        facts["autocast"] = dtype.name
    return facts


def _describe(leaf: Any) -> str:
    if isinstance(leaf, Tensor):
        flagged = ", a leaf" if history.is_flagged(leaf) else ""
        return f"{leaf.dtype.name} {leaf.shape} on {leaf.device}{flagged}"
    if isinstance(leaf, numpy.ndarray):
        return f"{to_dtype(leaf.dtype).name} {leaf.shape} array"
    kind = type(leaf).__name__
    return f"{leaf!r:.60}" if leaf is None or isinstance(leaf, bool) else f"{kind} {leaf!r:.60}"


def difference(before: Facts, after: Facts) -> str:
    """The difference between two calls, in words."""
    changes = []
    for path in {**before, **after}:
        old, new = before.get(path, "absent"), after.get(path, "absent")
        if old != new:
            changes.append(f"{path}: {old} → {new}")
    shown = "; ".join(changes[:3])
    more = f" (and {len(changes) - 3} more)" if len(changes) > 3 else ""
    return shown + more or "the earlier trace was dropped, or what it was made for is gone"
