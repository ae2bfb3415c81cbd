"""Traces that outlive the process, of functions that somebody vouches for.

Nobody can say of any Python function what it will do, so it is traced in every process. Some stand
for a thing whose content is known: the graph of a file. Such a `KnownFunction` has a digest of all
that decides what it does, but for the values of tensors, which it knows by name. What a trace of it
came to is kept on disk, and the next process neither traces it nor looks at a graph:

    first process     call → trace → compiled graph     on disk: its key, whose its slots are
    next ones         call → compiled graph from disk   tensors by their names

Only plain traces are kept: of functions that read tensors on the CPU and make new ones, of lengths
that are numbers; and only of a function's first kind of call in its process, since what others
compile to depends on those before them. Of a recalled trace nobody knows the nodes; where a kernel
of it faults, the function is traced after all, to say what stood in the user's line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.engine.caches.graph_cache import key_on_disk, load_graph_at
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.store.content_keys import Key
from ogive.compiler.store.disk_cache import Disk, disk_for
from ogive.compiler.store.encoding import CannotEncode
from ogive.compiler.store.records import GraphRecord
from ogive.compiler.store.rows import Kind
from ogive.compiler.store.trace_records import Place, ResultRecord, TraceRecord, pack_trace
from ogive.config import Config
from ogive.errors import TraceError
from ogive.jit.argument_trees import Call, rebuild
from ogive.jit.tracing.placeholders import flat_without_memory, tensor_on
from ogive.jit.tracing.prepare import Owner, Prepared, ResultSlot
from ogive.jit.tracing.traced_function import Memory, Result, Trace
from ogive.named import NamedTuple
from ogive.tensor.tensor import Tensor

MOST_CONSTANT_BYTES = 1 << 16
"""Numbers that a function makes itself are kept with its trace, up to so many bytes of them."""


class KnownFunction(Protocol):
    """A function whose content is known."""

    @property
    def digest(self) -> bytes | None:
        """A digest of all that it does; None as long as nobody can vouch for it."""

    def names(self) -> Mapping[int, str | None]:
        """The names of the tensors that it may capture, by their ids; None for one whose elements
        the digest stands for."""

    def tensors(self, names: Sequence[str]) -> list[Tensor] | None:
        """The tensors of these names, in memory; it keeps them alive. None if one is not there."""

    def make_ready(self) -> None:
        """Do what it needs before it is traced."""


def recall(function: KnownFunction, call: Call, config: Config) -> tuple[Trace, Prepared] | None:
    """The trace of a function for a call of this kind that an earlier process kept."""
    place = _place(function, call, config)
    if place is None:
        return None
    disk, key = place
    record = disk.find_trace(key)
    if record is None or record.inputs != len(call.inputs):
        return None
    tensors = function.tensors(record.captured)
    if tensors is None:
        return None
    constants = [_memory_with(each) for each in record.constants]
    given: dict[str, Sequence[Any]] = {
        "input": call.memories, "captured": tensors, "constant": constants
    }  # fmt: skip
    sizes = {
        number: given[kind][position].nbytes for number, (kind, position) in record.parameters
    }

    def fits(graph: GraphRecord) -> bool:
        return _fits(graph, sizes, record.results)

    graph = load_graph_at(record.graph, fits, config)
    return None if graph is None else (_trace(record, tensors), _prepared(record, graph, constants))


def keep(
    function: KnownFunction, call: Call, trace: Trace, prepared: Prepared, config: Config
) -> None:
    """Let later processes recall a trace, if it is a plain one."""
    place = _place(function, call, config)
    graph = None if place is None else key_on_disk(prepared.normalized.sink, config)
    if place is None or graph is None or not _is_plain(call, trace, prepared):
        return
    disk, key = place
    own, content = disk.function_key(function.digest or b""), _content(function, trace, prepared)
    if own is None or content is None:
        return
    record = TraceRecord(
        graph=graph,
        inputs=len(call.inputs),
        captured=content.names,
        parameters=content.parameters,
        constants=content.constants,
        results=tuple([_result(each, prepared.graph) for each in prepared.results]),
        returned=content.returned,
    )
    disk.write([(Kind.TRACE, own, b""), (Kind.TRACE, key, pack_trace(record))], config)


def without_values(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Arguments of the same kind without the values of tensors and arrays."""
    return rebuild(args, _without_values), rebuild(kwargs, _without_values)


