"""Parametric graphs for tests of later passes: normalized, and without calls."""

from ogive.ir.node import UOp
from ogive.passes.graph import normalize as normalizing
from ogive.passes.graph.inline_calls import inline_calls
from ogive.passes.graph.normalize import Normalized


def normalize(roots: tuple[UOp, ...], whole: bool = False) -> Normalized:
    """What passes get of a tensor graph."""
    return inline_calls(normalizing.normalize(roots, whole))
