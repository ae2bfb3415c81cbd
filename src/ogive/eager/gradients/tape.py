"""The backward pass over the records of eager tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy

from ogive.eager.gradients.records import Leaf, Record, Source, leaves_under, records_under
from ogive.eager.tensors import take_up
from ogive.tensor.core import Core
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUMBER = operator.attrgetter("number")

def way_back(root: Source) -> list[Record]:
    """The records that gradients go back through from one, in the order in which they do."""
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
        parts = record.form.gradient(given, record.out, *record.args, **record.kwargs)
        for source, part in zip(record.sources, parts, strict=True):
            if source is None or part is None:
                continue
            if part.__class__ is FunctionType:  # that is to be computed only if it is wanted
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
    """The gradient that a backward pass begins with; None if that is not for a tape to do."""
    if tensor.record is None:
        return None
    if gradient is None:
        return numpy.ones_like(tensor.value) if tensor.value.size == 1 else None
    if not isinstance(gradient, Core) or not (gradient.is_eager or take_up(gradient)):
        return None
    fits = gradient.value.shape == tensor.value.shape and gradient.value.dtype == tensor.value.dtype
    return gradient.value if fits and gradient.record is None else None


def is_watched(root: Source, way: list[Record]) -> bool:
    """Whether hooks are to be called with the gradient of something on the way."""
    if any(record.is_watched for record in way):
        return True
    for leaf in [root] if root.is_leaf else leaves_under(way):
        tensor = leaf.tensor()
        if tensor is not None and getattr(tensor, "hooks", None) is not None:
            return True
    return False
