"""Compiled graphs and kernels as bytes, and back, with every field checked.

The format is little-endian and plain: a string is its length and its UTF-8, a list its length and
its items. An index expression is a list of nodes, sources first and named by position. What does
not read back as something that could have been written raises `DamagedRecord`.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ogive.engine.keys import DIGEST_BYTES, Key
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.variable import OWN
from ogive.schedule.slots import CallStep, CopyStep, Slot

FORMAT = 5
"""Part of every key: a change of the format makes other keys."""

MOST = 1 << 24
"""No list in a record is longer."""

MOST_BYTES = 1 << 56
"""No buffer is larger, so that address arithmetic cannot wrap."""

MOST_TEXT = 1 << 28


class DamagedRecord(ValueError):
    """Bytes that are no record."""


class UnknownExpression(ValueError):
    """An expression that records have no form for; what contains it is not kept."""


Bounds = Mapping[str, tuple[int, int]]


class KernelRecord(NamedTuple):
    """How a kernel is called: `code` is where its code is; `variables` have bounds.

    It writes to the first `writes` of its slots, and may read those too. `tiles` is how many tiles
    its parallel axis has, `work` about how much there is to do in one; `costs` are its vector
    instructions, the bytes it reads and those it writes.
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
    """A compiled graph without code."""

    kernels: tuple[KernelRecord, ...]
    steps: tuple[LaunchRecord | CopyStep | CallStep, ...]
    slots: tuple[Slot, ...]
    outputs: tuple[int, ...]
    variables: dict[str, tuple[int, int]]


class CodeRecord(NamedTuple):
    """The object code of a kernel, and the IR it was made from."""

    ir: bytes  # compressed
    object_code: bytes


_KINDS: tuple[type, ...] = (LaunchRecord, CopyStep, CallStep)
_NUMBERS = {
    Op.ADD: 2, Op.SUB: 2, Op.MUL: 2, Op.FLOORDIV: 2, Op.MOD: 2, Op.NEG: 1, Op.MAXIMUM: 2,
    Op.MINIMUM: 2,
}  # fmt: skip
_COMPARISONS = (Op.CMPLT, Op.CMPLE, Op.CMPEQ, Op.CMPNE)
_LOGIC = {Op.AND: 2, Op.OR: 2, Op.NOT: 1}
_FORMS: tuple[tuple[Op, DType, tuple[DType, ...]], ...] = (
    *[(op, dtypes.index, (dtypes.index,) * arity) for op, arity in _NUMBERS.items()],
    *[(op, dtypes.bool_, (dtypes.index,) * 2) for op in _COMPARISONS],
    *[(op, dtypes.bool_, (dtypes.bool_,) * arity) for op, arity in _LOGIC.items()],
    (Op.WHERE, dtypes.index, (dtypes.bool_, dtypes.index, dtypes.index)),
)
"""What an expression may consist of: (operation, its dtype, its sources' dtypes), by number."""

_FORM_NUMBERS = {form: number for number, form in enumerate(_FORMS)}
_NUMBER, _TRUTH, _VARIABLE = 253, 254, 255
_DTYPES: dict[str, DType] = {
    value.name: value
    for value in vars(dtypes).values()
    if isinstance(value, DType) and value.kind != "none"
}


