"""The operators, a module for each family; importing them fills the table."""

from ogive.onnx.operators import (
    attention,
    control,
    draws,
    elementwise,
    images,
    indexing,
    linear,
    movement,
    normalization,
    quantization,
    recurrent,
    reductions,
    signals,
    texts,
    windows,
)

FAMILIES = (
    elementwise, movement, indexing, reductions, linear, windows, normalization, recurrent,
    attention, quantization, images, signals, draws, texts, control,
)  # fmt: skip
