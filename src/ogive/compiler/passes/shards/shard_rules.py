"""Rules that make an operation on values over several devices one on each device: one per op.

    elementwise      operands divided alike           stays divided; others are cut to parts first
    REDUCE_AXES      over a divided axis              a term on each device, then their total
                     over others                      stays divided
    RESHAPE …        the divided axis survives        stays divided
    GATHER           indices are divided              stays divided; the operand is gathered
    SCATTER of ADD   values are divided               a sum on each device, then their total
    all others       operands are gathered, and every device computes the same

A matrix product is an elementwise product and a sum: divided rows or columns stay divided, and a
divided depth ends with a total. The same rules divide softmax, norms and attention.

A rule takes `Rules`, a node and the new forms of its sources, and gives the new form of the node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ogive.compiler.ir.layouts import COPIES, Layout
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import apply, filled, move
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.ir.shape import Shape, movement_argument
from ogive.compiler.passes.shards.shard_exchanges import Exchanges, Placed, Spread

Note = Callable[[UOp, str], None]
"""Called with a node for which a value had to be gathered, and a description of that value."""


class Rules:
    """The rules, with the exchanges that they make and a callback for values that are gathered."""

    def __init__(self, note: Note) -> None:
        self.exchanges = Exchanges()
        self.note = note

    def apply(self, node: UOp, sources: Sequence[Placed]) -> Spread:
        """The form of a node with at least one source over several devices."""
        return RULES.get(node.op, _on_every_device)(self, node, sources)

    def gather(self, node: UOp, value: Spread, axes: Sequence[int]) -> Spread:
        """The value with none of these axes divided, for `node`."""
        for number, axis in enumerate(value.layout.split):
            if axis != COPIES and axis in axes:
                self.note(node, f"axis {axis} of {node.src[0].shape}")
                value = self.exchanges.gather(value, number)
        return value


Rule = Callable[[Rules, UOp, Sequence[Placed]], Spread]


def _common_layout(
    rules: Rules, node: UOp, sources: Sequence[Placed], shapes: Sequence[Shape]
) -> Layout:
    """The common layout of the operands: every axis that is divided in one of them is divided.

    If two operands disagree about an axis of the mesh or of the value, the first one decides.
    """
    spread = [source for source in sources if isinstance(source, Spread)]
    meshes = [each.layout for each in spread if not each.layout.is_copies] or [spread[0].layout]
    first = meshes[0]
    split = [COPIES] * len(first.mesh)
    for source, shape in zip(sources, shapes, strict=True):
        if not isinstance(source, Spread) or not shape:
            continue
        layout = source.layout
        if not layout.is_copies and (layout.devices, layout.mesh) != (first.devices, first.mesh):
            rules.note(node, f"an operand on a mesh of {layout.mesh} for one of {first.mesh}")
            continue
        for number, axis in enumerate(layout.split if not layout.is_copies else ()):
            if axis == COPIES or split[number] == axis:
                continue
            if split[number] == COPIES and axis not in split:
                split[number] = axis
            else:
                rules.note(node, f"axis {axis} of an operand of shape {shape}")
    return first.with_split(split)


def _meet(rules: Rules, value: Placed, shape: Shape, layout: Layout) -> Spread:
    """An operand in the common layout. A scalar is copied, since it fits parts of any shape."""
    operand_layout = layout if shape else layout.with_split([COPIES] * len(layout.mesh))
    return rules.exchanges.lay_out(value, operand_layout)


def _elementwise(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    shapes = [source.shape for source in node.src]
    layout = _common_layout(rules, node, sources, shapes)
    met = [_meet(rules, *each, layout) for each in zip(sources, shapes, strict=True)]
    parts = zip(*[value.parts for value in met], strict=True)
    return Spread(layout, tuple([UOp(node.op, node.dtype, part, node.arg) for part in parts]))


def _reduce_axes(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    (value,) = sources
    assert isinstance(value, Spread)
    split = value.layout.split
    kept = [COPIES if axis in node.axes else axis for axis in split]
    partial = value.map(lambda part: UOp(node.op, node.dtype, (part,), node.arg), kept)
    for number, axis in enumerate(split):
        if axis != COPIES and axis in node.axes:
            partial = rules.exchanges.reduce(partial, number, node.combine)
    return partial


def _reshape(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    value = sources[0]
    assert isinstance(value, Spread)
    before, after = node.operand.shape, tuple(movement_argument(node))
    sizes = value.layout.mesh
    new_axes = {
        axis: _axis_after(before, after, axis, size)
        for size, axis in zip(sizes, value.layout.split, strict=True)
        if axis != COPIES
    }
    value = rules.gather(node, value, [axis for axis, new in new_axes.items() if new is None])
    split = [COPIES if axis == COPIES else new_axes[axis] or 0 for axis in value.layout.split]
    shape = value.layout.with_split(split).part_shape(after)
    return value.map(lambda part: move(Op.RESHAPE, part, shape), split)


def _axis_after(before: Shape, after: Shape, axis: int, count: int) -> int | None:
    """The axis of a reshaped value whose `count` equal parts are those of `axis`, or None.

    The product of the lengths before it is the same, and `count` divides its length. In two parts
    along the first axis, both (6, 4) → (2, 3, 4) and (2, 3, 4) → (6, 4) have one; in three parts
    the former has none.
    """
    passed: Any = math.prod(before[:axis])
    for new, length in enumerate(after):
        is_even = isinstance(length, int) and length % count == 0 and length > 0
        if is_even and math.prod(after[:new]) == passed:
            return new
    return None


def _permute(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    value = sources[0]
    assert isinstance(value, Spread)
    split = [axis if axis == COPIES else node.order.index(axis) for axis in value.layout.split]
    return value.map(lambda part: UOp(node.op, node.dtype, (part,), node.arg), split)


def _expand(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    value = sources[0]
    assert isinstance(value, Spread)
    # A divided axis is longer than 1, so it is not one of those that are repeated.
    shape = value.layout.part_shape(tuple(movement_argument(node)))
    return value.map(lambda part: move(Op.EXPAND, part, shape))


def _shrink(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    value, spans = sources[0], movement_argument(node)
    assert isinstance(value, Spread)
    whole = [(0, size) for size in node.operand.shape]
    changed = [axis for axis, span in enumerate(spans) if span != whole[axis]]
    value = rules.gather(node, value, changed)
    return value.map(lambda part: move(Op.SHRINK, part, _kept_whole(spans, part, changed)))


def _kept_whole(spans: Any, part: UOp, changed: Sequence[int]) -> Any:
    """The spans for a part: the whole length of each axis that is not changed."""
    sizes = enumerate(part.shape)
    return tuple([spans[axis] if axis in changed else (0, size) for axis, size in sizes])


def _pad(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    value, argument = sources[0], movement_argument(node)
    assert isinstance(value, Spread)
    changed = [axis for axis, widths in enumerate(argument[0]) if widths != (0, 0)]
    value = rules.gather(node, value, changed)
    return value.map(lambda part: move(Op.PAD, part, argument))


def _flip(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    value = sources[0]
    assert isinstance(value, Spread)
    value = rules.gather(node, value, node.axes)
    return value.map(lambda part: UOp(node.op, node.dtype, (part,), node.arg))


def _along_one_axis(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    """Scans and sorts: their axis must not be divided."""
    if len(sources) > 1:
        return _on_every_device(rules, node, sources)
    (value,) = sources
    assert isinstance(value, Spread)
    axis = node.axis if node.op is Op.SCAN_AXIS else len(node.operand.shape) - 1
    value = rules.gather(node, value, [axis])
    return value.map(lambda part: UOp(node.op, node.dtype, (part,), node.arg))


def _partwise(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    value = sources[0]
    assert isinstance(value, Spread)
    return value.map(lambda part: UOp(node.op, node.dtype, (part,), node.arg))


def _gather(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    operand, *indices = sources
    shapes = [index.shape for index in node.indices]
    if not any(isinstance(index, Spread) for index in indices):
        return _on_every_device(rules, node, sources)
    layout = _common_layout(rules, node, indices, shapes)
    table = _on_all(rules, node, operand, layout)
    met = [_meet(rules, *each, layout) for each in zip(indices, shapes, strict=True)]
    parts = zip(table.parts, *[value.parts for value in met], strict=True)
    return Spread(layout, tuple([UOp(node.op, node.dtype, part, node.arg) for part in parts]))


def _scatter(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    base, *updates = sources
    shapes = [source.shape for source in node.src[1:]]
    if node.combine is not Op.ADD or not any(isinstance(update, Spread) for update in updates):
        return _on_every_device(rules, node, sources)
    layout = _common_layout(rules, node, updates, shapes)
    met = [_meet(rules, *each, layout) for each in zip(updates, shapes, strict=True)]
    zeros = filled(node.dtype, node.dtype.canonical(0), node.shape)
    parts = tuple([
        UOp(node.op, node.dtype, (zeros, *part), node.arg)
        for part in zip(*[value.parts for value in met], strict=True)
    ])  # fmt: skip
    total = Spread(layout.with_split([COPIES] * len(layout.mesh)), parts)
    for number, axis in enumerate(layout.split):
        if axis != COPIES:
            total = rules.exchanges.reduce(total, number, Op.ADD)
    onto = _on_all(rules, node, base, layout)
    pairs = zip(onto.parts, total.parts, strict=True)
    return Spread(total.layout, tuple([apply(Op.ADD, *pair) for pair in pairs]))


def _on_all(rules: Rules, node: UOp, value: Placed, layout: Layout) -> Spread:
    """A copy of the whole value on every device."""
    if isinstance(value, Spread) and not value.layout.is_copies:
        rules.note(node, "an operand")
    copies = layout.with_split([COPIES] * len(layout.mesh))
    return rules.exchanges.lay_out(value, copies)


def _on_every_device(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    """All operands are gathered, and every device computes the same."""
    layout = next(source.layout for source in sources if isinstance(source, Spread))
    copies = layout.with_split([COPIES] * len(layout.mesh))
    met = [_on_all(rules, node, source, copies) for source in sources]
    parts = zip(*[value.parts for value in met], strict=True)
    return Spread(copies, tuple([UOp(node.op, node.dtype, part, node.arg) for part in parts]))


def _called_once(rules: Rules, node: UOp, sources: Sequence[Placed]) -> Spread:
    """A Python function is called once, on the first device."""
    layout = next(source.layout for source in sources if isinstance(source, Spread))
    first = layout.devices[0]
    exchanges = rules.exchanges
    gathered = [
        UOp(Op.CONTIGUOUS, source.parts[0].dtype, (exchanges.collect(source, first),), ())
        if isinstance(source, Spread) else source
        for source in sources
    ]
    rules.note(node, "what the function reads")
    call = UOp(node.op, node.dtype, tuple(gathered), node.arg)
    return exchanges.lay_out(call, layout.with_split([COPIES] * len(layout.mesh)))


RULES: Mapping[Op, Rule] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    Op.REDUCE_AXES: _reduce_axes,
    Op.RESHAPE: _reshape,
    Op.PERMUTE: _permute,
    Op.EXPAND: _expand,
    Op.SHRINK: _shrink,
    Op.PAD: _pad,
    Op.FLIP: _flip,
    Op.SCAN_AXIS: _along_one_axis,
    Op.ORDERED: _along_one_axis,
    Op.ORDER: _along_one_axis,
    Op.SORT: _along_one_axis,
    Op.CONTIGUOUS: _partwise,
    Op.GATHER: _gather,
    Op.SCATTER: _scatter,
    Op.CUSTOM: _called_once,
}
"""The rule of each op that has one."""

GATHERED = frozenset({Op.ARRANGE})
"""Ops without a rule, whose operands are gathered."""
