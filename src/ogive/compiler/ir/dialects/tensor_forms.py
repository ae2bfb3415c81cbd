"""Checks of tensor graphs, beyond those of the op table.

A check takes a node whose number of sources and argument fit the table. It gives what was expected
of the node, or None if the node is right. `verify.py` says which op of which stage has which check.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ogive.compiler.ir.calls import expanders
from ogive.compiler.ir.dialects.argument_forms import is_integer
from ogive.compiler.ir.dtype import DType, bool_, float32, index, int32, int64, uint32, uint64, void
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMPARISON, SCRATCH, TRANSCENDENTAL, Op
from ogive.compiler.ir.shape import movement_argument

Problem = str | None
"""The form that was expected of a node, in words; None if nothing is wrong."""


# Leaves

_PYTHON_TYPES: dict[str, type] = {"bool": bool, "float": float, "complex": complex}


def expect_const(node: UOp) -> Problem:
    kind = _PYTHON_TYPES.get(node.dtype.kind, int)
    return None if type(node.literal) is kind else f"a {kind.__name__} for {node.dtype.name}"


def expect_buffer(node: UOp) -> Problem:
    return None if node.identity.op is Op.UNIQUE else "UNIQUE as source"


def expect_param(node: UOp) -> Problem:
    """A `PARAM` in a region names no device, since a kernel does not depend on it."""
    return _expect_slot(node) if node.device is None else "no device"


def expect_memory(node: UOp) -> Problem:
    """A `PARAM` in a parametric graph names its device."""
    return _expect_slot(node) if node.device is not None else "a device"


def _expect_slot(node: UOp) -> Problem:
    fits = node.slot >= 0 and node.size >= 0
    return None if fits else "a slot and an element count that are not negative"


def expect_variable(node: UOp) -> Problem:
    if node.low > node.high:
        return "a low that is not above the high"
    return None if node.dtype.is_integer else "an integer dtype"


def expect_bind(node: UOp) -> Problem:
    fits = node.variable.op is Op.VARIABLE and node.bound.op is Op.CONST
    return None if fits else "(VARIABLE, CONST) as sources"


def expect_iota(node: UOp) -> Problem:
    fits = (node.symbolic is None) is not (node.stop is None)
    return None if fits else "a length, as argument or as source"


# Movement


def expect_movement(node: UOp) -> Problem:
    if node.operand.dtype is not node.dtype:
        return f"the dtype of the source, {node.operand.dtype.name}"
    lengths = node.src[1:]
    if any(length.dtype is not index for length in lengths):
        return "index nodes as symbolic lengths"
    if _count_missing(node.widths if node.op is Op.PAD else node.arg) != len(lengths):
        return "one source for each None in the argument"
    return _MOVEMENT_CHECKS[node.op](node.operand.shape, movement_argument(node))


def _count_missing(argument: Any) -> int:
    if isinstance(argument, tuple):
        return sum(map(_count_missing, argument))
    return argument is None


def _is_static(*sizes: Any) -> bool:
    return all(isinstance(size, int) for size in sizes)


def _expect_reshape(shape: tuple[Any, ...], arg: Any) -> Problem:
    if not _is_static(*shape, *arg) or math.prod(shape) == math.prod(arg):
        return None
    return f"a shape of {math.prod(shape)} elements, not {arg}"


def _expect_permute(shape: tuple[Any, ...], arg: Any) -> Problem:
    return None if sorted(arg) == list(range(len(shape))) else f"an order of {len(shape)} axes"


def _expect_expand(shape: tuple[Any, ...], arg: Any) -> Problem:
    fits = len(shape) == len(arg) and all(
        old == 1 or old is new or old == new or not _is_static(old, new)
        for old, new in zip(shape, arg, strict=True)
    )
    return None if fits else f"{shape} with axes of length 1 repeated, not {arg}"


def _expect_pad(shape: tuple[Any, ...], arg: Any) -> Problem:
    if len(arg[0]) != len(shape):
        return f"(before, after) for each axis of {shape}"
    negative = any(_is_static(size) and size < 0 for pair in arg[0] for size in pair)
    return "lengths that are not negative" if negative else None


def _expect_shrink(shape: tuple[Any, ...], arg: Any) -> Problem:
    fits = len(arg) == len(shape) and all(
        not _is_static(begin, end, size) or 0 <= begin <= end <= size
        for (begin, end), size in zip(arg, shape, strict=True)
    )
    return None if fits else f"(begin, end) within {shape} for each axis, not {arg}"


def _expect_flip(shape: tuple[Any, ...], arg: Any) -> Problem:
    fits = all(0 <= axis < len(shape) for axis in arg)
    return None if fits else f"axes of {shape}, not {arg}"


_MOVEMENT_CHECKS: dict[Op, Callable[[tuple[Any, ...], Any], Problem]] = {
    Op.RESHAPE: _expect_reshape,
    Op.PERMUTE: _expect_permute,
    Op.EXPAND: _expect_expand,
    Op.PAD: _expect_pad,
    Op.SHRINK: _expect_shrink,
    Op.FLIP: _expect_flip,
}


# Elementwise

_FLOAT_ONLY = (TRANSCENDENTAL - {Op.POW}) | {
    Op.DIV, Op.RECIPROCAL, Op.SQRT, Op.FLOOR, Op.CEIL, Op.ROUND, Op.TRUNC, Op.COPYSIGN,
}  # fmt: skip
_BITWISE = frozenset({Op.AND, Op.OR, Op.XOR, Op.NOT})
_COMPLEX_PARTS = frozenset({Op.COMPLEX, Op.REAL, Op.IMAGINARY})
_ON_COMPLEX = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG})
_SHIFTS = frozenset({Op.SHL, Op.SHR})
_SCALARS = frozenset({Op.CONST, Op.VARIABLE, Op.BIND})
_NOT_OF_BOOLS = frozenset({Op.FLOORDIV, Op.MOD, Op.NEG, Op.SUB, Op.ABS, Op.POW})
_DOT_TOTALS: dict[tuple[str, str], DType] = {
    ("bfloat16", "bfloat16"): float32,
    ("int8", "int8"): int32,
    ("uint8", "uint8"): int32,
    ("uint8", "int8"): int32,
    ("int16", "int16"): int32,
}


def expect_elementwise(node: UOp) -> Problem:
    return expect_dtypes(node) or _expect_equal_shapes(node.src)


def expect_dot(node: UOp) -> Problem:
    wanted = _DOT_TOTALS.get(node.arg)
    if wanted is None:
        return "a pair of names of narrow dtypes as argument"
    if node.dtype is not wanted or any(source.dtype is not uint32 for source in node.src):
        return f"words of uint32, giving {wanted.name}"
    return _expect_equal_shapes(node.src)


def expect_dtypes(node: UOp) -> Problem:
    """The dtypes that an elementwise node should have, in words; None if it has them."""
    op, dtype, given = node.op, node.dtype, [source.dtype for source in node.src]
    if op is Op.CAST:
        return None
    if op is Op.BITCAST:
        same = given[0].itemsize == dtype.itemsize
        return None if same else f"a dtype of {given[0].itemsize} bytes"
    if op in COMPARISON:
        return None if dtype is bool_ and given[0] is given[1] else "two of one dtype, giving bool"
    if op in _COMPLEX_PARTS:
        part = given[0] if op is Op.COMPLEX else dtype
        whole = dtype if op is Op.COMPLEX else given[0]
        fits = whole.is_complex and part is whole.part and len(set(given)) == 1
        return None if fits else "a complex dtype and that of its parts"
    if op is Op.WHERE:
        fits = given[0] is bool_ and given[1] is dtype and given[2] is dtype
        return None if fits else f"(bool, {dtype.name}, {dtype.name})"
    if any(each is not dtype for each in given):
        return f"{dtype.name} sources, not {', '.join([each.name for each in given])}"
    return _expect_kind(op, dtype)


def _expect_kind(op: Op, dtype: DType) -> Problem:
    if dtype.is_storage_only:
        return "a dtype that has arithmetic"
    if dtype.is_complex:
        return None if op in _ON_COMPLEX else "a real dtype"
    if op in _FLOAT_ONLY and not dtype.is_float:
        return "a float dtype"
    if op in _BITWISE and dtype.is_float:
        return "an integer dtype or bool"
    if op in _SHIFTS and not dtype.is_integer:
        return "an integer dtype"
    if op is Op.THREEFRY and dtype is not uint64:
        return "uint64"
    if op in _NOT_OF_BOOLS and dtype is bool_:
        return "a dtype other than bool"
    return None


def _expect_equal_shapes(sources: tuple[UOp, ...]) -> Problem:
    shapes = {source.shape for source in sources if source.op not in _SCALARS}
    return f"equal shapes, not {sorted(map(str, shapes))}" if len(shapes) > 1 else None


# Whole axes, memory, order


def expect_reduce_axes(node: UOp) -> Problem:
    if node.dtype.is_complex and node.combine is not Op.ADD:
        return "a sum, or a real dtype"
    rank = len(node.operand.shape)
    fits = all(0 <= axis < rank for axis in node.axes)
    return None if fits else f"axes below {rank}, not {node.axes}"


def expect_gather(node: UOp) -> Problem:
    return _expect_indices(node.operand, node.indices) or expect_same_dtype(node)


def expect_scatter(node: UOp) -> Problem:
    return _expect_indexed_store(node) or expect_same_dtype(node)


def _expect_indexed_store(node: UOp) -> Problem:
    target, value, *indices = node.src
    if target.dtype is not value.dtype:
        return f"a value of {target.dtype.name}, not {value.dtype.name}"
    return _expect_indices(target, tuple(indices)) or _expect_equal_shapes(node.src[1:])


def expect_scan_axis(node: UOp) -> Problem:
    shape, axis = node.operand.shape, node.axis
    if not 0 <= axis < len(shape):
        return f"an axis below {len(shape)}, not {axis}"
    wanted = (*shape[:axis], 1, *shape[axis + 1 :])
    if node.initial is not None and node.initial.shape != wanted:
        return f"{wanted} to start from, not {node.initial.shape}"
    kinds = {source.dtype.kind for source in node.src}
    return None if kinds == {node.dtype.kind} else f"sources of the kind of {node.dtype.name}"


def expect_ordered(node: UOp) -> Problem:
    return _expect_line(node.operand) or expect_same_dtype(node)


def expect_order(node: UOp) -> Problem:
    line = _expect_line(node.operand)
    if line is not None:
        return line
    if not 0 <= node.count <= node.operand.shape[-1]:
        return f"a count of at most {node.operand.shape[-1]} elements, not {node.count}"
    return None if node.dtype is int64 else "positions of int64"


def _expect_line(operand: UOp) -> Problem:
    shape = operand.shape
    if shape and is_integer(shape[-1]) and shape[-1] >= 2:
        return None if not operand.dtype.is_complex else "elements that have an order"
    return f"a last axis of two or more elements, not {shape}"


def expect_sort(node: UOp) -> Problem:
    line = _expect_line(node.operand)
    if line is not None:
        return line
    return expect_same_dtype(node) if node.dtype.is_integer else "integers to put in order"


def expect_arrange(node: UOp) -> Problem:
    x, starts, group = node.src
    if len(x.shape) < 2 or group.shape != x.shape or group.dtype is not int64:
        return f"chunks of elements, and for each its group as int64, not {group.shape}"
    if starts.shape[:-1] != x.shape[:-1] or not starts.dtype.is_integer:
        return f"where the groups of each chunk start, as integers, not {starts.shape}"
    return expect_same_dtype(node)


def _expect_indices(x: UOp, indices: tuple[UOp, ...]) -> Problem:
    if len(indices) != len(x.shape):
        return f"{len(x.shape)} indices, one per axis, not {len(indices)}"
    if any(index.dtype is not int64 for index in indices):
        return "indices of int64"
    return _expect_equal_shapes(indices)


def expect_same_dtype(node: UOp) -> Problem:
    wanted = node.src[0].dtype
    return None if node.dtype is wanted else f"the dtype of the source, {wanted.name}"


def expect_assign(node: UOp) -> Problem:
    if len(node.src) > 2:
        return _expect_indexed_store(node)
    target, value = node.src
    if target.dtype is not value.dtype:
        return f"a value of {target.dtype.name}, not {value.dtype.name}"
    fits = target.shape == value.shape or value.op in _SCALARS
    return None if fits else f"a value of shape {target.shape}, not {value.shape}"


def expect_sink(node: UOp) -> Problem:
    return None if node.dtype is void else "no dtype"


def expect_placeless_sink(node: UOp) -> Problem:
    return expect_sink(node) if node.devices is None else "no devices"


def expect_placed_sink(node: UOp) -> Problem:
    """A graph that is computed on one device need not name it."""
    fits = node.devices is None or len(node.devices) == len(node.roots)
    return expect_sink(node) or (None if fits else "a device for each source as argument")


def expect_region_sink(node: UOp) -> Problem:
    if not node.roots:
        return "one store or more"
    targets = []
    for store in node.roots:
        target = store.target
        while target.op is not Op.PARAM:
            target = target.operand
        targets.append(target)
    differ = len(set(targets)) == len(targets)
    return expect_placeless_sink(node) or (None if differ else "stores to different buffers")


def expect_stage_axis(node: UOp) -> Problem:
    if node.space != SCRATCH or not 0 <= node.axis < len(node.shape):
        return f"{SCRATCH!r} as space and an axis below {len(node.shape)}"
    return expect_same_dtype(node)


def expect_custom(node: UOp) -> Problem:
    if node.function.op not in (Op.BUFFER, Op.PARAM):
        return "the memory that stands for a function as first source"
    return _expect_output(node)


def expect_call(node: UOp) -> Problem:
    if node.callee not in expanders:
        return "the name of a library function that may be called by a node"
    return _expect_output(node)


def _expect_output(node: UOp) -> Problem:
    if not 0 <= node.output < len(node.outputs):
        return f"an output below {len(node.outputs)}"
    dtype = node.outputs[node.output][1]
    return None if node.dtype is dtype else f"{dtype.name}, as declared"
