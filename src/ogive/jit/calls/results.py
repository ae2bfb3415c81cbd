"""The outcome of a captured function's call: results, tensors that move, arguments used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ogive.at_once import Change
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.writes.missing_values import flat_node, flat_without_memory
from ogive.compiler.ir.device_names import group_members, group_name
from ogive.compiler.ir.memory import memory_leaf, shaped
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.ir.symbolic.variable import rebind
from ogive.compiler.live import history, registry
from ogive.errors import ArgumentError
from ogive.jit.argument_trees import Call, rebuild
from ogive.jit.calls.result_memory import Cell
from ogive.jit.calls.wiring import Wiring
from ogive.jit.memories import layout_of_memory
from ogive.jit.tracing.prepare import Owner, Prepared, ResultSlot
from ogive.jit.tracing.traced_function import Result, Spread, Trace
from ogive.tensor.core import hold, wrap
from ogive.tensor.memory import views
from ogive.tensor.tensor import Tensor


class CallResults:
    """The outcome of calls of one kind, once they have run.

    `tensors` are those that the function finds. Arguments that are `gone` after a call stand for
    nodes without memory then. Tensors that are `dropped` are left without a gradient.
    """

    def __init__(
        self,
        trace: Trace,
        prepared: Prepared,
        wiring: Wiring,
        tensors: Sequence[Callable[[], Any]],
        gone: dict[int, UOp],
    ) -> None:
        self.gone = gone
        self.dropped = trace.dropped
        self._tree = trace.results
        self._spreads = trace.spreads
        self._slots = prepared.results
        self._moved = prepared.moved
        self._fresh = wiring.fresh
        self._tensors = tensors

    def is_one_new_tensor(self) -> bool:
        """Whether the function returns one new tensor, in memory of its own."""
        return (
            isinstance(self._tree, Result)
            and self._tree.kind == "fresh"
            and len(self._fresh) == len(self._slots) == 1
        )

    def make(self, call: Call, cells: list[Cell], variables: dict[str, int]) -> Any:
        """The function's results. `graph_lock` is held, and nothing is donated yet."""
        by_slot = self._by_slot(cells)
        tensors: list[Tensor] = []
        for slot in self._slots:
            if slot.donated is not None:
                node = shaped(memory_leaf(call.inputs[slot.donated].node), slot.shape)
            elif slot.slot is None:
                node = shaped(flat_node(Buffer(0), slot.dtype, 0), slot.shape)
            else:
                node = _node_of(by_slot[slot.slot], slot, variables)
            registry.connect(node)
            tensors.append(wrap(node, slot.device))
        spread = [self._join(each, tensors) for each in self._spreads]
        taken = {
            id(tensor): hold(tensor.node, tensor.device)
            for tensor in [call.inputs[at] for at in self.gone]
        }

        def result(leaf: Result | None) -> Any:
            if leaf is None:
                return None
            if leaf.kind == "fresh":
                return tensors[leaf.position]
            if leaf.kind == "spread":
                return spread[leaf.position]
            tensor = self._owner(Owner(leaf.kind, leaf.position), call)
            return taken.get(id(tensor), tensor)

        return rebuild(self._tree, result)

    def _join(self, spread: Spread, tensors: Sequence[Tensor]) -> Tensor:
        """A result over several devices, of its parts."""
        parts = [tensors[at] for at in spread.parts]
        nodes = tuple([part.node for part in parts])
        node = registry.make(Op.MULTI, parts[0].dtype, nodes, tuple(spread.layout))
        if self._slots[spread.parts[0]].flows:
            history.cut(node)
        return wrap(node, group_name(spread.layout.devices))

    def _by_slot(self, cells: list[Cell]) -> dict[int | None, Cell]:
        return {result.slot: cell for result, cell in zip(self._fresh, cells, strict=True)}

    def moves(self, call: Call, cells: list[Cell], variables: dict[str, int]) -> list[Change]:
        """The changes by which tensors have the memory that their new values are in."""
        by_slot = self._by_slot(cells)
        moves: list[Change] = []
        for owner, result in self._moved:
            tensor = self._owner(owner, call)
            if tensor is not None:
                moves += views.changes(tensor, _node_of(by_slot[result.slot], result, variables))
        return moves

    def donations(self, call: Call) -> list[Change]:
        """The changes by which arguments are used up."""
        moves: list[Change] = []
        for at, gone in self.gone.items():
            moves += registry.moves_to(call.inputs[at], gone)
            moves.append((call.inputs[at], "shared", None))
        return moves

    def _owner(self, owner: Owner, call: Call) -> Any:
        if owner.kind == "input":
            return call.inputs[owner.position]
        return self._tensors[owner.position]()

    def drops(self) -> list[Change]:
        """The changes by which tensors have no gradient that the function leaves without one."""
        return [(tensor, "gradient", None) for tensor in self.dropped]


def donated_node(tensor: Any, name: str, path: str) -> UOp:
    """The node of an argument that a call has used up: reading it raises `ArgumentError`."""
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"{path} of {name} is a NumPy array, and only tensors can be donated")
    message = (
        f"this tensor was donated to {name} as {path}, which has used up its memory; use what the "
        "function returned, or do not donate it"
    )
    layout = layout_of_memory(tensor.node)
    shape = tensor.shape if layout is None else layout.part_shape(tensor.shape)
    parts = []
    for device in group_members(tensor.device):
        flat = flat_without_memory(shape, tensor.dtype, device, ArgumentError, message)
        parts.append(shaped(flat, shape))
        registry.connect(parts[-1])
    if layout is None:
        return parts[0]
    with registry.graph_lock:
        return registry.make(Op.MULTI, tensor.dtype, tuple(parts), tuple(layout))


def _node_of(cell: Cell, result: ResultSlot, variables: dict[str, int]) -> UOp:
    shape: Shape = result.shape
    if variables:
        shape = tuple([rebind(n, variables) if isinstance(n, UOp) else n for n in shape])
    node = cell.node if cell.node.shape == shape else shaped(cell.flat, shape)
    registry.connect(node)
    return node
