"""Panels of weights become transposes of axes of symbolic lengths, which share a kernel.

    before   ASSIGN(PARAM 0, PERMUTE(RESHAPE(PARAM 1, (2, 48, 96)), (0, 2, 1)))
    after    the same of (#a, 16·#b, 16·#c)               with #a = 2, #b = 3, #c = 6

`#a`, `#b` and `#c` are variables of the compiler's own, whose values are fixed for each launch.
`#f` is the length of an axis that was padded with zeros. A network has dozens of weights, each of
another shape. A kernel for each would take longer to compile than all of them take to run. The
shared one is as fast, since its lengths are whole vectors. Lengths that are not stay numbers.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import is_kept_once, shaped, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import pad_axis, permute, reshape
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, as_length
from ogive.compiler.ir.symbolic.variable import OWN
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

AXES = tuple([f"{OWN}{letter}" for letter in "abc"])
"""The names of the variables for the lengths of axes, in the order that the weights have."""

FILLED = f"{OWN}f"
"""The name of the variable for the length of an axis before it was padded."""

LONGEST = 1 << 18
"""The greatest length of an axis. Three of them are less elements than an index can count."""

LEAST_REGIONS = 2
"""The least number of different regions that share a kernel. It is longer than one for a shape."""

COLUMNS_TO_ROWS = (0, 2, 1)
ROWS_TO_BATCH = (1, 0, 2)
"""The two orders of three axes in which panels are laid out: elements or whole lines move."""


class _Axis(NamedTuple):
    """An axis of a view of memory: its length, and the distance of its elements."""

    length: int
    stride: int


class _Padding(NamedTuple):
    """An axis that was padded at its end: it had `filled` elements, and has `length`."""

    stride: int
    filled: int
    length: int


class _Panel(NamedTuple):
    """What a region makes of memory: axes of `lengths`, in a new `order`.

    If there is `padding`, it is of the axes `first` and the one after it, which are one in memory.
    """

    lengths: tuple[int, ...]
    order: tuple[int, ...]
    first: int
    padding: _Padding | None


class _Transpose(NamedTuple):
    """A transpose of symbolic lengths, and the values of its variables."""

    graph: UOp
    fixed: tuple[tuple[str, int], ...]


def share_transposes(
    regions: Sequence[Region | HostRegion], target: Target
) -> list[Region | HostRegion]:
    """The regions, those that transpose weights with symbolic lengths if several share a graph."""
    if target.has_grid:
        return list(regions)  # kernels of blocks transpose through scratch memory
    found: dict[UOp, _Transpose | None] = {}
    for region in regions:
        if isinstance(region, Region) and region.graph not in found:
            found[region.graph] = _find_transpose(region, target)
    uses = Counter([each.graph for each in found.values() if each is not None])
    done: list[Region | HostRegion] = []
    for region in regions:
        shared = found[region.graph] if isinstance(region, Region) else None
        if isinstance(region, Region) and shared and uses[shared.graph] >= LEAST_REGIONS:
            done.append(_replaced(region, shared))
        else:
            done.append(region)
    return done


def _find_transpose(region: Region, target: Target) -> _Transpose | None:
    if len(region.values) != 2:
        return None
    panel, weight = region.values
    if not is_kept_once(panel) or weight.op is not Op.PARAM:
        return None
    found = _find_panel(region.graph.roots[0])
    lanes = target.vector_bytes // panel.dtype.itemsize
    if found is None or found.lengths[found.order[-1]] % lanes:
        return None
    return _transpose(found, panel.dtype, lanes)


def _find_panel(assigned: UOp) -> _Panel | None:
    """What a region transposes; None if it does something else."""
    path = []
    value = assigned.value
    while value.op in (Op.RESHAPE, Op.PERMUTE, Op.PAD) and len(value.src) == 1:
        path.append(value)
        value = value.operand
    target = assigned.target
    while target.op is Op.RESHAPE and len(target.src) == 1:
        target = target.operand
    if assigned.indices or {value.op, target.op} != {Op.PARAM}:
        return None
    axes = [_Axis(value.size, 1)]
    paddings: list[_Padding] = []
    for node in reversed(path):
        if node.op is Op.PERMUTE:
            moved: list[_Axis] | None = [axes[axis] for axis in node.order]
        elif node.op is Op.RESHAPE:
            moved = _reshaped(axes, node.shape)
        else:
            moved = _padded(axes, node, paddings)
        if moved is None:
            return None
        axes = moved
    if len(paddings) > 1:
        return None
    return _merged([axis for axis in axes if axis.length > 1], paddings[0] if paddings else None)


def _reshaped(axes: Sequence[_Axis], shape: Sequence[Dim]) -> list[_Axis] | None:
    """The axes in another shape; None if an axis would have two strides."""
    done: list[_Axis] = []
    rest = [axis for axis in axes if axis.length > 1]
    for length in reversed(shape):
        if length == 1 or not isinstance(length, int):
            done.append(_Axis(1, 0))
            continue
        if not rest:
            return None
        last = rest.pop()
        while last.length < length and rest and rest[-1].stride == last.stride * last.length:
            last = _Axis(rest.pop().length * last.length, last.stride)
        if last.length % length:
            return None
        done.append(_Axis(length, last.stride))
        if last.length > length:
            rest.append(_Axis(last.length // length, last.stride * length))
    return None if rest else done[::-1]


def _padded(axes: Sequence[_Axis], node: UOp, paddings: list[_Padding]) -> list[_Axis] | None:
    """The axes with one padded at its end by zeros, which is added to `paddings`."""
    widths, fill = node.arg
    done = []
    for axis, (before, after) in zip(axes, widths, strict=True):
        length = axis.length + after
        if after:
            paddings.append(_Padding(axis.stride, axis.length, length))
        if before or axis.length == 1 < length:
            return None
        done.append(_Axis(length, axis.stride))
    return done if fill == 0 else None


def _merged(axes: Sequence[_Axis], padding: _Padding | None) -> _Panel | None:
    """Three axes, of those that are side by side in memory before and after."""
    known = sorted(axes, key=lambda axis: -axis.stride)
    if not _fills_memory(known, padding):
        return None
    for cuts in itertools.combinations(range(len(known) + 1), 2):
        parts = [known[start:end] for start, end in itertools.pairwise((0, *cuts, len(known)))]
        lengths = tuple([math.prod([axis.length for axis in part]) for part in parts])
        for order in (COLUMNS_TO_ROWS, ROWS_TO_BATCH):
            if [axis for number in order for axis in parts[number]] != list(axes) or axes == known:
                continue
            if padding is None:
                return _Panel(lengths, order, 0, None)
            for first in (0, 1):
                inner = math.prod(lengths[first + 2 :])
                both = lengths[first] * lengths[first + 1]
                if (inner, both) == (padding.stride, padding.length):
                    return _Panel(lengths, order, first, padding)
    return None


def _fills_memory(known: Sequence[_Axis], padding: _Padding | None) -> bool:
    """Whether axes, the outermost first, are all of a block of memory."""
    size = 1
    for axis in reversed(known):
        if axis.stride != size:
            return False
        size *= axis.length
        if padding is not None and size == padding.stride * padding.length:
            size = padding.stride * padding.filled
    return True


def _transpose(panel: _Panel, dtype: DType, lanes: int) -> _Transpose:
    fixed: list[tuple[str, int]] = []

    def length(name: str, size: int, step: int, longest: int = LONGEST) -> Dim:
        if size % step or size > longest:
            return size
        fixed.append((name, size // step))
        return as_length(UOp(Op.VARIABLE, dtypes.index, (), (name, 1, longest // step)) * step)

    steps = (1, lanes, lanes) if panel.order == COLUMNS_TO_ROWS else (lanes, 1, None)
    sizes = tuple(
        [
            size if step is None else length(name, size, step)
            for name, size, step in zip(AXES, panel.lengths, steps, strict=True)
        ]
    )
    if panel.padding is not None:
        first = panel.first
        lines = as_length(sizes[first] * sizes[first + 1])
        filled = length(FILLED, panel.padding.filled, 1, LONGEST * LONGEST)
        value = _memory(1, dtype, (*sizes[:first], filled, *sizes[first + 2 :]))
        value = reshape(pad_axis(value, first, (0, as_length(lines - filled)), 0), sizes)
    else:
        value = _memory(1, dtype, sizes)
    value = permute(value, panel.order)
    target = _memory(0, dtype, tuple([sizes[axis] for axis in panel.order]))
    assigned = UOp(Op.ASSIGN, dtypes.void, (target, value))
    return _Transpose(UOp(Op.SINK, dtypes.void, (assigned,)), tuple(fixed))


def _memory(slot: int, dtype: DType, shape: tuple[Dim, ...]) -> UOp:
    return shaped(UOp(Op.PARAM, dtype, (), (slot, upper_count(shape))), shape)


def _replaced(region: Region, transpose: _Transpose) -> Region:
    (old,), (new,) = region.graph.roots, transpose.graph.roots
    pairs = ((new, old), (new.target, old.target), (new.value, old.value))
    sources = {now: region.sources[was] for now, was in pairs if was in region.sources}
    return dataclasses.replace(
        region, graph=transpose.graph, sources=sources, fixed=transpose.fixed
    )
