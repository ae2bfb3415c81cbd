"""The table of operations: ours, the reference (PyTorch, in float64 where floats are), and inputs.

A case is run for every dtype it takes, on every shape, plain and through views, by
`test_numerics.py`. A module a family.
"""

from __future__ import annotations

from tests.tensor.table import (
    activations,
    composed,
    elementwise,
    movement,
    namespaces,
    products,
    reductions,
    shaping,
)
from tests.tensor.table.case import Case

CASES: list[Case] = [
    case
    for family in (
        elementwise, composed, activations, reductions, movement, shaping, products,
        namespaces,
    )
    for case in family.CASES
]  # fmt: skip
