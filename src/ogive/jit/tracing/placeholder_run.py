"""One run of a function on placeholders, undone as far as others can see.

The arguments, and the tensors that the function finds by itself, stand on memory without values
meanwhile. What the function did to tensors that were there before is undone afterwards: the steady
call does it, the first time as every time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ogive.compiler.ir.device_names import group_members, is_group
from ogive.compiler.ir.dtype import to_dtype
from ogive.compiler.ir.memory import shaped
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history, registry
from ogive.errors import TraceError
from ogive.jit.argument_trees import Call, argument_leaves, count_inputs, leaves, rebuild
from ogive.jit.guards.places import Place, Record, content_of
from ogive.jit.guards.reads import Reads
from ogive.jit.memories import Number, layout_of_memory, numbers_of, part_node
from ogive.jit.tracing.placeholders import flat_without_memory, tensor_on
from ogive.jit.tracing.refusals import (
    refuse_moved_views,
    refuse_replaced_arguments,
    refuse_replaced_tensors,
)
from ogive.jit.tracing.traced_function import Memory
from ogive.jit.tracing.watch import CapturedTensor, Watch
from ogive.jit.tracing.watched_slots import watching
from ogive.tensor import build
from ogive.tensor.core import DEFAULT_DEVICE, wrap
from ogive.tensor.creation.supplied_numbers import collecting
from ogive.tensor.tensor import Tensor

_FACTS = {"gradient": "grad", "is_flagged": "requires_grad", "hooks": "hooks"}
"""The names of tensors' slots in messages."""

_LEFT_OVER = "this tensor was made while ogive.jit captured {name}() and has no values"


