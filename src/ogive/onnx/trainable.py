"""A loaded model as a module: its weights are parameters, and gradients flow through its nodes."""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.nn.module import Module
from ogive.nn.parameter import Parameter
from ogive.nn.parameter_containers import ParameterDict
from ogive.onnx.call import to_tensor
from ogive.onnx.model import Model
from ogive.onnx.narrow import Narrow
from ogive.onnx.walk import Walk
from ogive.tensor.tensor import Tensor


class TrainableModel(Module):
    """A model of an ONNX file that can be trained further, and saved again.

    Floats of one axis or more are parameters, by the names they have in the file; all else stays
    as it is.

    >>> module = ogive.onnx.TrainableModel(ogive.onnx.load("model.onnx"))  # doctest: +SKIP
    >>> optimizer = ogive.optim.AdamW(module.parameters())  # doctest: +SKIP
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self.weights = ParameterDict(
            {
                name: Parameter(to_tensor(value).to(DEFAULT_DEVICE).contiguous().realize())
                for name, value in model.graph.constants.items()
                if _is_trained(value)
            }
        )

    def forward(self, *inputs: Any) -> Any:
        """The output, or a tuple of the outputs, for inputs by position."""
        walk = Walk()
        given = [each if isinstance(each, Tensor) else Tensor(each) for each in inputs]
        values = walk.run_with(self.model.graph, given, dict(self.weights.items()))
        results = tuple(to_tensor(value, "an output") for value in values)
        return results[0] if len(results) == 1 else results

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The parameters by the names they have in the file."""
        return dict(self.weights.items())


def _is_trained(value: Any) -> bool:
    if isinstance(value, Narrow):
        return False
    kind = value.dtype.is_float if isinstance(value, Tensor) else value.dtype.kind == "f"
    return bool(kind) and len(value.shape) > 0
