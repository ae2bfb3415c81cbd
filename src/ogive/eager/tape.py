"""What eager tensors were computed by, and the backward pass over it.

    y = x * w          y.record: the form of `mul`, the arrays of x and w, the record of w
    loss = y.sum()     loss.record: the form of `sum`, the array of y, the record of y

A record holds arrays, which nobody writes to from then on (`writing.py`): it can be gone through at
any time, whatever becomes of the tensors. It can also be turned into the same expression of plain
tensors, when its tensor settles.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ogive.eager.tensors import take_up
from ogive.errors import GradientError
from ogive.live import history
from ogive.tensor import autocast_dtypes
from ogive.tensor.core import Core
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.eager.forms import Form

Source = Any
"""What an operand comes from: a `Record`, a `Leaf`, or None if no gradient flows to it."""

_number = itertools.count(1).__next__


class Leaf:
    """The record of a tensor that gradients are wanted for."""

    __slots__ = ("__weakref__", "tensor")

    is_leaf = True
    number = 0

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = weakref.ref(tensor)

    def plain(self, array: NDArray[Any]) -> Tensor:
        """The leaf as a plain tensor, that had the values `array` when it was read."""
        leaf = self.tensor()
        if leaf is None:
            return Tensor(array).requires_grad_()
        is_same = leaf.value is array if leaf.is_eager else numpy.array_equal(leaf.numpy(), array)
        if not is_same:
            raise GradientError(
                f"a tensor of shape {tuple(array.shape)} that gradients are wanted for was changed "
                "after it was computed with; compute the values again that follow from it"
            )
        leaf.node  # noqa: B018  (it settles)
        return leaf


class Record:
    """One operation: its form, its arguments with arrays for tensors, and where each of these comes
    from. Its result is `out`."""

    __slots__ = ("_plain", "args", "form", "kwargs", "number", "out", "sources")

    is_leaf = False

    def __init__(
        self, form: Form, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, sources: Any
    ) -> None:
        self.form = form
        self.args = args
        self.kwargs = kwargs
        self.out = out
        self.sources: tuple[Source, ...] = sources
        self.number = _number()
        self._plain: Tensor | None = None

    def plain(self) -> Tensor:
        """The result as an expression of plain tensors. Nothing recurses: chains may be long."""
        recording = history.set_recording(True)
        is_cast = autocast_dtypes.current() is not None
        if is_cast:
            autocast_dtypes.enter(None)
        try:
            for record in sorted(records_under(self), key=lambda each: each.number):
                if record._plain is None:
                    record._plain = record._repeat()
        finally:
            if is_cast:
                autocast_dtypes.leave()
            history.set_recording(recording)
        assert self._plain is not None
        return self._plain

    def _repeat(self) -> Tensor:
        sources = iter(self.sources)

        def to_plain(value: Any) -> Any:
            if value.__class__ is numpy.ndarray:
                source = next(sources)
                if source is None:
                    return Tensor(value)
                return source.plain(value) if source.is_leaf else source._plain
            if value.__class__ in (list, tuple):
                return type(value)([to_plain(entry) for entry in value])
            return value

        args = [to_plain(value) for value in self.args]
        kwargs = {name: to_plain(value) for name, value in self.kwargs.items()}
        made: Any = self.form.function(*args, **kwargs)
        first: Tensor = made[0] if isinstance(made, tuple) else made
        return first


def records_under(root: Source) -> list[Record]:
    """The records that a record follows from, itself included, each once."""
    found: dict[int, Record] = {}
    stack = [root]
    while stack:
        record = stack.pop()
        if record is not None and not record.is_leaf and id(record) not in found:
            found[id(record)] = record
            stack += record.sources
    return list(found.values())


def leaves_under(records: list[Record]) -> Iterator[Leaf]:
    """The leaves that gradients of records reach."""
    for record in records:
        for source in record.sources:
            if source is not None and source.is_leaf:
                yield source


def gradients(
    root: Source, upstream: NDArray[Any], deliver: Callable[[Leaf, NDArray[Any]], None]
) -> dict[int, NDArray[Any]]:
    """Go back from a record, and `deliver` the gradient of each leaf once it is known.

    Gives the gradients of all records that were reached, by their ids.
    """
    if root.is_leaf:
        deliver(root, upstream)
        return {}
    order = sorted(records_under(root), key=lambda each: each.number, reverse=True)
    found: dict[int, NDArray[Any]] = {id(root): upstream}
    totals: dict[int, tuple[Leaf, NDArray[Any]]] = {}
    for record in order:
        given = found.get(id(record))
        if given is None:
            continue
        parts = record.form.gradient(given, record.out, *record.args, **record.kwargs)
        for source, part in zip(record.sources, parts, strict=True):
            if source is None or part is None:
                continue
            key = id(source)
            if source.is_leaf:
                known = totals.get(key)
                totals[key] = (source, part if known is None else known[1] + part)
            else:
                known_part = found.get(key)
                found[key] = part if known_part is None else known_part + part
    for leaf, total in totals.values():
        deliver(leaf, total)
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


def is_watched(record: Any) -> bool:
    """Whether hooks are to be called with the gradient of some leaf."""
    found = records_under(record)
    leaves = [record] if record.is_leaf else leaves_under(found)
    for leaf in leaves:
        tensor = leaf.tensor()
        if tensor is not None and getattr(tensor, "hooks", None) is not None:
            return True
    return False
