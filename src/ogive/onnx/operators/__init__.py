"""The operators, a module for each family. Loading a family puts its operators into the table."""

from __future__ import annotations

import importlib

from ogive.onnx.table import Entry, find_loaded

FAMILIES = (
    "elementwise", "movement", "matrix_products", "convolution_and_pooling", "reductions",
    "indexing", "layer_functions", "recurrent_steps", "sequence_attention", "quantization",
    "control", "contrib_layers", "contrib_attention", "contrib_group_attention",
    "contrib_quantization", "features", "linear_models", "tree_ensembles", "vector_machines",
    "texts", "draws", "images", "image_samples", "image_files", "signals", "training_steps",
)  # fmt: skip
"""All families, the commonest first: a model loads them up to the last one that it needs."""

CONTRIB, LEARNERS = "com.microsoft", "ai.onnx.ml"

_FIRST = {
    CONTRIB: (
        "contrib_layers", "contrib_attention", "contrib_group_attention", "contrib_quantization"
    ),
    LEARNERS: ("tree_ensembles", "linear_models", "features", "vector_machines"),
}
"""Where operators of other domains are, as a rule."""

_loaded: set[str] = set()


def find(domain: str, name: str, version: int) -> Entry | None:
    """The operator of that name in that opset."""
    found = find_loaded(domain, name, version)
    for family in (*_FIRST.get(domain, ()), *FAMILIES):
        if found is not None:
            break
        if family not in _loaded:
            importlib.import_module(f"ogive.onnx.operators.{family}")
            _loaded.add(family)
            found = find_loaded(domain, name, version)
    return found
