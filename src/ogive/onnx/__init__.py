"""ONNX models: read, looked at, and run.

wire         the protobuf wire format, bounded
messages     the messages of ONNX, read when asked for
elements     types of elements; the tensors of a file
graph        graphs of nodes, checked when a model is loaded
table        operators by name, domain and opset
call         one node at work: inputs and attributes
operators    the operators, by family
walk         the walk over a graph
model        `load`, and what it gives
backend      the interface by which the `onnx` package tests
"""

from ogive.onnx.model import Info, Model, load
from ogive.onnx.table import OperatorError

__all__ = ["Info", "Model", "OperatorError", "load"]
