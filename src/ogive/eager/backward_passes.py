"""`backward()` and `autograd.grad` of eager tensors, by the tape."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.autograd import tensors as tensor_gradients
from ogive.eager import tape
from ogive.eager.forms import is_captured
from ogive.eager.records import Leaf, leaves_under
from ogive.eager.second_gradients import recorded_gradients
from ogive.eager.tensors import give, is_alone
from ogive.eager.writing import write
from ogive.tensor.core import Core
from ogive.tensor.gradients import differentiation
from ogive.tensor.tensor import Tensor


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the gradient of this tensor to `grad` of every leaf that it was computed from."""
    record = self.record
    upstream = None if is_captured() else tape.upstream(self, gradient)
    way = [] if upstream is None else tape.way_back(record)
    if upstream is None or tape.is_watched(record, way):
        differentiation.backward(self, gradient, retain_graph, create_graph)
    elif not create_graph:
        tape.gradients(record, way, upstream, _deliver)
    elif (found := recorded_gradients(record, way, upstream)) is not None:
        for leaf in dict.fromkeys([record] if record.is_leaf else leaves_under(way)):
            if id(leaf) in found:
                _deliver_recorded(leaf, found[id(leaf)])
    else:
        differentiation.backward(self, gradient, retain_graph, create_graph)


def _deliver(leaf: Leaf, total: Any) -> None:
    """Add to the gradient of a leaf, where it is alive."""
    tensor = leaf.tensor()
    if tensor is None or not getattr(tensor, "is_flagged", False):
        return
    known = getattr(tensor, "gradient", None)
    if known is None:
        tensor.gradient = give(numpy.array(total))
    elif known.is_eager and known.record is None:
        if is_alone(known):
            known.value = known.value + total
        else:
            write(known, ..., known.value + total)
    else:
        tensor.gradient = known + give(numpy.array(total))


def _deliver_recorded(leaf: Leaf, total: Tensor) -> None:
    """The same with a gradient that has one itself."""
    tensor = leaf.tensor()
    if tensor is not None and getattr(tensor, "is_flagged", False):
        known = getattr(tensor, "gradient", None)
        tensor.gradient = total if known is None else known + total


def gradients_for(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...] | None:
    """`autograd.grad` of one eager tensor; None for what is left to the graph."""
    wanted = inputs if isinstance(inputs, list | tuple) else [inputs]
    if isinstance(outputs, list | tuple) and len(outputs) == 1:
        (outputs,) = outputs
    if isinstance(grad_outputs, list | tuple) and len(grad_outputs) == 1:
        (grad_outputs,) = grad_outputs
    if is_captured() or not isinstance(outputs, Tensor) or not outputs.is_eager:
        return None
    if any(not isinstance(x, Core) or not x.is_eager or x.record is None for x in wanted):
        return None
    upstream = tape.upstream(outputs, grad_outputs)
    if upstream is None:
        return None
    record = outputs.record
    way = tape.way_back(record)
    if tape.is_watched(record, way):
        return None
    found: dict[int, Any] = {}
    if create_graph:
        found = recorded_gradients(record, way, upstream)
        if found is None:
            return None
    else:
        found |= tape.gradients(
            record, way, upstream, lambda leaf, total: found.__setitem__(id(leaf), total)
        )
    parts = [found.get(id(x.record)) for x in wanted]
    if not (allow_unused or materialize_grads) and any(part is None for part in parts):
        return None
    results: list[Tensor | None] = []
    for tensor, part in zip(wanted, parts, strict=True):
        if part is None and materialize_grads:
            part = numpy.zeros_like(tensor.value)
        is_made = part is None or isinstance(part, Tensor)
        results.append(part if is_made else give(numpy.array(part)))
    return tuple(results)


METHODS = {"backward": backward}
"""What eager tensors do by themselves."""

CALLS = {tensor_gradients.grad: gradients_for}
"""What functions ask of eager tensors before they do it themselves."""
