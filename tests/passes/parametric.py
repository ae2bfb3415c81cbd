"""Parametric graphs for tests of later passes: normalized, and without calls."""

from ogive.ir.node import UOp
from ogive.passes.capture import normalize as normalizing
from ogive.passes.capture.inline_calls import inline_calls
from ogive.passes.capture.normalize import Normalized


def normalize(roots: tuple[UOp, ...], whole: bool = False) -> Normalized:
    """What passes get of a tensor graph."""
    return inline_calls(normalizing.normalize(roots, whole))
