"""Captured functions as bytes, and back: which compiled graph a call runs, and over what.

A function is traced once per kind of call. What that comes to is kept here without the nodes: the
key of the compiled graph, and what each of its parameters and results is.

    f(x): return [x @ w]     parameters   0 is input 0, 1 is captured tensor 0, called "w"
                             results      output 0, float32, (2, 3)
                             returned     [result 0]
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ogive.compiler.ir.dtype import BY_NAME, DType
from ogive.compiler.store.content_keys import Key
from ogive.compiler.store.encoding import MOST, MOST_BYTES, DamagedRecord, Reader, Writer
from ogive.named import NamedTuple

OWNERS = ("input", "captured", "constant")
"""Whose memory a parameter is: an argument's, that of a tensor by its name, or a constant's."""

RETURNED = ("fresh", "input", "captured")
"""The kinds of what a function returns: a new result, an argument, or a captured tensor."""


class Place(NamedTuple):
    """One of several things of a kind, by its position."""

    kind: str
    position: int


class ResultRecord(NamedTuple):
    """A result: which output of the graph it is, and how it is to be seen."""

    output: int
    shape: tuple[int, ...]
    dtype: DType

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


class TraceRecord(NamedTuple):
    """A captured function for one kind of call.

    `parameters` says what the parameters are that the `graph` reads, each by its number; `captured`
    what the tensors that the function finds are called; `constants` has the bytes of what it makes
    itself.
    """

    graph: Key
    inputs: int
    captured: tuple[str, ...]
    parameters: tuple[tuple[int, Place], ...]
    constants: tuple[bytes, ...]
    results: tuple[ResultRecord, ...]
    returned: tuple[Place, ...]


def pack_trace(record: TraceRecord) -> bytes:
    """A captured function as bytes."""
    writer = Writer()
    writer.key(record.graph)
    writer.number(record.inputs)
    writer.number(len(record.captured))
    for name in record.captured:
        writer.text(name)
    writer.number(len(record.constants))
    for constant in record.constants:
        writer.data(constant)
    writer.numbers([number for number, _ in record.parameters])
    _write_places(writer, [place for _, place in record.parameters], OWNERS)
    writer.number(len(record.results))
    for result in record.results:
        writer.number(result.output)
        writer.numbers(result.shape)
        writer.text(result.dtype.name)
    _write_places(writer, record.returned, RETURNED)
    return writer.finish()


def unpack_trace(data: bytes) -> TraceRecord:
    """A captured function from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    graph, inputs = reader.key(), reader.number()
    captured = tuple([reader.text() for _ in range(reader.number())])
    constants = tuple([reader.data() for _ in range(reader.number())])
    known = {"input": inputs, "captured": len(captured), "constant": len(constants)}
    numbers, owners = reader.numbers(0, MOST), _read_places(reader, OWNERS, known)
    if len(numbers) != len(owners):
        raise DamagedRecord("its columns differ in length")
    parameters = tuple(zip(numbers, owners, strict=True))
    results = tuple([_read_result(reader) for _ in range(reader.number())])
    known["fresh"] = len(results)
    returned = _read_places(reader, RETURNED, known)
    reader.finish()
    return TraceRecord(graph, inputs, captured, parameters, constants, results, returned)


def _read_result(reader: Reader) -> ResultRecord:
    output, shape = reader.number(), reader.numbers(0, MOST_BYTES)
    dtype = BY_NAME.get(reader.text())
    if dtype is None or math.prod(shape) > MOST_BYTES:
        raise DamagedRecord("a result is of no dtype, or too large")
    return ResultRecord(output, shape, dtype)


def _write_places(writer: Writer, places: Sequence[Place], kinds: tuple[str, ...]) -> None:
    writer.numbers([kinds.index(place.kind) for place in places])
    writer.numbers([place.position for place in places])


def _read_places(
    reader: Reader, kinds: tuple[str, ...], known: dict[str, int]
) -> tuple[Place, ...]:
    numbers, positions = reader.numbers(0, len(kinds) - 1), reader.numbers(0, MOST)
    if len(numbers) != len(positions):
        raise DamagedRecord("its columns differ in length")
    places = tuple([Place(kinds[n], at) for n, at in zip(numbers, positions, strict=True)])
    if any(place.position >= known[place.kind] for place in places):
        raise DamagedRecord("it speaks of what is not there")
    return places