def _without_values(leaf: Any) -> Any:
    if isinstance(leaf, numpy.ndarray):
        return numpy.empty(leaf.shape, leaf.dtype)
    if not isinstance(leaf, Tensor):
        return leaf
    borrowed = registry.buffer_of(memory_leaf(leaf.node)).borrowed
    message = "an argument of a captured function of which only the kind is known"
    flat = flat_without_memory(leaf.shape, leaf.dtype, leaf.device, TraceError, message, borrowed)
    return tensor_on(flat, leaf.shape, leaf.device)


def is_known(function: KnownFunction, config: Config) -> bool:
    """Whether a function has been captured before, for some kind of call."""
    disk, digest = disk_for(config), function.digest
    return disk is not None and digest is not None and disk.has_function(digest)


def _place(function: KnownFunction, call: Call, config: Config) -> tuple[Disk, Key] | None:
    """Where the trace for a call is kept."""
    disk, digest = disk_for(config), function.digest
    if disk is None or digest is None or call.identities or call.variables:
        return None
    prefix, *arguments = call.key
    if type(prefix) is not int:  # a mode of this thread
        return None
    try:
        text = _text_of((prefix < 0, tuple(arguments))).encode()
    except CannotEncode:
        return None
    target_key = find_device(DEFAULT_DEVICE).target_key(config)
    key = disk.trace_key(digest, text, target_key, config)
    return None if key is None else (disk, key)


def _text_of(value: Any) -> str:
    """A part of a call's key as text that is the same in all processes. Raises `CannotEncode`."""
    if isinstance(value, tuple | list):
        return f"({', '.join([_text_of(each) for each in value])})"
    if isinstance(value, DType):
        return value.name
    if isinstance(value, numpy.dtype):
        return str(value.str)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, str):
        return repr(str(value))
    if value is None or type(value) in (bool, int, bytes):
        return repr(value)
    raise CannotEncode(f"a {type(value).__name__}")


# Keeping


def _is_plain(call: Call, trace: Trace, prepared: Prepared) -> bool:
    """Whether a trace has all that matters in its record."""
    graph = prepared.graph
    if trace.views or trace.updates or trace.spreads or trace.dropped or trace.supplies:
        return False
    if prepared.moved or prepared.written or graph.variables or prepared.normalized.is_general:
        return False
    if any(number is not None for number in [*trace.numbers, *[f.number for f in trace.captured]]):
        return False
    if any(slot.device != DEFAULT_DEVICE for slot in graph.slots):
        return False
    if type(trace.results) is not list or not all(map(_is_result, trace.results)):
        return False
    return all(map(_is_plain_result, prepared.results))


def _is_plain_result(result: ResultSlot) -> bool:
    is_there = result.slot is not None and result.donated is None
    is_fixed = all(isinstance(size, int) for size in result.shape)
    return is_there and is_fixed and not result.flows and result.device == DEFAULT_DEVICE


def _is_result(leaf: Any) -> bool:
    return isinstance(leaf, Result)


class _Content(NamedTuple):
    """The content of a trace: the names of the tensors that it reads, the bytes of constants, and
    what it returns."""

    names: tuple[str, ...]
    constants: tuple[bytes, ...]
    parameters: tuple[tuple[int, Place], ...]
    returned: tuple[Place, ...]


