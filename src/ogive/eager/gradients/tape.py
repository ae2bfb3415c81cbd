"""The backward pass over the records of eager tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy

from ogive.eager.from_plain import take_up
from ogive.eager.gradients.records import Leaf, Record, Source, leaves_under, records_under
from ogive.eager.tensors import give
from ogive.tensor.core import Core
from ogive.tensor.gradients.gradient_hooks import Hooks, checked
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUMBER = operator.attrgetter("number")


def way_back(root: Source) -> list[Record]:
    """The records of a backward pass from `root`, in the order of the pass."""
    return [] if root.is_leaf else sorted(records_under(root), key=_NUMBER, reverse=True)


def gradients(
    root: Source,
    way: list[Record],
    upstream: NDArray[Any],
    deliver: Callable[[Leaf, NDArray[Any]], None],
) -> dict[int, NDArray[Any]]:
    """Go back from a record, and `deliver` the gradient of each leaf once it is known.

    Gives the gradients of all records that were reached, by their ids.
    """
    if root.is_leaf:
        deliver(root, upstream)
        return {}
    found: dict[int, NDArray[Any]] = {id(root): upstream}
    leaves: dict[int, Leaf] = {}
    for record in way:
        given = found.get(id(record))
        if given is None:
            continue
        if record.hooks is not None:
            given = found[id(record)] = changed(record.hooks, given)
        parts = record.form.gradient(given, record.out, *record.args, **record.kwargs)
        for source, part in zip(record.sources, parts, strict=True):
            if source is None or part is None:
                continue
            if part.__class__ is FunctionType:  # a gradient that is computed only if wanted
                part = part()
            key = id(source)
            known = found.get(key)
            if known is not None:
                part = known + part
            elif source.is_leaf:
                leaves[key] = source
            found[key] = part
    for key, leaf in leaves.items():
        deliver(leaf, found.pop(key))
    return found


def upstream(tensor: Tensor, gradient: Any) -> Any:
    """The gradient with which a backward pass begins; None if the tape cannot do the pass."""
    if tensor.record is None:
        return None
    if gradient is None:
        return numpy.ones_like(tensor.value) if tensor.value.size == 1 else None
    if not isinstance(gradient, Core) or not (gradient.is_eager or take_up(gradient)):
        return None
    fits = gradient.value.shape == tensor.value.shape and gradient.value.dtype == tensor.value.dtype
    return gradient.value if fits and gradient.record is None else None


def changed(hooks: Hooks, gradient: NDArray[Any]) -> NDArray[Any]:
    """The gradient of a tensor after its hooks, which may replace it or write to it."""
    made = give(numpy.array(gradient))
    for function in list(hooks.functions):
        returned = function(made)
        if returned is not None:
            made = give(_array_of(checked(returned, made.shape, made.dtype)))
    if hooks.keep is not None:
        hooks.keep(made)
    return _array_of(made)


def _array_of(tensor: Tensor) -> NDArray[Any]:
    return numpy.array(tensor.value if tensor.is_eager else tensor.detach().numpy())


def is_watched(root: Source, way: list[Record]) -> bool:
    """Whether a record or leaf on the way has hooks."""
    return any(record.hooks is not None for record in way) or any(
        hooks_of_leaf(leaf) is not None for leaf in ([root] if root.is_leaf else leaves_under(way))
    )


def hooks_of_leaf(leaf: Leaf) -> Hooks | None:
    """The hooks of a leaf, if it is alive and has any."""
    tensor = leaf.tensor()
    return None if tensor is None else getattr(tensor, "hooks", None)
