"""The description of a function by a trace: nodes to compute, tensors to update, reads."""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.layouts import Layout
from ogive.compiler.ir.node import UOp
from ogive.jit.guards.places import Record
from ogive.jit.memories import Number
from ogive.jit.tracing.watch import CapturedTensor
from ogive.named import NamedTuple, record
from ogive.tensor.creation.supplied_numbers import Supplier
from ogive.tensor.tensor import Tensor


class Result:
    """A leaf of what the function returned: an "input", a "captured" tensor, a "fresh" one, or one
    that is "spread" over several devices, whose parts are fresh."""

    __slots__ = ("kind", "position")

    def __init__(self, kind: str, position: int) -> None:
        self.kind = kind
        self.position = position


class Fresh(NamedTuple):
    """A new tensor that the function returned, and whether it was computed from leaves."""

    node: UOp
    device: str
    flows: bool


class Spread(NamedTuple):
    """A new tensor over several devices: how it lies, and which of the fresh ones are its parts."""

    layout: Layout
    parts: tuple[int, ...]


class Memory(NamedTuple):
    """Memory of a tensor that the function captured: that with this number of the tensor.

    It was `seen` by the function, which took it to be `given`, each the node of that memory; the
    tensor stood for `whole`.
    """

    tensor: Any
    number: Number
    seen: UOp
    given: UOp
    whole: UOp


class Update(NamedTuple):
    """Memory that the function assigned to: an argument's or one it captured, and its new value."""

    kind: str
    position: int
    node: UOp


@record
class Trace:
    """The description of a function for one kind of call.

    `flats[i]` is the placeholder memory of input i, and `numbers[i]` which of its tensor's it is.
    `captured` is the memory of captured tensors: those that it read besides its arguments. `views`
    are those that show one of them. `results` is the returned tree with `Result`s for leaves, and
    `spreads` are new tensors over several devices. `records` is what it read besides, and
    `unwatched` what of it cannot be watched. `dropped` are the tensors that are left without a
    gradient. `supplies` are the numbers that it takes, in order: where each is kept and who gives
    it.
    """

    flats: list[UOp]
    numbers: list[Number]
    captured: list[Memory]
    views: list[CapturedTensor]
    results: Any
    fresh: list[Fresh]
    spreads: list[Spread]
    updates: list[Update]
    records: list[Record]
    unwatched: dict[str, str]
    dropped: list[Tensor]
    inputs: list[str]
    supplies: list[tuple[UOp, Supplier]]