class Writer:
    """Appends fields to bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def number(self, value: int) -> None:
        self.parts.append(struct.pack("<q", value))

    def numbers(self, values: Sequence[int]) -> None:
        self.parts.append(struct.pack(f"<q{len(values)}q", len(values), *values))

    def data(self, value: bytes) -> None:
        self.number(len(value))
        self.parts.append(value)

    def text(self, value: str) -> None:
        self.data(value.encode())

    def key(self, value: Key) -> None:
        self.parts += value

    def variables(self, variables: Bounds) -> None:
        self.number(len(variables))
        for name, bounds in variables.items():
            self.text(name)
            self.parts.append(struct.pack("<2q", *bounds))

    def expression(self, value: int | UOp, variables: Bounds) -> None:
        """An index expression over `variables`; an integer is one of a single node."""
        if isinstance(value, int):
            self.number(1)
            self.parts.append(struct.pack("<Bq", _NUMBER, value))
            return
        names = list(variables)
        nodes = value.walk()
        positions = {node: position for position, node in enumerate(nodes)}
        self.number(len(nodes))
        for node in nodes:
            if node.op is Op.CONST and node.dtype in (dtypes.index, dtypes.bool_):
                form = _NUMBER if node.dtype is dtypes.index else _TRUTH
                self.parts.append(struct.pack("<Bq", form, node.arg))
            elif node.op is Op.VARIABLE and variables.get(node.arg[0]) == node.arg[1:]:
                self.parts.append(struct.pack("<Bq", _VARIABLE, names.index(node.arg[0])))
            else:
                sources = tuple([source.dtype for source in node.src])
                number = _FORM_NUMBERS.get((node.op, node.dtype, sources))
                if number is None:
                    raise UnknownExpression(node.op.name)
                operands = [positions[source] for source in node.src]
                self.parts.append(struct.pack(f"<B{len(operands)}q", number, *operands))

    def finish(self) -> bytes:
        return b"".join(self.parts)


class Reader:
    """Takes fields from bytes, in order, and trusts none of them."""

    def __init__(self, data: bytes) -> None:
        self.bytes = data
        self.position = 0

    def take(self, size: int) -> bytes:
        end = self.position + size
        if size < 0 or end > len(self.bytes):
            raise DamagedRecord("it ends too early")
        found = self.bytes[self.position : end]
        self.position = end
        return found

    def number(self, low: int = 0, high: int = MOST) -> int:
        value: int = struct.unpack("<q", self.take(8))[0]
        return _within(value, low, high)

    def numbers(self, low: int, high: int) -> tuple[int, ...]:
        count = self.number()
        values: tuple[int, ...] = struct.unpack(f"<{count}q", self.take(8 * count))
        if values and not (low <= min(values) and max(values) <= high):
            raise DamagedRecord("a number is out of range")
        return values

    def data(self, most: int = MOST_TEXT) -> bytes:
        return self.take(self.number(0, most))

    def text(self, most: int = 1 << 16) -> str:
        try:
            return self.data(most).decode()
        except UnicodeDecodeError:
            raise DamagedRecord("a text is not UTF-8") from None

    def name(self) -> str:
        name = self.text()
        if not name.isidentifier():
            raise DamagedRecord("a name is none")
        return name

    def variable(self) -> str:
        name = self.text()
        if not (name.isidentifier() or name.removeprefix(OWN).isalnum()):
            raise DamagedRecord("a name is none")
        return name

    def key(self) -> Key:
        return Key(self.take(DIGEST_BYTES), self.take(DIGEST_BYTES))

    def variables(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for _ in range(self.number()):
            name = self.variable()
            low, high = struct.unpack("<2q", self.take(16))
            if name in found or not 0 <= low <= high:
                raise DamagedRecord("a variable makes no sense")
            found[name] = (low, high)
        return found

    def expression(self, variables: Bounds) -> int | UOp:
        """A count: an expression over `variables` that is never negative and never faults."""
        names = list(variables)
        nodes: list[UOp] = []
        for _ in range(self.number(1, 1 << 16)):
            nodes.append(self._node(nodes, names, variables))
        root = nodes[-1]
        if root.dtype is not dtypes.index:
            raise DamagedRecord("an expression is not a number")
        if not (root.vmin >= 0 and root.vmax <= MOST_BYTES):
            raise DamagedRecord("a count is out of range")
        return int(root.arg) if root.op is Op.CONST else root

    def _node(self, nodes: Sequence[UOp], names: Sequence[str], variables: Bounds) -> UOp:
        form = self.take(1)[0]
        if form == _NUMBER:
            return UOp.const(dtypes.index, self.number(-MOST_BYTES, MOST_BYTES))
        if form == _TRUTH:
            return UOp.const(dtypes.bool_, bool(self.number(0, 1)))
        if form == _VARIABLE:
            name = names[self.number(0, len(names) - 1)]
            return UOp(Op.VARIABLE, dtypes.index, (), (name, *variables[name]))
        if form >= len(_FORMS):
            raise DamagedRecord("an operation is unknown")
        op, dtype, expected = _FORMS[form]
        sources = tuple([nodes[self.number(0, len(nodes) - 1)] for _ in expected])
        if tuple([source.dtype for source in sources]) != expected:
            raise DamagedRecord("an operation has sources of another type")
        if op in (Op.FLOORDIV, Op.MOD) and sources[1].vmin <= 0 <= sources[1].vmax:
            raise DamagedRecord("a divisor may be zero")
        return UOp(op, dtype, sources)

    def finish(self) -> None:
        if self.position != len(self.bytes):
            raise DamagedRecord("something follows it")


def _within(value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise DamagedRecord("a number is out of range")
    return value


def pack_kernel(record: KernelRecord) -> bytes:
    """A kernel as bytes. Raises `UnknownExpression`."""
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
    writer.expression(record.tiles, record.variables)
    writer.number(record.work)
    for cost in record.costs:
        writer.expression(cost, record.variables)
    writer.key(record.code)


def _read_kernel(reader: Reader) -> KernelRecord:
    return KernelRecord(
        name=reader.name(),
        axes=tuple([(reader.text(), reader.number(0, MOST_BYTES)) for _ in range(reader.number())]),
        slots=(slots := reader.numbers(0, MOST)),
        writes=reader.number(1, len(slots)),
        variables=(variables := reader.variables()),
        tiles=reader.expression(variables),
        work=reader.number(1, MOST_BYTES),
        costs=(
            reader.expression(variables),
            reader.expression(variables),
            reader.expression(variables),
        ),
        code=reader.key(),
    )


def pack_graph(record: GraphRecord) -> bytes:
    """A compiled graph as bytes. Raises `UnknownExpression`."""
    writer = Writer()
    writer.variables(record.variables)
    # By column, since reading one long list takes a fraction of the time of many short ones.
    names = list(dict.fromkeys(slot.dtype.name for slot in record.slots))
    writer.number(len(names))
    for name in names:
        writer.text(name)
    writer.numbers([names.index(slot.dtype.name) for slot in record.slots])
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
            writer.expression(launch.tiles, record.variables)
    return writer.finish()


def unpack_graph(data: bytes) -> GraphRecord:
    """A compiled graph from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    variables = reader.variables()
    slots = _read_slots(reader)
    outputs = reader.numbers(0, len(slots) - 1)
    kernels = tuple([_read_kernel(reader) for _ in range(reader.number())])
    for kernel in kernels:
        for name, bounds in kernel.variables.items():
            if not name.startswith(OWN) and variables.get(name) != bounds:
                raise DamagedRecord("a kernel has a variable that its graph has not")
    kinds = reader.numbers(0, len(_KINDS) - 1)
    others = [_OTHERS[kind](reader, slots) for kind in kinds if kind in _OTHERS]
    launches = _read_launches(reader, kernels, len(slots), variables)
    if len(others) + len(launches) != len(kinds):
        raise DamagedRecord("it has more or fewer launches than it says")
    in_order = {False: iter(launches), True: iter(others)}
    steps = tuple([next(in_order[kind in _OTHERS]) for kind in kinds])
    reader.finish()
    _check_host_slots(steps, outputs)
    return GraphRecord(kernels, steps, slots, outputs, variables)


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
    if destination.parameter is not None or source.parameter is None:
        raise DamagedRecord("a copy goes from an input to memory of the run")
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


