"""Batching: adds a leading axis to a node graph, by one rule per op.

    before   MUL(x, w)       x stands for one row        after   MUL(rows, EXPAND(w))

A node that depends on no stand-in stays as it is, and is expanded where it meets a batched one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ogive.compiler.ir.calls import Expansions
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.ir.shape import Dim, Shape, common_shape, movement_argument
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import registry
from ogive.compiler.live.history import Argument
from ogive.compiler.live.registry import make
from ogive.errors import TraceError
from ogive.tensor import build
from ogive.tensor.values.custom_function import in_memory


class Batching:
    """The batching of a graph. Each stand-in is replaced by a value with a leading axis of `size`.

    `graph_lock` is held while it is used.
    """

    def __init__(self, size: Dim, stand_ins: Mapping[UOp, UOp]) -> None:
        self.size = size
        self.done: dict[UOp, UOp] = dict(stand_ins)
        self.expansions = Expansions()

    def batch(self, root: UOp) -> UOp:
        """A node with the leading axis, even if it depends on no stand-in."""
        for node in walk((root,)):
            if node not in self.done and any(source in self.done for source in node.src):
                self.done[node] = self._batched(node)
        return self.repeated(root)

    def repeated(self, node: UOp) -> UOp:
        """The new form of a node; an unchanged one is expanded along the leading axis."""
        if node in self.done:
            return self.done[node]
        shape = node.shape
        return build.expand(build.reshape(node, (1, *shape)), (self.size, *shape))

    def _batched(self, node: UOp) -> UOp:
        op = node.op
        if op in ELEMENTWISE:
            sources = [s if s.op in build.SCALARS else self.repeated(s) for s in node.src]
            return make(op, node.dtype, tuple(sources))
        if op is Op.CALL:
            return self.batch(self.expansions.of(node))
        rule = _RULES.get(op)
        if rule is None:
            raise TraceError(_without_rule(node), node.origin)
        return rule(self, node)


def _without_rule(node: UOp) -> str:
    if node.op is Op.CUSTOM:
        return (
            f"vmap: {node.name}, a function of ogive.custom, works on one example; call it "
            "outside, write it with tensor operations, or say that it is batched"
        )
    if node.op in (Op.ASSIGN, Op.AFTER):
        return (
            "vmap: a tensor outside the function is assigned a value for each example; return "
            "the values instead"
        )
    return f"vmap: {node.op.name} cannot be given another axis"


Rule = Callable[[Batching, UOp], UOp]


def _source(batching: Batching, node: UOp) -> UOp:
    return batching.repeated(node.operand)


def _reshape(batching: Batching, node: UOp) -> UOp:
    return build.reshape(_source(batching, node), (batching.size, *node.shape))


def _expand(batching: Batching, node: UOp) -> UOp:
    return build.expand(_source(batching, node), (batching.size, *node.shape))


def _permute(batching: Batching, node: UOp) -> UOp:
    return build.permute(_source(batching, node), (0, *[axis + 1 for axis in node.arg]))


def _flip(batching: Batching, node: UOp) -> UOp:
    return build.flip(_source(batching, node), tuple([axis + 1 for axis in node.arg]))


def _pad(batching: Batching, node: UOp) -> UOp:
    pads, fill = movement_argument(node)
    return build.pad(_source(batching, node), ((0, 0), *pads), fill)


def _shrink(batching: Batching, node: UOp) -> UOp:
    whole = (0, batching.size)
    return build.shrink(_source(batching, node), (whole, *movement_argument(node)))


def _reduce(batching: Batching, node: UOp) -> UOp:
    op, axes = node.arg
    moved = tuple([axis + 1 for axis in axes])
    return make(Op.REDUCE_AXES, node.dtype, (_source(batching, node),), (op, moved))


def _marked(batching: Batching, node: UOp) -> UOp:
    return make(node.op, node.dtype, (_source(batching, node),), node.arg)


def _scan(batching: Batching, node: UOp) -> UOp:
    op, axis = node.arg
    return make(Op.SCAN_AXIS, node.dtype, (_source(batching, node),), (op, axis + 1))


def _gather(batching: Batching, node: UOp) -> UOp:
    x, indices = node.operand, node.indices
    wide = [_shaped(batching, index, node.shape) for index in indices]
    if x not in batching.done:
        return build.gather(x, wide)
    return build.gather(batching.done[x], [build.count_along(0, wide[0].shape), *wide])


def _scatter(batching: Batching, node: UOp) -> UOp:
    shape = common_shape(node.src[1:])
    value, *indices = [_shaped(batching, source, shape) for source in node.src[1:]]
    indices.insert(0, build.count_along(0, value.shape))
    return build.scatter(_source(batching, node), value, indices, node.arg)


def _shaped(batching: Batching, node: UOp, shape: Shape) -> UOp:
    """The new form of a node of `shape`, or of a scalar in its place."""
    wide = (batching.size, *shape)
    return build.expand_to(node, wide) if node.op in build.SCALARS else batching.repeated(node)


def _custom(batching: Batching, node: UOp) -> UOp:
    callee, *inputs = node.src
    if not getattr(registry.buffer_of(callee), "batched", False):
        raise TraceError(_without_rule(node), node.origin)
    name, outputs, number = node.arg
    wide = tuple([((batching.size, *shape), dtype) for shape, dtype in outputs])
    sources = [in_memory(batching.repeated(source)) for source in inputs]
    return make(Op.CUSTOM, node.dtype, (callee, *sources), (name, wide, number))


def _gradient(batching: Batching, node: UOp) -> UOp:
    rule = node.arg if isinstance(node.arg, Argument) else _BatchedRule(node, batching)
    sources = tuple([batching.repeated(source) for source in node.src])
    return make(Op.GRADIENT, node.dtype, sources, rule)


class _BatchedRule:
    """The gradient rule of a batched node: the result of the node's own rule, batched as well."""

    __slots__ = ("_batching", "_node")

    def __init__(self, node: UOp, batching: Batching) -> None:
        self._node = node
        self._batching = batching

    def gradients(self, node: UOp, upstream: UOp) -> Sequence[UOp | None]:
        """The gradients of the inputs."""
        stand_in = make(
            Op.GRADIENT, upstream.dtype, (build.filled(node.dtype, 0, self._node.shape),),
            Argument(),
        )  # fmt: skip
        parts: Sequence[UOp | None] = self._node.arg.gradients(self._node, stand_in)
        inner = Batching(self._batching.size, {**self._batching.done, stand_in: upstream})
        return [None if part is None else inner.batch(part) for part in parts]

    def release(self) -> None:
        """Drop the tensors that the rule may hold, since it will not be called."""
        if hasattr(self._node.arg, "release"):
            self._node.arg.release()


_RULES: dict[Op, Rule] = {
    Op.RESHAPE: _reshape,
    Op.EXPAND: _expand,
    Op.PERMUTE: _permute,
    Op.FLIP: _flip,
    Op.PAD: _pad,
    Op.SHRINK: _shrink,
    Op.REDUCE_AXES: _reduce,
    Op.SCAN_AXIS: _scan,
    Op.GATHER: _gather,
    Op.SCATTER: _scatter,
    Op.GRADIENT: _gradient,
    Op.CUSTOM: _custom,
    **dict.fromkeys([Op.CONTIGUOUS, Op.DETACH, Op.COPY, Op.ORDERED, Op.ORDER], _marked),
}


def moved_axis(node: UOp, source: int, target: int) -> UOp:
    """`node` with one axis moved from `source` to `target`."""
    order: list[Any] = [axis for axis in range(len(node.shape)) if axis != source]
    order.insert(target, source)
    return build.permute(node, tuple(order))
