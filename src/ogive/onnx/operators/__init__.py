"""The operators, a module for each family; importing them fills the table."""

from ogive.onnx.operators import (
    contrib_attention,
    contrib_layers,
    contrib_quantization,
    control,
    convolution_and_pooling,
    draws,
    elementwise,
    features,
    image_files,
    image_samples,
    images,
    indexing,
    layer_functions,
    linear_models,
    matrix_products,
    movement,
    quantization,
    recurrent_steps,
    reductions,
    sequence_attention,
    signals,
    texts,
    training_steps,
    tree_ensembles,
)

FAMILIES = (
    elementwise, movement, indexing, reductions, matrix_products, convolution_and_pooling,
    layer_functions, recurrent_steps, sequence_attention, quantization, images, image_files,
    image_samples, signals, draws, texts, features, linear_models, tree_ensembles, training_steps,
    contrib_layers, contrib_attention, contrib_quantization, control,
)  # fmt: skip
