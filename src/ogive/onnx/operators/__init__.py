"""The operators, a module for each family; importing them fills the table."""

from ogive.onnx.operators import (
    attention,
    contrib_attention,
    contrib_layers,
    contrib_quantization,
    control,
    draws,
    elementwise,
    features,
    image_samples,
    images,
    indexing,
    linear,
    linear_models,
    movement,
    normalization,
    quantization,
    recurrent,
    reductions,
    signals,
    texts,
    training_steps,
    tree_ensembles,
    windows,
)

FAMILIES = (
    elementwise, movement, indexing, reductions, linear, windows, normalization, recurrent,
    attention, quantization, images, image_samples, signals, draws, texts, features, linear_models,
    tree_ensembles, training_steps, contrib_layers, contrib_attention, contrib_quantization,
    control,
)  # fmt: skip