def _content(function: KnownFunction, trace: Trace, prepared: Prepared) -> _Content | None:
    """The content of a record; None where it cannot be told, or is too much.

    Tensors whose elements the digest stands for become constants.
    """
    called = function.names()
    places: dict[tuple[str, int], Place] = {}
    names: list[str] = []
    constants: list[Buffer] = []

    def place(kind: str, position: int, buffer: Buffer | None) -> Place:
        if buffer is None:
            return Place(kind, position)
        constants.append(buffer)
        return Place("constant", len(constants) - 1)

    for at, memory in enumerate(trace.captured):
        if memory.tensor.id not in called:
            return None
        name = called[memory.tensor.id]
        if name is None:
            buffer = registry.buffer_of(memory_leaf(memory.seen))
            places["captured", at] = place("captured", at, buffer)
        else:
            places["captured", at] = Place("captured", len(names))
            names.append(name)
    parameters = []
    for number, slot in enumerate(prepared.graph.slots):
        if slot.parameter is not None:
            owner = prepared.owners.get(number)
            source = (
                place("constant", 0, prepared.constants[number])
                if owner is None
                else places.get((owner.kind, owner.position), Place(*owner))
            )
            parameters.append((slot.parameter, source))
    returned = [
        places.get((leaf.kind, leaf.position), Place(leaf.kind, leaf.position))
        for leaf in trace.results
    ]
    if sum(buffer.nbytes for buffer in constants) > MOST_CONSTANT_BYTES:
        return None
    if any(each.kind == "constant" for each in returned):
        return None
    contents = [buffer.contents("uint8", (buffer.nbytes,)).tobytes() for buffer in constants]
    return _Content(tuple(names), tuple(contents), tuple(parameters), tuple(returned))


def _result(result: ResultSlot, graph: CompiledGraph) -> ResultRecord:
    assert result.slot is not None, "asked before"
    shape = tuple([size for size in result.shape if isinstance(size, int)])
    return ResultRecord(graph.outputs.index(result.slot), shape, result.dtype)


# Recalling


def _fits(
    graph: GraphRecord, sizes: Mapping[int, int], results: Sequence[ResultRecord]
) -> bool:
    """Whether a compiled graph takes memory of these sizes, and makes these results."""
    if graph.variables or any(slot.device != DEFAULT_DEVICE for slot in graph.slots):
        return False
    parameters = [slot for slot in graph.slots if slot.parameter is not None]
    if any(sizes.get(slot.parameter or 0) != slot.nbytes for slot in parameters):
        return False
    if any(result.output >= len(graph.outputs) for result in results):
        return False
    slots = [graph.slots[graph.outputs[result.output]] for result in results]
    return all(
        slot.parameter is None and slot.nbytes == result.nbytes
        for slot, result in zip(slots, results, strict=True)
    )


def _memory_with(content: bytes) -> Buffer:
    """New memory of these bytes."""
    buffer = Buffer(len(content))
    buffer.as_numpy("uint8", (buffer.nbytes,))[:] = numpy.frombuffer(content, "uint8")
    return buffer


def _trace(record: TraceRecord, tensors: Sequence[Tensor]) -> Trace:
    """A trace without nodes, for tensors that are in memory."""
    captured = [Memory(tensor, None, tensor.node, tensor.node, tensor.node) for tensor in tensors]
    return Trace(
        flats=[],
        numbers=[None] * record.inputs,
        captured=captured,
        views=[],
        results=[Result(*place) for place in record.returned],
        fresh=[],
        spreads=[],
        updates=[],
        records=[],
        unwatched={},
        dropped=[],
        inputs=[f"input {number}" for number in range(record.inputs)],
        supplies=[],
    )


def _prepared(
    record: TraceRecord, graph: CompiledGraph, constants: Sequence[Buffer]
) -> Prepared:
    owners: dict[int, Owner] = {}
    held: dict[int, Buffer] = {}
    places = dict(record.parameters)
    for number, slot in enumerate(graph.slots):
        if slot.parameter is not None:
            kind, position = places[slot.parameter]
            if kind == "constant":
                held[number] = constants[position]
            else:
                owners[number] = Owner(kind, position)
    results = [
        ResultSlot(graph.outputs[each.output], None, each.shape, each.dtype, DEFAULT_DEVICE)
        for each in record.results
    ]
    unknown = Normalized(UOp(Op.SINK, dtypes.void, (), ()), (), {}, {})
    return Prepared(graph, unknown, owners, held, results, written=[], moved=[])