def host_slots(steps: Sequence[LaunchRecord | CopyStep | CallStep]) -> set[int]:
    """The slots that hold no memory: files that are copied, and functions that are called."""
    copied = {step.slots[1] for step in steps if isinstance(step, CopyStep)}
    return copied | {step.function for step in steps if isinstance(step, CallStep)}


def _check_host_slots(
    steps: Sequence[LaunchRecord | CopyStep | CallStep], outputs: Sequence[int]
) -> None:
    used = set(outputs)
    for step in steps:
        if isinstance(step, LaunchRecord):
            used.update(step.slots)
        elif isinstance(step, CallStep):
            used.update(step.read)
    if used & host_slots(steps):
        raise DamagedRecord("a file or a function is used as memory")


def _read_slots(reader: Reader) -> tuple[Slot, ...]:
    found = [_DTYPES.get(reader.text()) for _ in range(reader.number())]
    dtypes = [dtype for dtype in found if dtype is not None]
    if len(dtypes) != len(found):
        raise DamagedRecord("a dtype is unknown")
    kinds = reader.numbers(0, len(dtypes) - 1)
    counts = reader.numbers(0, MOST_BYTES // 8)
    parameters = reader.numbers(-1, MOST)
    panels = reader.numbers(0, 1)
    _same_length(kinds, counts, parameters, panels)
    return tuple(
        [
            Slot(dtypes[kind], count, None if parameter < 0 else parameter, bool(panel))
            for kind, count, parameter, panel in zip(kinds, counts, parameters, panels, strict=True)
        ]
    )


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
        extent = reader.expression(variables) if count < 0 else count
        fixed = _read_fixed(kernels[number], values)
        launches.append(LaunchRecord(number, slots[position:end], extent, grain, fixed))
        position = end
    if next(values, None) is not None:
        raise DamagedRecord("launches have more fixed values than their kernels have variables")
    if position != len(slots):
        raise DamagedRecord("launches have more or fewer slots than their kernels")
    return tuple(launches)


def _read_fixed(kernel: KernelRecord, values: Iterator[int]) -> tuple[tuple[str, int], ...]:
    """The values of a kernel's variables that are the scheduler's own, within their bounds."""
    fixed = []
    for name, (low, high) in kernel.variables.items():
        if name.startswith(OWN):
            fixed.append((name, _within(next(values, -1), low, high)))
    return tuple(fixed)


_OTHERS: dict[int, Callable[[Reader, Sequence[Slot]], CopyStep | CallStep]] = {
    _KINDS.index(CopyStep): _read_copy,
    _KINDS.index(CallStep): _read_call,
}


def _same_length(*columns: Sequence[int]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise DamagedRecord("its columns differ in length")


def pack_code(ir: str, object_code: bytes) -> bytes:
    """A kernel's code as bytes."""
    writer = Writer()
    writer.data(zlib.compress(ir.encode(), 1))
    writer.data(object_code)
    return writer.finish()


def unpack_code(data: bytes) -> CodeRecord:
    """A kernel's code from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    record = CodeRecord(reader.data(), reader.data())
    reader.finish()
    if not record.object_code:
        raise DamagedRecord("there is no code")
    return record


def unpack_ir(compressed: bytes) -> str:
    """The text of a kernel. Raises `DamagedRecord`."""
    try:
        inflater = zlib.decompressobj()
        text = inflater.decompress(compressed, MOST_TEXT)
        if inflater.unconsumed_tail or not inflater.eof:
            raise DamagedRecord("a text is cut off")
        return text.decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise DamagedRecord(f"a text cannot be read: {error}") from None
