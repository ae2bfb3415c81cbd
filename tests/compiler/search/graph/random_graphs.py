"""Random graphs of products, sums, functions and movement."""

from __future__ import annotations

from random import Random

from benchmarks.random_graphs import random_tensor
from ogive.compiler.ir.node import UOp
from tests.compiler.passes.parametric import normalize


def random_sink(seed: int) -> UOp:
    """The parametric graph of a random tensor."""
    return normalize((random_tensor(Random(seed)).node,)).sink
