"""The operators, a module for each family. Loading a family puts its operators into the table.

values/     computed element by element, over axes, as products; draws, texts
shapes/     which element stands where
layers/     layers of networks
images/     images: resized, sampled, decoded
control/    graphs inside of graphs, and what trains
microsoft/  the operators of com.microsoft
learners/   those of ai.onnx.ml
"""

from __future__ import annotations

import importlib

from ogive.onnx.table import Entry, find_loaded

FAMILIES = (
    "values.elementwise", "shapes.movement", "values.matrix_products",
    "layers.convolution_and_pooling", "values.reductions", "shapes.indexing",
    "layers.layer_functions", "layers.recurrent_steps", "layers.sequence_attention",
    "layers.quantization", "control.subgraphs", "microsoft.contrib_layers",
    "microsoft.contrib_attention", "microsoft.contrib_group_attention",
    "microsoft.contrib_quantization", "learners.features", "learners.linear_models",
    "learners.tree_ensembles", "learners.vector_machines", "values.texts", "values.draws",
    "images.resizing", "images.image_samples", "images.image_files", "values.signals",
    "control.training_steps",
)  # fmt: skip
"""All families, the commonest first: a model loads them up to the last one that it needs."""

CONTRIB, LEARNERS = "com.microsoft", "ai.onnx.ml"

_FIRST = {
    CONTRIB: (
        "microsoft.contrib_layers", "microsoft.contrib_attention",
        "microsoft.contrib_group_attention", "microsoft.contrib_quantization",
    ),
    LEARNERS: (
        "learners.tree_ensembles", "learners.linear_models", "learners.features",
        "learners.vector_machines",
    ),
}  # fmt: skip
"""The families in which operators of other domains are, as a rule."""

_loaded: set[str] = set()


def find(domain: str, name: str, version: int) -> Entry | None:
    """The operator of that name in that opset."""
    entry = find_loaded(domain, name, version)
    for family in (*_FIRST.get(domain, ()), *FAMILIES):
        if entry is not None:
            break
        if family not in _loaded:
            importlib.import_module(f"ogive.onnx.operators.{family}")
            _loaded.add(family)
            entry = find_loaded(domain, name, version)
    return entry
