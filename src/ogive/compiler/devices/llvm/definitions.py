"""Functions in LLVM IR that kernels call, such as those of `devices/llvm/math`."""

from __future__ import annotations

from collections.abc import Iterable

from ogive.named import NamedTuple


class Definition(NamedTuple):
    """A function in LLVM IR, the intrinsics that it declares and the definitions that it calls."""

    symbol: str
    text: str
    declarations: frozenset[str] = frozenset()
    requires: tuple[Definition, ...] = ()


def definitions(needed: Iterable[Definition]) -> list[Definition]:
    """The definitions and all that they require, each once, callees before callers."""
    by_symbol: dict[str, Definition] = {}

    def visit(definition: Definition) -> None:
        if definition.symbol not in by_symbol:
            for requirement in definition.requires:
                visit(requirement)
            by_symbol[definition.symbol] = definition

    for definition in needed:
        visit(definition)
    return list(by_symbol.values())
