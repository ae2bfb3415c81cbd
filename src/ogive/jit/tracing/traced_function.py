"""What a trace tells of a function: nodes to compute, tensors to update, what it read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ogive.ir.node import UOp
from ogive.jit.guards.places import Record
from ogive.jit.tracing.watch import Found
from ogive.named import NamedTuple
from ogive.tensor.creation.supplied_numbers import Supplier
from ogive.tensor.tensor import Tensor


class Result:
    """A leaf of what the function returned: an "input", a "found" tensor, or a "fresh" one."""

    __slots__ = ("kind", "position")

    def __init__(self, kind: str, position: int) -> None:
        self.kind = kind
        self.position = position


class Fresh(NamedTuple):
    """A new tensor that the function returned, and whether it was computed from leaves."""

    node: UOp
    device: str
    flows: bool


class Update(NamedTuple):
    """A tensor that the function assigned to: an argument or one it found, and its new value."""

    kind: str
    position: int
    node: UOp


@dataclass
class Trace:
    """What a function does with one kind of call.

    `flats[i]` is the placeholder memory of input i. `found` are the tensors that it found by
    itself, each memory when it did, and `views` those that show one of them. `results` is the
    returned tree with `Result`s for leaves. `records` is what it read besides, and `unwatched` what
    of it cannot be watched. `dropped` are the tensors that are left without a gradient.
    `supplies` are the numbers that it takes, in order: where each is kept and who gives it.
    """

    flats: list[UOp]
    found: list[Found]
    views: list[Found]
    results: Any
    fresh: list[Fresh]
    updates: list[Update]
    records: list[Record]
    unwatched: dict[str, str]
    dropped: list[Tensor]
    inputs: list[str]
    supplies: list[tuple[UOp, Supplier]]
