"""The operators, a module for each family; importing them fills the table."""

from ogive.onnx.operators import (
    control,
    elementwise,
    indexing,
    linear,
    movement,
    normalization,
    reductions,
    windows,
)

FAMILIES = (
    elementwise, movement, indexing, reductions, linear, windows, normalization, control,
)  # fmt: skip
