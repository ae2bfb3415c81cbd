"""Which arguments of a captured function are donated: results may take over their memory."""

from __future__ import annotations

import inspect
from typing import Any

from ogive.errors import ArgumentError, ArgumentTypeError, nearest
from ogive.jit.argument_trees import Call

Names = frozenset[int | str]
"""Parameters by name, those that have none by position."""


def parameter_names(function: Any) -> list[str]:
    """The names of the parameters that take positional arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def donated_names(donate: Any, names: list[str]) -> Names:
    """The parameters that `donate` names. Raises `ArgumentError` where there is no such one."""
    given = (donate,) if isinstance(donate, int | str) else tuple(donate)
    chosen: set[int | str] = set()
    for entry in given:
        if isinstance(entry, bool) or not isinstance(entry, int | str):
            raise ArgumentTypeError(f"donate takes positions and names of arguments, got {entry!r}")
        if isinstance(entry, int) and names:
            if not 0 <= entry < len(names):
                raise ArgumentError(
                    f"donate: there is no argument {entry}; the function takes {', '.join(names)}"
                )
            entry = names[entry]
        elif isinstance(entry, str) and names and entry not in names:
            raise ArgumentError(
                f"donate: there is no argument {entry!r}{nearest(entry, names)}; the function "
                f"takes {', '.join(names)}"
            )
        chosen.add(entry)
    return frozenset(chosen)


def donated_inputs(
    donated: Names, names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[int]:
    """The positions of donated tensors among the inputs of a call."""
    if not donated:
        return []
    given: list[tuple[int | str, Any]] = [
        (names[at] if at < len(names) else at, value) for at, value in enumerate(args)
    ]
    given += [(name, kwargs[name]) for name in sorted(kwargs)]
    positions: list[int] = []
    seen = 0
    for name, value in given:
        count = len(Call((value,), {}).inputs)
        if name in donated:
            positions.extend(range(seen, seen + count))
        seen += count
    return positions
