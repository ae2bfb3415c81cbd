"""The functions that a gradient function hands gradients on to, as programs print and draw them."""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history
from ogive.eager.gradients.records import Leaf
from ogive.eager.methods import RecordedFunction
from ogive.tensor.gradients.differentiation import GradientFunction, computed_by

NextFunctions = tuple[tuple[Any, int], ...]


class AccumulateGrad:
    """Where gradients end: they are added to `grad` of the leaf, `variable`."""

    next_functions: NextFunctions = ()

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def name(self) -> str:
        """PyTorch's name."""
        return "torch::autograd::AccumulateGrad"

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {id(self):#x}>"


class TBackward0:
    """PyTorch's linear layers turn their weight, which is a step of its own there."""

    def __init__(self, weight: tuple[Any, int]) -> None:
        self.next_functions = (weight,)

    def name(self) -> str:
        """PyTorch's name."""
        return "TBackward0"

    def __repr__(self) -> str:
        return f"<TBackward0 object at {id(self):#x}>"


def next_functions(self: GradientFunction) -> NextFunctions:
    """The functions that gradients go on to, in PyTorch's order."""
    if isinstance(self, RecordedFunction):
        functions = [_from_source(source) for source in self.record.sources]
        called = self.record.form.function.__name__
    else:
        functions = [_from_node(node) for node in self.node.src if node.dtype.is_float]
        called = str(self.node.arg[0]).rpartition(".")[2] if self.node.op is Op.CALL else ""
    if called == "linear" and len(functions) == 3:
        first, weight, bias = functions
        return (bias, first, (TBackward0(weight), 0))
    return tuple(functions)


def _from_source(source: Any) -> tuple[Any, int]:
    if source is None:
        return (None, 0)
    if isinstance(source, Leaf):
        return (AccumulateGrad(source.tensor()), 0)
    return (RecordedFunction(source), 0)


def _from_node(node: UOp) -> tuple[Any, int]:
    made_by = computed_by(node)
    if history.is_version(made_by):
        return (AccumulateGrad(history.leaf_of(made_by)), 0)
    return (GradientFunction(made_by, None), 0) if made_by.src else (None, 0)