class PlaceholderRun:
    """One run of the function on placeholders, undone as far as others can see."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        names: list[str],
        call: Call,
    ) -> None:
        self.function = function
        self.call = call
        self.named = list(argument_leaves(args, kwargs, names))
        given = [entry for entry in self.named if isinstance(entry[1], Tensor | numpy.ndarray)]
        self.input_paths = [path for path, leaf in given for _ in range(count_inputs(leaf))]
        owners = [(path, leaf) for path, leaf in self.named if _is_identity(leaf, call)]
        with registry.graph_lock:
            first = wrap(build.constant(to_dtype("int32"), 0), DEFAULT_DEVICE).id
        message = _LEFT_OVER.format(name=getattr(function, "__name__", "a function"))
        self.watch = Watch(first, message)
        self.reads = Reads(first)
        self._make_placeholders()
        stand_ins = iter([self.stand_ins[id(leaf)] for _, leaf in given])
        changed_args, changed_kwargs = (
            rebuild(args, lambda leaf: _exchange(leaf, stand_ins)),
            {name: rebuild(kwargs[name], lambda leaf: _exchange(leaf, stand_ins))
             for name in sorted(kwargs)},
        )  # fmt: skip
        before = _identities(changed_args, changed_kwargs, names)
        try:
            self._run(changed_args, changed_kwargs, owners)
            refuse_moved_views(function, self.views)
            after = _identities(changed_args, changed_kwargs, names)
            refuse_replaced_arguments(function, before, after)
            refuse_replaced_tensors(function, self.reads, [*self.captured, *self.views])
        except BaseException:
            self.reads.undo()
            raise
        self.records = [*self.reads.settle(), *self._tensor_records()]

    def _run(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], owners: list[tuple[str, Any]]
    ) -> None:
        """Call the function, and note what it finds."""
        with watching(self.watch, self._restore_gradients), collecting() as supplies:
            try:
                self.reads.begin(self.function, owners)
                self.returned = self.function(*args, **kwargs)
                for _, leaf in leaves(self.returned, ""):
                    if isinstance(leaf, Tensor):
                        self.watch.find(leaf)
            finally:
                self.reads.end()
        self.captured = [each for each in self.watch.captured.values() if not each.is_view]
        self.views = [each for each in self.watch.captured.values() if each.is_view]
        self.supplies = supplies.uses

    def _tensor_records(self) -> list[Record]:
        """Whether tensors have gradients and hooks and are leaves, where the function has asked.

        A function that finds a gradient adds to it: it is another function where there is none.
        """
        watch = self.watch
        paths = {id(place.value): place.path for place in self.reads.places_of_tensors()}
        asked: dict[str, list[tuple[Any, Any]]] = {
            "gradient": [
                entry for at, entry in watch.gradients.items() if at not in watch.discarded
            ],
            "is_flagged": list(watch.flags.values()),
            "hooks": list(watch.hooks.values()),
        }
        records: list[Record] = []
        for name, entries in asked.items():
            for tensor, before in entries:
                if not hasattr(tensor, name):
                    setattr(tensor, name, before)  # so that it can be asked without a default
                path = f"{paths.get(id(tensor), 'a tensor')}.{_FACTS[name]}"
                records.append(Place(tensor, name, before, True, path))
                functions = getattr(before, "functions", None)
                if functions is not None:
                    records.append(content_of(functions, path))
        return records

    def _make_placeholders(self) -> None:
        """One tensor per distinct input, on one memory per distinct buffer."""
        flats: dict[int, UOp] = {}
        self.stand_ins: dict[int, Tensor] = {}
        self.numbers: list[Number] = []
        self.flats: list[UOp] = []
        self.placeholders: list[Tensor] = []
        inputs, memories = self.call.inputs, self.call.memories
        while len(self.flats) < len(inputs):
            at = len(self.flats)
            value = inputs[at]
            numbers = (None,) if isinstance(value, numpy.ndarray) else numbers_of(value.node)
            own = [
                self._placeholder(value, number, memories[at + place], flats)
                for place, number in enumerate(numbers)
            ]
            if id(value) not in self.stand_ins:
                self.stand_ins[id(value)] = self._stand_in(value, own, self.input_paths[at])
            self.numbers += numbers
            self.flats += own
            self.placeholders += [self.stand_ins[id(value)]] * len(own)
        self.nodes_before = [tensor.node for tensor in self.placeholders]

    def _placeholder(
        self, value: Any, number: Number, memory: Any, flats: dict[int, UOp]
    ) -> UOp:
        """The placeholder of one memory of an input: one for each buffer."""
        is_array = isinstance(value, numpy.ndarray)
        # Empty tensors share their memory, whatever their dtype.
        same = id(value) if 0 in value.shape else id(memory)
        if same not in flats:
            dtype = to_dtype(value.dtype) if is_array else value.dtype
            shape = value.shape if number is None else part_node(value.node, number).shape
            device = DEFAULT_DEVICE if is_array else value.device
            if number is not None:
                device = group_members(device)[number]
            borrowed = is_array or memory.borrowed
            flats[same] = flat_without_memory(
                shape, dtype, device, TraceError, self.watch.message, borrowed
            )
        return flats[same]

    def _stand_in(self, value: Any, flats: list[UOp], path: str) -> Tensor:
        """The tensor that the function gets for an input, on these placeholders."""
        device = DEFAULT_DEVICE if isinstance(value, numpy.ndarray) else value.device
        if not is_group(device):
            tensor = tensor_on(flats[0], value.shape, device)
        else:
            tensor = _spread_on(flats, value)
        if history.is_flagged(value):
            history.mark_leaf(tensor)
            tensor.hooks = getattr(value, "hooks", None)
            if value.grad is not None:
                self.watch.withheld[tensor.id] = path
        return tensor

    def _restore_gradients(self) -> None:
        """Put back the gradients of tensors that were there before.

        A gradient that takes the place of another is an update of that; one that the function
        dropped, every call drops. One that is new goes with the trace if every call begins without;
        else calls add to it, and it has to be there before.
        """
        self.watch.withheld.clear()
        self.dropped: list[Tensor] = []
        self.accumulating: list[Tensor] = []
        for tensor, before in self.watch.gradients.values():
            after = tensor.grad
            if tensor.id in self.watch.discarded:
                self.dropped.append(tensor)
            elif before is not None and after is not None and after is not before:
                registry.move_tensor(before, after.node)
            elif before is not None and after is None:
                self.dropped.append(tensor)
            elif before is None and after is not None and tensor.id not in self.watch.cleared:
                self.accumulating.append(tensor)
            tensor.gradient = before
        for placeholder in self.placeholders:
            placeholder.gradient = None


def memories_of(captured: CapturedTensor) -> list[Memory]:
    """The memories of a captured tensor; where it is none, what it stands for."""
    return [
        Memory(
            captured.tensor,
            number,
            part_node(captured.seen, number),
            part_node(captured.given, number),
            captured.seen,
        )
        for number in numbers_of(captured.given)
    ]


def _spread_on(flats: list[UOp], value: Tensor) -> Tensor:
    """A tensor that lies as `value` does, on flat memory for each of its parts."""
    layout = layout_of_memory(value.node)
    assert layout is not None, "memory over several devices"
    with registry.graph_lock:
        shape = layout.part_shape(value.shape)
        parts = tuple([shaped(flat, shape) for flat in flats])
        for part in parts:
            registry.connect(part)
        node = registry.make(Op.MULTI, value.dtype, parts, tuple(layout))
        if history.is_flagged(value):
            node = registry.make(Op.GRADIENT, node.dtype, (node,), history.Argument())
        return wrap(node, value.device)


def _is_identity(leaf: Any, call: Call) -> bool:
    return any(leaf is entry for entry in call.identities)


def _exchange(leaf: Any, given: Any) -> Any:
    """The value that the function gets for a leaf of its arguments."""
    if not isinstance(leaf, Tensor | numpy.ndarray):
        return leaf
    return next(given)


def _identities(args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return dict(argument_leaves(args, kwargs, names))
