"""Kernels, placements and targets as plain bytes, and back, with every field checked.

What the search says to its worker process, and what it keeps of a result, is JSON: data and never
code. A graph is a list of nodes, sources first and named by position. What does not read back as
something that could have been written raises `DamagedMessage`.
"""

from __future__ import annotations

import dataclasses
import json
import struct
import typing
import zlib
from collections.abc import Mapping
from typing import Any

from ogive.errors import OgiveError
from ogive.ir import dtype as dtypes
from ogive.ir.dialects.verify import verify
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.passes.place.placement import Placement
from ogive.targets.target import Target

Message = dict[str, Any]

MOST_NODES = 1 << 20
MOST_LANES = 256
MOST_TILE = 4096
"""The largest register tile that a placement may ask for, all axes together."""

MOST_AXES = 64
MOST_BYTES = 1 << 26
_HEADER = struct.Struct("<4sII")
HEADER_BYTES = _HEADER.size
_MAGIC = b"OGT1"
_DTYPES = dtypes.BY_NAME | {dtype.name: dtype for dtype in (dtypes.index, dtypes.void)}


class DamagedMessage(ValueError):
    """Bytes that say nothing."""


class CannotEncode(ValueError):
    """A graph with something in it that has no form here."""


# Messages through a pipe


def pack_message(message: Message) -> bytes:
    """A message with its length and checksum before it."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return _HEADER.pack(_MAGIC, len(body), zlib.crc32(body)) + body


def unpack_header(header: bytes) -> tuple[int, int]:
    """The length and the checksum of the message that follows."""
    magic, length, checksum = _HEADER.unpack(header)
    if magic != _MAGIC or length > MOST_BYTES:
        raise DamagedMessage("it does not begin like a message")
    return length, checksum


def unpack_body(body: bytes, checksum: int) -> Message:
    """A message that came whole."""
    if zlib.crc32(body) != checksum:
        raise DamagedMessage("its checksum is wrong")
    return _loads(body)


def _loads(data: bytes) -> Message:
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise DamagedMessage("it is not JSON") from None
    if not isinstance(message, dict):
        raise DamagedMessage("it is not a message")
    return message


def field(message: Mapping[str, Any], name: str, kind: type) -> Any:
    """A field of a message, which must be there and of that type."""
    value = message.get(name)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise DamagedMessage(f"{name!r} is {value!r} and not of type {kind.__name__}")
    return value


# Graphs


def encode_graph(root: UOp) -> list[Any]:
    """A loop graph. Raises `CannotEncode`."""
    nodes = root.walk()
    numbers = {node: number for number, node in enumerate(nodes)}
    return [
        [
            node.op.name,
            node.dtype.name,
            [numbers[source] for source in node.src],
            _encode_argument(node.arg),
        ]
        for node in nodes
    ]


def _encode_argument(argument: Any) -> Any:
    if argument is None or isinstance(argument, bool | int | str):
        return argument
    if isinstance(argument, float):
        return {"float": struct.pack("<d", argument).hex()}
    if isinstance(argument, Op):
        return {"op": argument.name}
    if isinstance(argument, tuple):
        return [_encode_argument(part) for part in argument]
    raise CannotEncode(f"an argument of type {type(argument).__name__}")


def decode_graph(data: Any) -> UOp:
    """A loop graph that the verifier accepts. Raises `DamagedMessage`."""
    if not isinstance(data, list) or not 0 < len(data) <= MOST_NODES:
        raise DamagedMessage("a graph is a list of nodes")
    nodes: list[UOp] = []
    try:
        for op, dtype, sources, argument in data:
            if any(type(source) is not int or source < 0 for source in sources):
                raise DamagedMessage("a source is a position")
            below = tuple([nodes[source] for source in sources])
            nodes.append(UOp(Op[op], _DTYPES[dtype], below, _decode_argument(argument)))
        verify(nodes[-1], "loops")
    except (LookupError, TypeError, ValueError, AttributeError, OgiveError) as error:
        raise DamagedMessage(f"a graph makes no sense: {error}") from None
    return nodes[-1]


def _decode_argument(argument: Any) -> Any:
    if isinstance(argument, dict):
        if "op" in argument:
            return Op[argument["op"]]
        return struct.unpack("<d", bytes.fromhex(argument["float"]))[0]
    if isinstance(argument, list):
        return tuple([_decode_argument(part) for part in argument])
    return argument


# Placements

PlacementKey = tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...], tuple[int, ...], int]


def placement_key(placement: Placement) -> PlacementKey:
    """What two placements have in common exactly if they place every axis alike."""
    return (
        tuple(sorted((axis, count) for axis, count in placement.lanes.items() if count > 1)),
        tuple(sorted((axis, count) for axis, count in placement.upcast.items() if count > 1)),
        tuple(placement.order),
        placement.parallel,
    )


def encode_placement(placement: Placement) -> list[Any]:
    """A placement as lists of numbers: lanes, upcast, order, parallel."""
    lanes, upcast, order, parallel = placement_key(placement)
    return [[list(pair) for pair in lanes], [list(pair) for pair in upcast], list(order), parallel]


def decode_placement(data: Any) -> Placement:
    """A placement within bounds; whether it suits a kernel is for `place` to say."""
    try:
        lanes, upcast, order, parallel = data
        made = Placement(_counts(lanes, MOST_LANES), _counts(upcast, MOST_TILE), (), 0)
        numbers = [_natural(axis, 1 << 20) for axis in order]
    except (TypeError, ValueError) as error:
        raise DamagedMessage(f"a placement makes no sense: {error}") from None
    tile = 1
    for count in made.upcast.values():
        tile *= count
    if tile > MOST_TILE or len(numbers) > MOST_AXES:
        raise DamagedMessage("a placement is too large")
    return dataclasses.replace(
        made, order=tuple(numbers), parallel=_natural(parallel, MOST_AXES)
    )


def _counts(pairs: Any, most: int) -> dict[int, int]:
    if not isinstance(pairs, list) or len(pairs) > MOST_AXES:
        raise DamagedMessage("a placement is a few pairs of numbers")
    return {_natural(axis, 1 << 20): _natural(count, most) for axis, count in pairs}


def _natural(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise DamagedMessage(f"{value!r} is not a number from 0 to {most}")
    return value


# Targets


def encode_target(target: Target) -> Message:
    """A target by its fields."""
    return dataclasses.asdict(target)


def decode_target(data: Any) -> Target:
    """A target that has every field, each of its type."""
    if not isinstance(data, dict):
        raise DamagedMessage("a target is a set of fields")
    kinds = typing.get_type_hints(Target)
    return Target(**{entry.name: field(data, entry.name, kinds[entry.name])
                     for entry in dataclasses.fields(Target)})  # fmt: skip


# Results, as they are kept


@dataclasses.dataclass(frozen=True)
class Result:
    """What a search chose; `seconds` was its limit, and `complete` tells that it needed less.

    `taken` is how many seconds a run of the kernel takes, if that was measured.
    """

    placement: Placement
    seconds: float
    complete: bool
    taken: float | None = None

    def suffices(self, seconds: float) -> bool:
        """Whether a search that may take `seconds` would not get further."""
        return self.complete or self.seconds >= seconds


def encode_result(result: Result) -> bytes:
    """A result as bytes, equal for equal results."""
    return json.dumps(
        {
            "placement": encode_placement(result.placement),
            "seconds": result.seconds,
            "complete": result.complete,
            "taken": result.taken,
        }
    ).encode()


def decode_result(data: bytes) -> Result:
    """A result from bytes. Raises `DamagedMessage`."""
    message = _loads(data)
    measured = message.get("taken") is not None
    return Result(
        decode_placement(message.get("placement")),
        field(message, "seconds", float),
        field(message, "complete", bool),
        field(message, "taken", float) if measured else None,
    )
