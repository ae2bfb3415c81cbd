"""ONNX models: read, looked at, and run.

wire         the protobuf wire format, bounded
messages     the messages of ONNX, read when asked for
elements     types of elements; the tensors of a file
narrow       types that are no dtype here, held in one that has their numbers
graph        graphs of nodes, checked when a model is loaded
table        operators by name, domain and opset
call         one node at work: inputs and attributes
operators    the operators, by family
walk         the walk over a graph
dynamic_lengths  lengths that are expressions, while a graph is walked
variable_axes    inputs of changing sizes: what changes is a variable
model_file   the file: looked through, known by its digest, built into a graph
model        `load`, and what it gives
ready_model  the graph as it runs, and what an earlier process knows of it
fold_constants   what depends on weights alone, computed once
trainable    a model whose weights are parameters
writing      messages as bytes
export/      graphs of tensors as models
backend      the interface by which the `onnx` package tests
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ogive.onnx.model import Info, Model, load
from ogive.onnx.table import OperatorError

if TYPE_CHECKING:
    from ogive.onnx.export.save import save
    from ogive.onnx.trainable import TrainableModel

__all__ = ["Info", "Model", "OperatorError", "TrainableModel", "load", "save"]

_LOADED_LATER = {"TrainableModel": "trainable", "save": "export.save"}
"""Names that a run of a model does without, and the modules that they are in."""


def __getattr__(name: str) -> Any:
    if name not in _LOADED_LATER:
        raise AttributeError(f"module 'ogive.onnx' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ogive.onnx.{_LOADED_LATER[name]}"), name)
    globals()[name] = value
    return value
