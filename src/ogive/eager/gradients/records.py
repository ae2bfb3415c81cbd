"""Records: the operations that computed eager tensors.

    y = x * w          y.record: the form of `mul`, the arrays of x and w, the record of w
    loss = y.sum()     loss.record: the form of `sum`, the array of y, the record of y

The arrays in a record are never written to (`writing.py`), so a backward pass can use it at any
time, whatever happens to the tensors. When its tensor settles, a record becomes the same expression
of plain tensors.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history
from ogive.compiler.live.registry import make
from ogive.compiler.live.waiting_plans import is_unexecuted
from ogive.errors import GradientError
from ogive.tensor import autocast_dtypes
from ogive.tensor.core import DEFAULT_DEVICE, hold
from ogive.tensor.creation import user_data
from ogive.tensor.gradients.gradient_hooks import Hooks, hooked
from ogive.tensor.memory.movement_chains import UNNOTICED
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.eager.forms import Form

Source = Any
"""The origin of an operand: a `Record`, a `Leaf`, or None if no gradient flows to it."""

_number = itertools.count(1).__next__


class Leaf:
    """The record of a tensor that requires gradients."""

    __slots__ = ("__weakref__", "tensor")

    is_leaf = True
    number = 0

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = weakref.ref(tensor)

    def plain(self, array: NDArray[Any]) -> Tensor:
        """The leaf as a plain tensor. `array` holds its values when it was read."""
        leaf = self.tensor()
        if leaf is None:
            return Tensor(array).requires_grad_()
        now = leaf.value if leaf.is_eager else _in_memory(leaf)
        if now is not array and not (
            now is not None and numpy.array_equal(now, array, equal_nan=True)
        ):
            raise Overtaken(leaf)
        leaf.node  # noqa: B018  (it settles)
        return leaf


def _in_memory(leaf: Tensor) -> NDArray[Any] | None:
    """The values in the memory of a plain leaf; None if the leaf has a pending value.

    Nothing is computed: the caller holds `graph_lock`, and a computation would wait for it.
    """
    memory = user_data.memory_of(leaf.node)
    if memory is None or memory.is_absent or is_unexecuted(memory):
        return None
    return user_data.read_memory(leaf)


class Overtaken(Exception):
    """A leaf was changed after an operation had used it.

    The results of that operation are known, but their expression cannot be repeated.
    """

    def __init__(self, leaf: Tensor) -> None:
        super().__init__()
        self.leaf = leaf

    def value_of(self, memory: UOp) -> UOp:
        """A node over a value that raises `GradientError` when a gradient flows to it."""
        return make(Op.GRADIENT, memory.dtype, (memory, self.leaf.node), _OVERTAKEN)


class _Overtaken:
    """The rule of a `GRADIENT` node for a value that cannot be computed again."""

    __slots__ = ()

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        raise GradientError(
            f"a gradient flows to a tensor of shape {node.inputs[0].shape} that was changed after "
            "it was used; compute the results again, or call backward() before the change"
        )


_OVERTAKEN = _Overtaken()


class Record:
    """One operation: its form, its arguments with arrays in the place of tensors, and the sources
    of these arrays.

    Its result is `out`. The `hooks` of the result's tensor are called with the gradient of the
    result.
    """

    __slots__ = ("_plain", "args", "form", "hooks", "kwargs", "number", "out", "sources")

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
        self.hooks: Hooks | None = None

    def watch(self, hooks: Hooks, plain: Tensor) -> None:
        """Add the hooks of the record's tensor, which has settled to `plain`."""
        self.hooks = hooks
        if self._plain is None:
            self._plain = plain

    def plain(self) -> Tensor:
        """The result as an expression of plain tensors. Not recursive, since chains may be long."""
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

    def plain_as(self, array: NDArray[Any]) -> Tensor:
        """The result as an expression, where it was used with the values in `array`.

        They are others if it was written to without a record: through `detach()`, for example.
        """
        assert self._plain is not None, "records are repeated in order"
        if self.has_values(array):
            return self._plain
        node = self._plain.node
        inputs = (user_data.node_of(array, None, DEFAULT_DEVICE), node)
        return hold(make(Op.GRADIENT, node.dtype, inputs, UNNOTICED), DEFAULT_DEVICE)

    def has_values(self, array: NDArray[Any]) -> bool:
        """Whether an array has the values that were computed."""
        out = self.out[0] if isinstance(self.out, tuple) else self.out
        return array is out or numpy.array_equal(array, out, equal_nan=True)

    def _repeat(self) -> Tensor:
        sources = iter(self.sources)

        def to_plain(value: Any) -> Any:
            if value.__class__ is numpy.ndarray:
                source = next(sources)
                if source is None:
                    return Tensor(value)
                return source.plain(value) if source.is_leaf else source.plain_as(value)
            if value.__class__ in (list, tuple):
                return type(value)([to_plain(entry) for entry in value])
            return value

        args = [to_plain(value) for value in self.args]
        kwargs = {name: to_plain(value) for name, value in self.kwargs.items()}
        made: Any = self.form.function(*args, **kwargs)
        first: Tensor = made[0] if isinstance(made, tuple) else made
        if self.hooks is None:
            return first
        return hold(hooked(first.node, self.hooks), first.device)


def records_under(root: Source) -> list[Record]:
    """The records from which a record follows, itself included, each once."""
    found: dict[int, Record] = {}
    stack = [root]
    while stack:
        record = stack.pop()
        if record is not None and not record.is_leaf and id(record) not in found:
            found[id(record)] = record
            stack += record.sources
    return list(found.values())


def leaves_under(records: list[Record]) -> Iterator[Leaf]:
    """The leaves to which gradients of records flow."""
    for record in records:
        for source in record.sources:
            if source is not None and source.is_leaf:
                yield source
