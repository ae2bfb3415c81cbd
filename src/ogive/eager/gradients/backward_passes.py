"""`backward()` and `autograd.grad` for eager tensors, by the tape."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.autograd import tensor_gradients
from ogive.eager.forms import NOT_DONE, is_captured
from ogive.eager.gradients import second_derivatives, tape
from ogive.eager.gradients.records import Leaf, Source, leaves_under
from ogive.eager.tensors import give, is_alone
from ogive.eager.writing import write
from ogive.tensor.core import DEFAULT_DEVICE, Core
from ogive.tensor.gradients import differentiation, gradient_hooks
from ogive.tensor.gradients.gradient_hooks import Hooks
from ogive.tensor.tensor import Tensor


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradient of this tensor to `grad` of every leaf that it was computed from, or of the
    `inputs` alone."""
    if inputs is not None:
        differentiation.backward(self, gradient, retain_graph, create_graph, inputs)
        return
    record = self.record
    upstream = None if is_captured() else tape.upstream(self, gradient)
    way = [] if upstream is None else tape.way_back(record)
    if upstream is None or (create_graph and tape.is_watched(record, way)):
        differentiation.backward(self, gradient, retain_graph, create_graph)
    elif not create_graph:
        reached: list[Tensor] = []
        tape.gradients(record, way, upstream, lambda leaf, total: _deliver(leaf, total, reached))
        for tensor in reached:
            tensor.hooks.call_afterwards(tensor)
    else:
        leaves = list(dict.fromkeys(leaves_under(way)))
        found = _differentiable(self, gradient, leaves)
        if found is None:
            differentiation.backward(self, gradient, retain_graph, create_graph)
            return
        for leaf in leaves:
            if id(leaf) in found:
                _deliver_recorded(leaf, found[id(leaf)])


def _deliver(leaf: Leaf, total: Any, reached: list[Tensor]) -> None:
    """Add `total` to the gradient of a leaf, if it is alive. Leaves with hooks join `reached`."""
    tensor = leaf.tensor()
    if tensor is None or not getattr(tensor, "is_flagged", False):
        return
    hooks = getattr(tensor, "hooks", None)
    if hooks is not None:
        total = tape.changed(hooks, total)
        reached.append(tensor)
    known = getattr(tensor, "gradient", None)
    if known is None:
        tensor.gradient = give(numpy.array(total))
    elif known.is_eager and known.record is None:
        if is_alone(known):
            known.value = numpy.asarray(known.value + total)  # NumPy gives a number for scalars
        else:
            write(known, ..., known.value + total)
    else:
        tensor.gradient = known + give(numpy.array(total))


def _deliver_recorded(leaf: Leaf, total: Tensor) -> None:
    """Add to the gradient of a leaf a gradient that has a record itself."""
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
    """`autograd.grad` of one eager tensor; None if it is left to the graph."""
    wanted = inputs if isinstance(inputs, list | tuple) else [inputs]
    if isinstance(outputs, list | tuple) and len(outputs) == 1:
        (outputs,) = outputs
    if isinstance(grad_outputs, list | tuple) and len(grad_outputs) == 1:
        (grad_outputs,) = grad_outputs
    if is_captured() or not isinstance(outputs, Tensor) or not outputs.is_eager:
        return None
    if any(not isinstance(x, Core) or not x.is_eager or x.record is None for x in wanted):
        return None
    if outputs.record is None:
        return None
    way = tape.way_back(outputs.record)
    if tape.is_watched(outputs.record, way):
        return None
    if create_graph:
        found = _differentiable(outputs, grad_outputs, [x.record for x in wanted])
    else:
        found = _gradients(outputs, way, grad_outputs, wanted)
    if found is None:
        return None
    results = [found.get(id(x.record)) for x in wanted]
    if materialize_grads:
        pairs = zip(wanted, results, strict=True)
        results = [give(numpy.zeros_like(x.value)) if made is None else made for x, made in pairs]
    if not allow_unused and any(made is None for made in results):
        return None
    return tuple(results)


def _gradients(
    outputs: Tensor, way: list[Any], weights: Any, wanted: Any
) -> dict[int, Tensor] | None:
    """The gradients, by the ids of leaves and records; None if they are left to the graph."""
    upstream = tape.upstream(outputs, weights)
    if upstream is None:
        return None
    found: dict[int, Any] = {}
    reached = tape.gradients(
        outputs.record, way, upstream, lambda leaf, total: found.__setitem__(id(leaf), total)
    )
    found |= reached
    sources = [id(x.record) for x in wanted]
    return {source: give(numpy.array(found[source])) for source in sources if source in found}


def _differentiable(
    outputs: Tensor, weights: Any, sources: list[Source]
) -> dict[int, Tensor] | None:
    """The gradients as tensors that can be differentiated again, by the ids of leaves and records.

    None if they are left to the graph.
    """
    if outputs.record.is_leaf:
        return None
    try:
        upstream = second_derivatives.upstream(outputs, weights)
        return second_derivatives.gradients(outputs.record, upstream, sources)
    except NOT_DONE:
        return None


def hooks_of(tensor: Tensor) -> Hooks | None:
    """The hooks of an eager tensor to which gradients flow; None if it is left to the graph."""
    if is_captured() or tensor.record is None:
        return None
    holder = tensor if tensor.record.is_leaf else tensor.record
    hooks: Hooks | None = getattr(holder, "hooks", None)
    if hooks is None:
        hooks = holder.hooks = Hooks(DEFAULT_DEVICE)
    return hooks


METHODS = {"backward": backward}
"""The methods that eager tensors override."""

CALLS = {tensor_gradients.grad: gradients_for, gradient_hooks.hooks_of: hooks_of}
"""The eager versions of functions, which these call first."""
