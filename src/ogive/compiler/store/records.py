"""Encoding of compiled graphs and kernels as bytes, and decoding with a check of every field.

`encoding.py` writes and reads single fields. Bytes that cannot have been written by this module
raise `DamagedRecord`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from ogive.compiler.ir.device_names import FUNCTIONS, STORAGE
from ogive.compiler.ir.dtype import BY_NAME
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.symbolic.variable import OWN
from ogive.compiler.passes.regions.slots import CallStep, CopyStep, Slot, aligned
from ogive.compiler.store.content_keys import Key
from ogive.compiler.store.encoding import (
    MOST,
    MOST_BYTES,
    Bounds,
    DamagedRecord,
    Reader,
    Writer,
    within,
)
from ogive.compiler.store.graph_encoding import read_expression, write_expression
from ogive.named import NamedTuple

FORMAT = 7
"""The version of the format. It is part of every key, so a change makes new keys."""


class KernelRecord(NamedTuple):
    """How a kernel is called. `code` is the key of its code, `variables` has bounds.

    It writes to the first `writes` of its slots, and may read these too. `tiles` is the number of
    tiles of its parallel axis, `work` the estimated work of a tile; `costs` are the tile's vector
    instructions, bytes read and bytes written.
    """

    name: str
    axes: tuple[tuple[str, int], ...]
    slots: tuple[int, ...]
    writes: int
    variables: dict[str, tuple[int, int]]
    tiles: int | UOp
    work: int
    costs: tuple[int | UOp, int | UOp, int | UOp]
    code: Key


class LaunchRecord(NamedTuple):
    """One call of the `kernel`-th kernel of a graph over some of its slots."""

    kernel: int
    slots: tuple[int, ...]
    tiles: int | UOp
    grain: int
    fixed: tuple[tuple[str, int], ...] = ()


class GraphRecord(NamedTuple):
    """A compiled graph without code.

    `order` has the positions of the steps in their schedule, `levels` says which may run
    concurrently, and `offsets` the place of each slot in the one block of its device, or -1 if it
    is not in it.
    """

    kernels: tuple[KernelRecord, ...]
    steps: tuple[LaunchRecord | CopyStep | CallStep, ...]
    slots: tuple[Slot, ...]
    outputs: tuple[int, ...]
    variables: dict[str, tuple[int, int]]
    order: tuple[int, ...]
    levels: tuple[int, ...]
    offsets: tuple[int, ...]


_KINDS: tuple[type, ...] = (LaunchRecord, CopyStep, CallStep)


def pack_kernel(record: KernelRecord) -> bytes:
    """A kernel as bytes. Raises `CannotEncode`."""
    writer = Writer()
    _write_kernel(writer, record)
    return writer.finish()


def unpack_kernel(data: bytes) -> KernelRecord:
    """A kernel from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    record = _read_kernel(reader)
    reader.finish()
    return record


def _write_kernel(writer: Writer, record: KernelRecord) -> None:
    writer.text(record.name)
    writer.number(len(record.axes))
    for placement, length in record.axes:
        writer.text(placement)
        writer.number(length)
    writer.numbers(record.slots)
    writer.number(record.writes)
    writer.variables(record.variables)
    write_expression(writer, record.tiles, record.variables)
    writer.number(record.work)
    for cost in record.costs:
        write_expression(writer, cost, record.variables)
    writer.key(record.code)


def _read_kernel(reader: Reader) -> KernelRecord:
    return KernelRecord(
        name=reader.name(),
        axes=tuple([(reader.text(), reader.number(0, MOST_BYTES)) for _ in range(reader.number())]),
        slots=(slots := reader.numbers(0, MOST)),
        writes=reader.number(1, len(slots)),
        variables=(variables := reader.variables()),
        tiles=read_expression(reader, variables),
        work=reader.number(1, MOST_BYTES),
        costs=(
            read_expression(reader, variables),
            read_expression(reader, variables),
            read_expression(reader, variables),
        ),
        code=reader.key(),
    )


def pack_graph(record: GraphRecord) -> bytes:
    """A compiled graph as bytes. Raises `CannotEncode`."""
    writer = Writer()
    writer.variables(record.variables)
    # By column: reading one long list takes a fraction of the time of many short ones.
    _write_names(writer, [slot.dtype.name for slot in record.slots])
    _write_names(writer, [slot.device for slot in record.slots])
    writer.numbers([slot.count for slot in record.slots])
    writer.numbers([-1 if slot.parameter is None else slot.parameter for slot in record.slots])
    writer.numbers([slot.panel for slot in record.slots])
    writer.numbers(record.outputs)
    writer.number(len(record.kernels))
    for kernel in record.kernels:
        _write_kernel(writer, kernel)
    writer.numbers([_KINDS.index(type(step)) for step in record.steps])
    for step in record.steps:
        if isinstance(step, CopyStep):
            writer.numbers(step.slots)
        elif isinstance(step, CallStep):
            _write_call(writer, step)
    launches = [step for step in record.steps if isinstance(step, LaunchRecord)]
    writer.numbers([launch.kernel for launch in launches])
    writer.numbers([slot for launch in launches for slot in launch.slots])
    writer.numbers([launch.grain for launch in launches])
    writer.numbers([launch.tiles if isinstance(launch.tiles, int) else -1 for launch in launches])
    writer.numbers([value for launch in launches for _, value in launch.fixed])
    for launch in launches:
        if not isinstance(launch.tiles, int):
            write_expression(writer, launch.tiles, record.variables)
    writer.numbers(record.order)
    writer.numbers(record.levels)
    writer.numbers(record.offsets)
    return writer.finish()


