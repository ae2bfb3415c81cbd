"""Parametric graphs for tests of later passes: normalized, and without calls."""

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.capture import normalize as normalizing
from ogive.compiler.passes.capture.inline_calls import inline_calls
from ogive.compiler.passes.capture.normalize import Normalized


def normalize(roots: tuple[UOp, ...], whole: bool = False) -> Normalized:
    """What passes get of a tensor graph."""
    return inline_calls(normalizing.normalize(roots, whole))
