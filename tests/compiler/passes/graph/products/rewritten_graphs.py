"""Graphs before and after a rewrite, evaluated by the interpreter on the same random numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from tests.tensor.interpreter import evaluate_node


def assert_same_value(before: UOp, after: UOp, rtol: float, atol: float) -> None:
    """Both graphs give the same for parameters of bfloat16."""
    draw = np.random.default_rng(1)
    given = {
        node: draw.standard_normal(node.shape).astype(ml_dtypes.bfloat16)
        for node in before.walk()
        if node.op is Op.PARAM
    }
    ours, expected = [
        evaluate_node(sink.src[0], dict(given)).astype(np.float64) for sink in (after, before)
    ]
    np.testing.assert_allclose(ours, expected, rtol=rtol, atol=atol)