def unpack_graph(data: bytes) -> GraphRecord:
    """A compiled graph from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    variables = reader.variables()
    slots = _read_slots(reader)
    outputs = reader.numbers(0, len(slots) - 1)
    kernels = tuple([_read_kernel(reader) for _ in range(reader.number())])
    for kernel in kernels:
        for name, (low, high) in kernel.variables.items():
            if name in variables or not name.startswith(OWN):
                least, greatest = variables.get(name, (0, -1))
                if not least <= low <= high <= greatest:
                    raise DamagedRecord("a kernel has a variable that its graph has not")
    kinds = reader.numbers(0, len(_KINDS) - 1)
    others = [_OTHERS[kind](reader, slots) for kind in kinds if kind in _OTHERS]
    launches = _read_launches(reader, kernels, len(slots), variables)
    if len(others) + len(launches) != len(kinds):
        raise DamagedRecord("it has more or fewer launches than it says")
    in_order = {False: iter(launches), True: iter(others)}
    steps = tuple([next(in_order[kind in _OTHERS]) for kind in kinds])
    order = reader.numbers(0, len(steps) - 1)
    levels = reader.numbers(0, len(steps) - 1)
    offsets = reader.numbers(-1, MOST_BYTES)
    reader.finish()
    _check_devices(steps, slots, outputs)
    _check_arrangement(steps, order, levels)
    _check_offsets(slots, outputs, offsets)
    return GraphRecord(kernels, steps, slots, outputs, variables, order, levels, offsets)


def _write_call(writer: Writer, step: CallStep) -> None:
    writer.text(step.name)
    writer.numbers(step.slots)
    for shapes in (step.writes, step.reads):
        writer.number(len(shapes))
        for shape in shapes:
            writer.numbers(shape)


def _read_copy(reader: Reader, slots: Sequence[Slot]) -> CopyStep:
    step = CopyStep(reader.numbers(0, len(slots) - 1))
    if len(step.slots) != 2:
        raise DamagedRecord("a copy has two slots")
    destination, source = [slots[number] for number in step.slots]
    if destination.parameter is not None:
        raise DamagedRecord("a copy goes to memory of the run")
    if (destination.dtype, destination.count) != (source.dtype, source.count):
        raise DamagedRecord("a copy is as large as what it copies")
    return step


def _read_call(reader: Reader, slots: Sequence[Slot]) -> CallStep:
    name = reader.text()
    numbers = reader.numbers(0, len(slots) - 1)
    writes, reads = [
        tuple([reader.numbers(0, MOST_BYTES) for _ in range(reader.number())]) for _ in range(2)
    ]
    step = CallStep(name, numbers, writes, reads)
    if not writes or len(numbers) != len(writes) + 1 + len(reads):
        raise DamagedRecord("a call has a slot for its function and one for each shape")
    given = [slots[number].count for number in (*step.written, *step.read)]
    if given != [math.prod(shape) for shape in (*writes, *reads)]:
        raise DamagedRecord("a call has a shape that does not fit its slot")
    if slots[step.function].parameter is None:
        raise DamagedRecord("a function is an input")
    if any(slots[number].parameter is not None for number in step.written):
        raise DamagedRecord("a call writes to memory of the run")
    return step


def _check_devices(
    steps: Sequence[LaunchRecord | CopyStep | CallStep],
    slots: Sequence[Slot],
    outputs: Sequence[int],
) -> None:
    """Check that kernels and functions get memory, kernels of one device, and files are copied."""
    devices = [slot.device for slot in slots]
    used = set(outputs)
    for step in steps:
        if isinstance(step, LaunchRecord):
            used.update(step.slots)
            if len({devices[slot] for slot in step.slots}) > 1:
                raise DamagedRecord("a kernel has memory of two devices")
        elif isinstance(step, CallStep):
            used.update((*step.written, *step.read))
            if devices[step.function] != FUNCTIONS:
                raise DamagedRecord("a call is of no function")
        else:
            used.update(step.written)
            if devices[step.slots[1]] == FUNCTIONS:
                raise DamagedRecord("a copy is of a function")
    if any(devices[slot] in STORAGE for slot in used):
        raise DamagedRecord("a file or a function is used as memory")


def _check_arrangement(
    steps: Sequence[LaunchRecord | CopyStep | CallStep],
    order: Sequence[int],
    levels: Sequence[int],
) -> None:
    if sorted(order) != list(range(len(steps))):
        raise DamagedRecord("a step has no place in the schedule")
    if len(levels) != len(steps) or sorted(levels) != list(levels):
        raise DamagedRecord("its steps are not in the order of their levels")
    for position, (level, following) in enumerate(itertools.pairwise(levels)):
        if level == following:
            for step in steps[position : position + 2]:
                if not (isinstance(step, LaunchRecord) and isinstance(step.tiles, int)):
                    raise DamagedRecord("a step cannot run beside others")


def _check_offsets(slots: Sequence[Slot], outputs: Sequence[int], offsets: Sequence[int]) -> None:
    _same_length(slots, offsets)
    output_set = set(outputs)
    total = dict.fromkeys([slot.device for slot in slots], 0)
    end = dict(total)
    for number, (slot, offset) in enumerate(zip(slots, offsets, strict=True)):
        if (offset >= 0) != (slot.parameter is None and number not in output_set):
            raise DamagedRecord("a slot has memory twice, or none")
        if offset >= 0:
            size = aligned(slot.nbytes)
            total[slot.device] += size
            end[slot.device] = max(end[slot.device], offset + size)
            if offset != aligned(offset):
                raise DamagedRecord("a slot lies across lines")
    if any(end[device] > total[device] for device in total):
        raise DamagedRecord("slots take more memory than there is in all of them")


def _read_slots(reader: Reader) -> tuple[Slot, ...]:
    known = [BY_NAME.get(name) for name in _read_names(reader)]
    dtypes = [dtype for dtype in known if dtype is not None]
    devices = _read_names(reader)
    if len(dtypes) != len(known):
        raise DamagedRecord("a dtype is unknown")
    counts = reader.numbers(0, MOST_BYTES // 8)
    parameters = reader.numbers(-1, MOST)
    panels = reader.numbers(0, 1)
    _same_length(dtypes, devices, counts, parameters, panels)
    return tuple(
        [
            Slot(dtype, count, None if parameter < 0 else parameter, bool(panel), device)
            for dtype, device, count, parameter, panel in zip(
                dtypes, devices, counts, parameters, panels, strict=True
            )
        ]
    )


def _write_names(writer: Writer, names: Sequence[str]) -> None:
    """Write names, many of which are equal."""
    distinct = list(dict.fromkeys(names))
    writer.number(len(distinct))
    for name in distinct:
        writer.text(name)
    writer.numbers([distinct.index(name) for name in names])


def _read_names(reader: Reader) -> list[str]:
    distinct = [reader.text() for _ in range(reader.number())]
    return [distinct[number] for number in reader.numbers(0, len(distinct) - 1)]


def _read_launches(
    reader: Reader, kernels: Sequence[KernelRecord], slot_count: int, variables: Bounds
) -> tuple[LaunchRecord, ...]:
    numbers = reader.numbers(0, len(kernels) - 1)
    slots = reader.numbers(0, slot_count - 1)
    grains = reader.numbers(1, MOST_BYTES)
    tiles = reader.numbers(-1, MOST_BYTES)
    values = iter(reader.numbers(0, MOST_BYTES))
    _same_length(numbers, grains, tiles)
    launches = []
    position = 0
    for number, grain, count in zip(numbers, grains, tiles, strict=True):
        end = position + len(kernels[number].slots)
        extent = read_expression(reader, variables) if count < 0 else count
        fixed = _read_fixed(kernels[number], values, variables)
        launches.append(LaunchRecord(number, slots[position:end], extent, grain, fixed))
        position = end
    if next(values, None) is not None:
        raise DamagedRecord("launches have more fixed values than their kernels have variables")
    if position != len(slots):
        raise DamagedRecord("launches have more or fewer slots than their kernels")
    return tuple(launches)


def _read_fixed(
    kernel: KernelRecord, values: Iterator[int], variables: Bounds
) -> tuple[tuple[str, int], ...]:
    """The values of a kernel's variables that are the compiler's own, within their bounds.

    Variables of the graph have such names, too, if it is a general graph.
    """
    fixed = []
    for name, (low, high) in kernel.variables.items():
        if name.startswith(OWN) and name not in variables:
            fixed.append((name, within(next(values, -1), low, high)))
    return tuple(fixed)


_OTHERS: dict[int, Callable[[Reader, Sequence[Slot]], CopyStep | CallStep]] = {
    _KINDS.index(CopyStep): _read_copy,
    _KINDS.index(CallStep): _read_call,
}


def _same_length(*columns: Sequence[object]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise DamagedRecord("its columns differ in length")
