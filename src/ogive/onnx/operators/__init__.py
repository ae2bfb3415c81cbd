"""The operators, a module for each family; importing them fills the table."""

from ogive.onnx.operators import (
    attention,
    control,
    draws,
    elementwise,
    features,
    images,
    indexing,
    linear,
    linear_models,
    movement,
    normalization,
    quantization,
    recurrent,
    reductions,
    sampling,
    signals,
    texts,
    training_steps,
    tree_ensembles,
    windows,
)

FAMILIES = (
    elementwise, movement, indexing, reductions, linear, windows, normalization, recurrent,
    attention, quantization, images, sampling, signals, draws, texts, features, linear_models,
    tree_ensembles, training_steps, control,
)  # fmt: skip
