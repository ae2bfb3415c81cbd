"""A function and a call become nodes to compute and tensors to update.

The function runs once, on placeholders. What it did to tensors that were there before is undone
afterwards: the steady call does it, the first time as every time.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ogive.config import Config
from ogive.devices.buffer import Buffer
from ogive.engine.missing_values import flat_node
from ogive.engine.spread_values import layout_of
from ogive.errors import Origin, TraceError
from ogive.ir import dtype as dtypes
from ogive.ir.device_names import group_members, is_group
from ogive.ir.dtype import to_dtype
from ogive.ir.memory import memory_leaf, shaped
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.traversal import substitute, walk
from ogive.jit.argument_trees import (
    Call,
    argument_leaves,
    count_inputs,
    leaves,
    rebuild,
    refuse_empty,
    refuse_file_view,
)
from ogive.jit.guards.places import Place, Record, content_of
from ogive.jit.guards.reads import Reads
from ogive.jit.memories import (
    Number,
    are_there,
    layout_of_memory,
    leaves_of,
    numbers_of,
    part_node,
    select_part,
)
from ogive.jit.retrace_reasons import function_name
from ogive.jit.tracing.placeholders import flat_without_memory, tensor_on
from ogive.jit.tracing.traced_function import Fresh, Memory, Result, Spread, Trace, Update
from ogive.jit.tracing.watch import Found, Watch, trace_lock
from ogive.jit.tracing.watched_slots import watching
from ogive.live import history, registry
from ogive.tensor import build
from ogive.tensor.core import DEFAULT_DEVICE, memory_device, wrap
from ogive.tensor.creation.supplied_numbers import collecting
from ogive.tensor.tensor import Tensor

_FACTS = {"gradient": "grad", "is_flagged": "requires_grad", "hooks": "hooks"}
"""What the slots of tensors are called outside."""

ATTEMPTS = 3
"""How often a function is traced that leaves a tensor somewhere: one that only fills a cache does
so once."""

_LEFT_OVER = "this tensor was made while ogive.jit captured {name}() and has no values"


def trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    names: list[str],
    config: Config,
    call: Call,
) -> Trace:
    """Run the function on placeholders for this call. Raises `TraceError` where it cannot be."""
    from ogive import engine

    with trace_lock:
        attempts = 0
        while attempts < ATTEMPTS:
            run = _Run(function, args, kwargs, names, call)
            kept = run.kept_outside()
            pending = [found.tensor for found in run.found if is_pending(found.tensor, found.seen)]
            pending += [_give_gradient(tensor) for tensor in run.accumulating]
            if not pending and kept is None and not _separate(run.found):
                return run.finish()
            # Only memory can be found again at the next call; now it is, and once more. Another
            # thread may assign to it meanwhile, as often as it likes.
            engine.realize(pending, config)
            attempts += kept is not None
    assert kept is not None
    raise run.complaint(kept)


def _separate(found: list[Found]) -> bool:
    """Give tensors that the function changes memory of their own, where another that it finds has
    the same: a graph in which both are one value is not that of the next call. Whether any had."""
    shared = False
    with registry.effect_lock, registry.graph_lock:
        readers = Counter([flat for each in found for flat in leaves_of(each.tensor.node)])
        for each in found:
            node = each.tensor.node
            if each.final is each.given or not are_there(node):
                continue
            flats = leaves_of(node)
            # Parts are written in place; a tensor of one device moves where it may not be.
            own = {
                flat: _copied(flat)
                for flat in flats
                if readers[flat] > 1 or (len(flats) > 1 and registry.buffer_of(flat).borrowed)
            }
            if own:
                readers.subtract(list(own))
                registry.move_tensor(each.tensor, substitute((node,), own, revisit=False)[0])
                shared = True
    return shared


def _copied(flat: UOp) -> UOp:
    """Flat memory of its own with the same contents."""
    buffer = registry.buffer_of(flat)
    copy = Buffer(buffer.nbytes, buffer.device)
    copy.copy_from(buffer.contents("uint8", (buffer.nbytes,)))
    return flat_node(copy, flat.dtype, flat.size)


def is_pending(tensor: Tensor, node: UOp) -> bool:
    """Whether a tensor on this node is not memory yet and has to become it."""
    if are_there(node) or 0 in node.shape:
        return False
    refuse_file_view(tensor)
    return True


class _Run:
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
        with watching(self.watch, self._restore_gradients), collecting() as supplies:
            try:
                self.reads.begin(function, owners)
                self.returned = function(*changed_args, **changed_kwargs)
                for _, leaf in leaves(self.returned, ""):
                    if isinstance(leaf, Tensor):
                        self.watch.find(leaf)
            finally:
                self.reads.end()
        self.found = [found for found in self.watch.found.values() if not found.is_view]
        self.views = [found for found in self.watch.found.values() if found.is_view]
        self._check_views()
        self.supplies = supplies.uses
        self._check_arguments(before, _identities(changed_args, changed_kwargs, names))
        self._check_places()
        self.records = [*self.reads.settle(), *self._tensor_records()]

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
        found: list[Record] = []
        for name, entries in asked.items():
            for tensor, before in entries:
                if not hasattr(tensor, name):
                    setattr(tensor, name, before)  # so that it can be asked without a default
                path = f"{paths.get(id(tensor), 'a tensor')}.{_FACTS[name]}"
                found.append(Place(tensor, name, before, True, path))
                functions = getattr(before, "functions", None)
                if functions is not None:
                    found.append(content_of(functions, path))
        return found

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
        """What stands for one memory of an input: one for each buffer."""
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
        """What the function gets for an input, on these placeholders."""
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

    def _check_arguments(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        for path in {**before, **after}:
            if path not in before or path not in after or before[path] is not after[path]:
                raise TraceError(
                    f"{function_name(self.function)} replaces {path} inside its arguments, which a "
                    "captured function cannot do; change the tensor in place (assign, "
                    "x[...] = ...) or return the new one",
                    _definition(self.function),
                )

    def _check_views(self) -> None:
        """A view that the function found still shows what it showed."""
        for found in self.views:
            if found.left:
                raise TraceError(
                    f"{function_name(self.function)} changes which memory a tensor of shape "
                    f"{found.tensor.shape} shows, of which there are views, and a captured "
                    "function cannot do that; change it in place (copy_, data.copy_)",
                    _definition(self.function),
                )

    def _check_places(self) -> None:
        """A tensor that the function found is where it was."""
        found = {id(found.tensor) for found in (*self.found, *self.views)}
        replaced = [
            place
            for place in self.reads.places_of_tensors()
            if id(place.value) in found and place.now() is not place.value
        ]
        for place in replaced:
            place.restore()
        if replaced:
            raise TraceError(
                f"{function_name(self.function)} replaces {replaced[0].path}, which a captured "
                "function cannot do; change the tensor in place (assign, x[...] = ...) or return "
                "the new one",
                _definition(self.function),
            )

    def finish(self) -> Trace:
        """What was learned, once everything the function found is memory."""
        self.fresh: list[Fresh] = []
        self.spreads: list[Spread] = []
        memories = [memory for found in self.found for memory in _memories(found)]
        self._positions = {
            id(memory.tensor): Result("found", at)
            for at, memory in reversed(list(enumerate(memories)))
        }
        for at, tensor in reversed(list(enumerate(self.placeholders))):
            if isinstance(self.call.inputs[at], Tensor):
                self._positions[id(tensor)] = Result("input", at)
        results = self._results()
        updates = [*self._updated_inputs(), *self._updated_found(memories)]
        for placeholder in self.watch.placeholders.values():
            history.forget(placeholder)
        return Trace(
            self.flats, self.numbers, memories, self.views, results, self.fresh, self.spreads,
            updates, self.records, self.reads.unwatched, self.dropped, self.input_paths,
            self.supplies,
        )  # fmt: skip

    def _updated_inputs(self) -> Iterator[Update]:
        last = {
            (id(tensor), number): at
            for at, (tensor, number) in enumerate(zip(self.placeholders, self.numbers, strict=True))
        }
        for at in last.values():
            before, after = self.nodes_before[at], self.placeholders[at].node
            if after is not before and isinstance(self.call.inputs[at], Tensor):
                yield Update("input", at, _written(self.numbers[at], before, after))

    def _updated_found(self, memories: list[Memory]) -> Iterator[Update]:
        by_tensor = {id(found.tensor): found for found in self.found}
        for at, memory in enumerate(memories):
            found = by_tensor[id(memory.tensor)]
            if found.final is not found.given:
                yield Update("found", at, _written(memory.number, found.given, found.final))

    def _results(self) -> Any:
        for path, leaf in leaves(self.returned, "result"):
            if leaf is not None and not isinstance(leaf, Tensor):
                shown = repr(leaf)
                kind = type(leaf).__name__
                raise TraceError(
                    f"{function_name(self.function)} returned {kind} {shown[:60]} as {path}; a "
                    "captured function returns tensors, None, or tuples, lists, dictionaries and "
                    "dataclasses of them",
                    _definition(self.function),
                )
        return rebuild(self.returned, self._result)

    def _result(self, leaf: Tensor | None) -> Result | None:
        if leaf is None:
            return None
        known = self._positions.get(id(leaf))
        if known is None:
            node = next((view.final for view in self.views if view.tensor is leaf), leaf.node)
            known = self._positions[id(leaf)] = self._fresh_result(leaf, node)
        return known

    def _fresh_result(self, leaf: Tensor, node: UOp) -> Result:
        first = len(self.fresh)
        if not is_group(leaf.device):
            self.fresh.append(Fresh(node, memory_device(leaf), leaf.requires_grad))
            return Result("fresh", first)
        refuse_empty(leaf)
        layout = layout_of(node)
        assert layout is not None, "a tensor over several devices"
        for number, device in enumerate(layout.devices):
            with registry.graph_lock:
                part = select_part(node, layout, number)
                # A part may turn out to be memory of something else.
                part = registry.make(Op.CONTIGUOUS, node.dtype, (part,), ())
            self.fresh.append(Fresh(part, device, leaf.requires_grad))
        self.spreads.append(Spread(layout, tuple(range(first, len(self.fresh)))))
        return Result("spread", len(self.spreads) - 1)

    def kept_outside(self) -> Tensor | None:
        """A tensor that the function made and left somewhere, for later calls to find.

        Raises `TraceError` where it depends on the arguments: later calls would not change it.
        """
        if self._made_besides():
            self._release_rules()
            gc.collect()  # they may only be waiting for the collector
        kept = self._made_besides()
        for tensor in kept:
            if not set(self.flats).isdisjoint(tensor.node.walk()):
                raise self.complaint(tensor)
        self._fill_in(kept)
        return kept[0] if kept else None

    def _release_rules(self) -> None:
        """Let go of what rules of gradients hold: the function has called backward() if it ever
        does, and nothing goes back through a function that was captured."""
        results = [leaf.node for _, leaf in leaves(self.returned, "") if isinstance(leaf, Tensor)]
        updated = [found.final for found in self.found]
        for node in walk((*results, *updated, *[tensor.node for tensor in self.placeholders])):
            if node.op is Op.GRADIENT and hasattr(node.arg, "release"):
                node.arg.release()

    def _made_besides(self) -> list[Tensor]:
        returned = {id(leaf) for _, leaf in leaves(self.returned, "")}
        made = [reference() for reference in self.watch.made]
        return [tensor for tensor in made if tensor is not None and id(tensor) not in returned]

    def _fill_in(self, tensors: list[Tensor]) -> None:
        """Let tensors that remain read what the function found, and no placeholders."""
        with registry.graph_lock:
            memory = {
                memory_leaf(each.given): _flat(each, found.tensor.node is found.seen)
                for found in self.found if found.given is not found.seen
                for each in _memories(found)
            }  # fmt: skip
            for tensor in tensors:
                registry.move_tensor(tensor, substitute((tensor.node,), memory, revisit=False)[0])

    def complaint(self, tensor: Tensor) -> TraceError:
        """What is wrong with keeping a tensor."""
        return TraceError(
            f"a tensor that {function_name(self.function)} computes is kept somewhere outside, "
            "where later calls would not change it; return it, or assign() it to a tensor that was "
            "there before",
            tensor.origin,
        )


def _memories(found: Found) -> list[Memory]:
    """The memories of a tensor that the function found; where it is none, what it stands for."""
    return [
        Memory(found.tensor, n, part_node(found.seen, n), part_node(found.given, n), found.seen)
        for n in numbers_of(found.given)
    ]


def _written(number: Number, before: UOp, after: UOp) -> UOp:
    """The new value of one memory of a tensor that stood for `before`.

    That of a tensor over several devices is written to the part, as an assignment to it would be:

        MULTI(b0, b1)  →  v     AFTER(b0, ASSIGN(b0, MSELECT 0(v)))
    """
    layout = layout_of_memory(before)
    if layout is None or number is None:
        return after
    with registry.graph_lock:
        target = part_node(before, number)
        part = select_part(after, layout, number)
        store = registry.make(Op.ASSIGN, dtypes.void, (target, part))
        return registry.make(Op.AFTER, target.dtype, (target, store))


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


def _flat(memory: Memory, is_same: bool) -> UOp:
    """The elements of memory that the function found, as they are now, in a row."""
    flat, node = memory_leaf(memory.seen), memory.tensor.node
    if is_same or not all(isinstance(size, int) for size in node.shape):
        return flat
    layout = layout_of_memory(memory.tensor.node)
    if layout is not None and memory.number is not None:
        node = select_part(node, layout, memory.number)
    return build.reshape(node, flat.shape)


def _give_gradient(tensor: Tensor) -> Tensor:
    """A gradient of zeros, still to be computed, for a tensor that has none."""
    with registry.graph_lock:
        node = tensor.node
        tensor.gradient = made = wrap(build.filled(node.dtype, 0, node.shape), tensor.device)
    return made


def _is_identity(leaf: Any, call: Call) -> bool:
    return any(leaf is entry for entry in call.identities)


def _exchange(leaf: Any, given: Any) -> Any:
    """What the function gets for a leaf of its arguments."""
    if not isinstance(leaf, Tensor | numpy.ndarray):
        return leaf
    return next(given)


def _identities(args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return dict(argument_leaves(args, kwargs, names))


def _definition(function: Any) -> Origin | None:
    code = getattr(function, "__code__", None)
    return None if code is None else (code, -1)
