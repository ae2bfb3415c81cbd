"""What each stage's graphs may contain: the dialects as one table, and the verifier that reads it.

A `Form` says how a node of an op must look: how many sources, which dtypes, what argument, and
what else must hold. A dialect is a mapping from the ops it allows to their forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ogive.errors import VerifyError
from ogive.ir.dtype import DType, bool_, float32, index, int32, int64, uint32, uint64, void
from ogive.ir.node import UOp, walk
from ogive.ir.ops import (
    BINARY,
    COMPARISON,
    ELEMENTWISE,
    MOVEMENT,
    REDUCING,
    SCRATCH,
    TRANSCENDENTAL,
    Op,
)
from ogive.ir.shape import movement_argument

Problem = str | None
"""What was expected, if it is not what was found."""


class Form(NamedTuple):
    """How a node of one op must look. `check` says what was expected where a node is not so."""

    least: int
    most: int | None
    check: Callable[[UOp], Problem]


def verify(root: UOp | tuple[UOp, ...], dialect: str) -> None:
    """Raise `VerifyError` at the first node under `root` that `dialect` does not allow.

    The error names the node, its op and what was expected.
    """
    forms = DIALECTS[dialect]
    with_complex = dialect in _WITH_COMPLEX
    for node in walk(root if isinstance(root, tuple) else (root,)):
        problem = _find_problem(node, forms)
        if node.dtype.is_complex and not with_complex:
            problem = "a real dtype: complex numbers are pairs of floats from here on"
        if problem is not None:
            raise VerifyError(
                f"{node.op.name} in the {dialect} dialect: expected {problem}; found {node!r}",
                node.origin,
            )


def _find_problem(node: UOp, forms: Mapping[Op, Form]) -> Problem:
    form = forms.get(node.op)
    if form is None:
        return "another op, this one is not allowed here"
    count = len(node.src)
    if count < form.least or (form.most is not None and count > form.most):
        wanted = f"{form.least}" if form.least == form.most else f"{form.least} or more"
        return f"{wanted} sources, not {count}"
    return form.check(node)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _integers(value: Any) -> bool:
    return isinstance(value, tuple) and all(_is_integer(part) for part in value)


# Leaves

_PYTHON_TYPES: dict[str, type] = {"bool": bool, "float": float, "complex": complex}


def _const(node: UOp) -> Problem:
    kind = _PYTHON_TYPES.get(node.dtype.kind, int)
    return None if type(node.arg) is kind else f"a {kind.__name__} for {node.dtype.name}"


def _unique(node: UOp) -> Problem:
    return None if _is_integer(node.arg) else "an integer as argument"


def _buffer(node: UOp) -> Problem:
    if node.src[0].op is not Op.UNIQUE:
        return "UNIQUE as source"
    arg = node.arg
    fits = isinstance(arg, tuple) and len(arg) == 2 and isinstance(arg[0], str)
    return None if fits and _is_integer(arg[1]) else "(device, element count) as argument"


def _param(node: UOp) -> Problem:
    fits = _integers(node.arg) and len(node.arg) == 2 and min(node.arg) >= 0
    return None if fits else "(slot, element count) as argument"


def _variable(node: UOp) -> Problem:
    arg = node.arg
    fits = isinstance(arg, tuple) and len(arg) == 3 and isinstance(arg[0], str)
    if not fits or not _integers(arg[1:]) or arg[1] > arg[2]:
        return "(name, low, high) as argument"
    return None if node.dtype.is_integer else "an integer dtype"


def _bind(node: UOp) -> Problem:
    fits = node.src[0].op is Op.VARIABLE and node.src[1].op is Op.CONST
    return None if fits else "(VARIABLE, CONST) as sources"


def _iota(node: UOp) -> Problem:
    fits = _is_integer(node.arg) if not node.src else node.arg is None
    return None if fits else "a length, as argument or as source"


# Movement


def _movement(node: UOp) -> Problem:
    if node.src[0].dtype is not node.dtype:
        return f"the dtype of the source, {node.src[0].dtype.name}"
    if any(source.dtype is not index for source in node.src[1:]):
        return "index nodes as symbolic lengths"
    if _count_missing(node.arg if node.op is not Op.PAD else node.arg[0]) != len(node.src) - 1:
        return "one source for each None in the argument"
    return _MOVEMENT_CHECKS[node.op](node.src[0].shape, movement_argument(node))


def _count_missing(argument: Any) -> int:
    if isinstance(argument, tuple):
        return sum(map(_count_missing, argument))
    return argument is None


def _is_static(*sizes: Any) -> bool:
    return all(isinstance(size, int) for size in sizes)


def _reshape(shape: tuple[Any, ...], arg: Any) -> Problem:
    if not _is_static(*shape, *arg) or math.prod(shape) == math.prod(arg):
        return None
    return f"a shape of {math.prod(shape)} elements, not {arg}"


def _permute(shape: tuple[Any, ...], arg: Any) -> Problem:
    return None if sorted(arg) == list(range(len(shape))) else f"an order of {len(shape)} axes"


def _expand(shape: tuple[Any, ...], arg: Any) -> Problem:
    fits = len(shape) == len(arg) and all(
        old == 1 or old is new or old == new or not _is_static(old, new)
        for old, new in zip(shape, arg, strict=True)
    )
    return None if fits else f"{shape} with axes of length 1 repeated, not {arg}"


def _pad(shape: tuple[Any, ...], arg: Any) -> Problem:
    fits = len(arg) == 2 and len(arg[0]) == len(shape) and all(len(pair) == 2 for pair in arg[0])
    if not fits:
        return "((before, after) per axis, fill value)"
    negative = any(_is_static(size) and size < 0 for pair in arg[0] for size in pair)
    return "lengths that are not negative" if negative else None


def _shrink(shape: tuple[Any, ...], arg: Any) -> Problem:
    fits = len(arg) == len(shape) and all(
        not _is_static(begin, end, size) or 0 <= begin <= end <= size
        for (begin, end), size in zip(arg, shape, strict=True)
    )
    return None if fits else f"(begin, end) within {shape} for each axis, not {arg}"


def _flip(shape: tuple[Any, ...], arg: Any) -> Problem:
    fits = _integers(arg) and all(0 <= axis < len(shape) for axis in arg)
    return None if fits else f"axes of {shape}, not {arg}"


_MOVEMENT_CHECKS: dict[Op, Callable[[tuple[Any, ...], Any], Problem]] = {
    Op.RESHAPE: _reshape, Op.PERMUTE: _permute, Op.EXPAND: _expand, Op.PAD: _pad,
    Op.SHRINK: _shrink, Op.FLIP: _flip,
}  # fmt: skip


# Elementwise

_FLOAT_ONLY = (TRANSCENDENTAL - {Op.POW}) | {
    Op.DIV, Op.RECIPROCAL, Op.SQRT, Op.FLOOR, Op.CEIL, Op.ROUND, Op.TRUNC, Op.COPYSIGN,
}  # fmt: skip
_BITWISE = frozenset({Op.AND, Op.OR, Op.XOR, Op.NOT})
_COMPLEX_PARTS = frozenset({Op.COMPLEX, Op.REAL, Op.IMAGINARY})
_ON_COMPLEX = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG})
_SHIFTS = frozenset({Op.SHL, Op.SHR})
_SCALARS = frozenset({Op.CONST, Op.VARIABLE, Op.BIND})
_FLOATS = ("bfloat16", "bfloat16")
_BYTES = (("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8"))


def _elementwise(node: UOp) -> Problem:
    if node.arg is not None:
        return "no argument"
    return dtype_problem(node) or _shape_problem(node.src)


def _dot(node: UOp) -> Problem:
    wanted = {_FLOATS: float32, **dict.fromkeys(_BYTES, int32)}.get(node.arg)
    if wanted is None:
        return "a pair of names of narrow dtypes as argument"
    if node.dtype is not wanted or any(source.dtype is not uint32 for source in node.src):
        return f"words of uint32, giving {wanted.name}"
    return _shape_problem(node.src)


def dtype_problem(node: UOp) -> Problem:
    """What dtypes an elementwise node should have had, if it has others."""
    op, dtype, given = node.op, node.dtype, [source.dtype for source in node.src]
    if op is Op.CAST:
        return None
    if op is Op.BITCAST:
        same = given[0].itemsize == dtype.itemsize
        return None if same else f"a dtype of {given[0].itemsize} bytes"
    if op in COMPARISON:
        return None if dtype is bool_ and given[0] is given[1] else "two of one dtype, giving bool"
    if op in _COMPLEX_PARTS:
        part = (given[0] if op is Op.COMPLEX else dtype)
        whole = dtype if op is Op.COMPLEX else given[0]
        fits = whole.is_complex and part is whole.part and len(set(given)) == 1
        return None if fits else "a complex dtype and that of its parts"
    if op is Op.WHERE:
        fits = given[0] is bool_ and given[1] is dtype and given[2] is dtype
        return None if fits else f"(bool, {dtype.name}, {dtype.name})"
    if any(each is not dtype for each in given):
        return f"{dtype.name} sources, not {', '.join([each.name for each in given])}"
    return _kind_problem(op, dtype)


def _kind_problem(op: Op, dtype: DType) -> Problem:
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
    if op in (Op.FLOORDIV, Op.MOD, Op.NEG, Op.SUB) and dtype is bool_:
        return "a dtype other than bool"
    return None


def _shape_problem(sources: tuple[UOp, ...]) -> Problem:
    shapes = {source.shape for source in sources if source.op not in _SCALARS}
    return f"equal shapes, not {sorted(map(str, shapes))}" if len(shapes) > 1 else None


# Whole axes, memory, order


def _reduce_axes(node: UOp) -> Problem:
    arg = node.arg
    if not isinstance(arg, tuple) or len(arg) != 2 or arg[0] not in REDUCING:
        return "(combining op, axes) as argument"
    if node.dtype.is_complex and arg[0] is not Op.ADD:
        return "a sum, or a real dtype"
    rank = len(node.src[0].shape)
    fits = _integers(arg[1]) and all(0 <= axis < rank for axis in arg[1])
    return None if fits else f"axes below {rank}, not {arg[1]}"


def _gather(node: UOp) -> Problem:
    return _indices_problem(node.src[0], node.src[1:]) or _same_dtype(node)


def _scatter(node: UOp) -> Problem:
    return _indexed_store(node) or _same_dtype(node)


def _indexed_store(node: UOp) -> Problem:
    target, value, *indices = node.src
    if node.arg is not None and node.arg not in REDUCING:
        return "a combining op or None as argument"
    if target.dtype is not value.dtype:
        return f"a value of {target.dtype.name}, not {value.dtype.name}"
    return _indices_problem(target, tuple(indices)) or _shape_problem(node.src[1:])


def _scan(node: UOp) -> Problem:
    arg = node.arg
    if not isinstance(arg, tuple) or len(arg) != 2 or arg[0] not in REDUCING:
        return "(combining op, axis) as argument"
    shape = node.src[0].shape
    if not _is_integer(arg[1]) or not 0 <= arg[1] < len(shape):
        return f"an axis below {len(shape)}, not {arg[1]}"
    wanted = (*shape[: arg[1]], 1, *shape[arg[1] + 1 :])
    if len(node.src) == 2 and node.src[1].shape != wanted:
        return f"{wanted} to start from, not {node.src[1].shape}"
    return _same_dtype(node)


def _indices_problem(x: UOp, indices: tuple[UOp, ...]) -> Problem:
    if len(indices) != len(x.shape):
        return f"{len(x.shape)} indices, one per axis, not {len(indices)}"
    if any(index.dtype is not int64 for index in indices):
        return "indices of int64"
    return _shape_problem(indices)


def _same_dtype(node: UOp) -> Problem:
    wanted = node.src[0].dtype
    return None if node.dtype is wanted else f"the dtype of the source, {wanted.name}"


def _tensor_store(node: UOp) -> Problem:
    if len(node.src) > 2:
        return _indexed_store(node)
    target, value = node.src
    if target.dtype is not value.dtype:
        return f"a value of {target.dtype.name}, not {value.dtype.name}"
    fits = target.shape == value.shape or value.op in _SCALARS
    return None if fits else f"a value of shape {target.shape}, not {value.shape}"


def _sink(node: UOp) -> Problem:
    return None if node.dtype is void else "no dtype"


def _region_sink(node: UOp) -> Problem:
    targets = []
    for store in node.src:
        target = store.src[0]
        while target.op is not Op.PARAM:
            target = target.src[0]
        targets.append(target)
    differ = len(set(targets)) == len(targets)
    return _sink(node) or (None if differ else "stores to different buffers")


# Loops


def _range(node: UOp) -> Problem:
    if node.dtype is not index or node.src[0].dtype is not index:
        return "index as dtype and as dtype of the extent"
    fits = isinstance(node.arg, tuple) and len(node.arg) == 2 and _is_integer(node.arg[0])
    return None if fits else "(number, placement) as argument"


def _unplaced_range(node: UOp) -> Problem:
    # A loop whose iterations have an order is one from the beginning.
    return _range(node) or (None if node.arg[1] in (None, "loop") else "no placement yet")


def _placed_range(node: UOp) -> Problem:
    return _range(node) or (None if isinstance(node.arg[1], str) else "a placement")


def _ranges_from(node: UOp, start: int) -> Problem:
    strangers = [source.op.name for source in node.src[start:] if source.op is not Op.RANGE]
    return f"ranges to close, not {', '.join(strangers)}" if strangers else None


def _loop_scan(node: UOp) -> Problem:
    if node.arg not in REDUCING:
        return "a combining op as argument"
    if node.src[2].op is not Op.RANGE or node.src[2].arg[1] != "loop":
        return "a loop in order as last source"
    fits = node.src[1].dtype is node.dtype
    return _same_dtype(node) if fits else f"{node.dtype.name} to start from"


def _reduce(node: UOp) -> Problem:
    if node.arg not in REDUCING:
        return "a combining op as argument"
    return _same_dtype(node) or _ranges_from(node, 1)


def _index(node: UOp) -> Problem:
    if node.src[0].op not in (Op.PARAM, Op.STAGE):
        return "PARAM or STAGE as first source"
    if node.src[1].dtype is not index:
        return "an index as second source"
    gated = len(node.src) == 3
    return "bool as gate" if gated and node.src[2].dtype is not bool_ else _same_dtype(node)


def _load(node: UOp) -> Problem:
    return _same_dtype(node) if node.src[0].op is Op.INDEX else "INDEX as source"


def _lowered_load(node: UOp) -> Problem:
    if len(node.src) == 1:
        return _load(node) or (None if node.arg is None else "no stride without lanes")
    lane = node.src[1]
    if lane.op is not Op.RANGE or lane.arg[1] != "lane":
        return "a lane counter as second source"
    return _load(node) or (None if _is_stride(node.arg) else "a stride as argument")


def _lowered_store(node: UOp) -> Problem:
    if not isinstance(node.arg, tuple) or len(node.arg) != 2:
        return "(stride, combining op) as argument"
    stride, op = node.arg
    fits = (stride is None or _is_stride(stride)) and (op is None or op in REDUCING)
    return _stored(node) if fits else "a stride and a combining op, or None, as argument"


def _is_stride(value: Any) -> bool:
    return _is_integer(value) or value == "gather"


def _loop_store(node: UOp) -> Problem:
    fits = node.arg is None or node.arg in REDUCING
    return _stored(node) if fits else "a combining op or None as argument"


def _stored(node: UOp) -> Problem:
    if node.src[0].op is not Op.INDEX:
        return "INDEX as first source"
    wanted, given = node.src[0].dtype, node.src[1].dtype
    if wanted is not given:
        return f"a value of {wanted.name}, not {given.name}"
    return _ranges_from(node, 2)


def _check(node: UOp) -> Problem:
    if any(source.dtype is not bool_ for source in node.src[1:]):
        return "bool as condition and as gate"
    fits = _integers(node.arg) and len(node.arg) == 2
    return _same_dtype(node) if fits else "(site, what stands in) as argument"


def _tensor_stage(node: UOp) -> Problem:
    fits = _is_space_and_number(node.arg) and 0 <= node.arg[1] < len(node.shape)
    return _same_dtype(node) if fits else "(space, axis) as argument"


def _stage(node: UOp) -> Problem:
    if node.src[1].dtype is not index:
        return "an index as second source"
    arg = node.arg
    fits = isinstance(arg, tuple) and len(arg) == 2 and _is_space_and_op(arg)
    problem = "(space, combining op or None) as argument"
    return _same_dtype(node) or _ranges_from(node, 2) if fits else problem


def _lowered_stage(node: UOp) -> Problem:
    arg = node.arg
    fits = isinstance(arg, tuple) and len(arg) == 3 and _is_space_and_op(arg[::2])
    problem = "(space, count, combining op or None) as argument"
    fits = fits and _is_integer(arg[1])
    return _same_dtype(node) or _ranges_from(node, 2) if fits else problem


def _is_space_and_op(value: tuple[Any, Any]) -> bool:
    return value[0] == SCRATCH and (value[1] is None or value[1] in REDUCING)


def _is_space_and_number(value: Any) -> bool:
    fits = isinstance(value, tuple) and len(value) == 2
    return fits and value[0] == SCRATCH and _is_integer(value[1])


def _copy(node: UOp) -> Problem:
    return _same_dtype(node) if isinstance(node.arg, str) else "a device as argument"


def _custom(node: UOp) -> Problem:
    arg = node.arg
    fits = isinstance(arg, tuple) and len(arg) == 3 and isinstance(arg[0], str)
    if not fits or not _is_integer(arg[2]) or not 0 <= arg[2] < len(arg[1]):
        return "(name, ((shape, dtype), ...), output number) as argument"
    if node.src[0].op not in (Op.BUFFER, Op.PARAM):
        return "the memory that stands for a function as first source"
    dtype = arg[1][arg[2]][1]
    return None if node.dtype is dtype else f"{dtype.name}, as declared"


# The table

_ELEMENTWISE = {
    op: Form(arity, arity, _elementwise)
    for op in ELEMENTWISE
    for arity in [3 if op is Op.WHERE else 2 if op in BINARY else 1]
} | {Op.DOT: Form(2, 2, _dot)}
_VALUES: dict[Op, Form] = {
    Op.CONST: Form(0, 0, _const),
    Op.VARIABLE: Form(0, 0, _variable),
    Op.PARAM: Form(0, 0, _param),
    Op.IOTA: Form(0, 1, _iota),
    **{op: Form(1, None, _movement) for op in MOVEMENT},
    **_ELEMENTWISE,
    Op.REDUCE_AXES: Form(1, 1, _reduce_axes),
    Op.GATHER: Form(2, None, _gather),
    Op.SCAN: Form(1, 2, _scan),
    Op.STAGE: Form(1, 1, _tensor_stage),
    Op.STORE: Form(2, None, _tensor_store),
    Op.SINK: Form(0, None, _sink),
}
_REGION: dict[Op, Form] = _VALUES | {Op.SINK: Form(1, None, _region_sink)}
_PARAMETRIC: dict[Op, Form] = _VALUES | {
    Op.CONTIGUOUS: Form(1, 1, _same_dtype),
    Op.DETACH: Form(1, 1, _same_dtype),
    Op.GRADIENT: Form(1, None, _same_dtype),
    Op.SCATTER: Form(3, None, _scatter),
    Op.COPY: Form(1, 1, _copy),
    Op.CUSTOM: Form(1, None, _custom),
    Op.AFTER: Form(1, None, _same_dtype),
}
del _PARAMETRIC[Op.STAGE], _PARAMETRIC[Op.DOT]
_TENSOR: dict[Op, Form] = _PARAMETRIC | {
    Op.UNIQUE: Form(0, 0, _unique),
    Op.BUFFER: Form(1, 1, _buffer),
    Op.BIND: Form(2, 2, _bind),
}
del _TENSOR[Op.PARAM]
_LOOPS: dict[Op, Form] = {
    Op.PARAM: Form(0, 0, _param),
    Op.CONST: Form(0, 0, _const),
    Op.VARIABLE: Form(0, 0, _variable),
    Op.RANGE: Form(1, 1, _unplaced_range),
    **_ELEMENTWISE,
    Op.REDUCE: Form(1, None, _reduce),
    Op.SCAN: Form(3, 3, _loop_scan),
    Op.INDEX: Form(2, 3, _index),
    Op.LOAD: Form(1, 1, _load),
    Op.CHECK: Form(2, 3, _check),
    Op.STORE: Form(2, None, _loop_store),
    Op.STAGE: Form(2, None, _stage),
    Op.SINK: Form(0, None, _sink),
}
_PLACED: dict[Op, Form] = _LOOPS | {Op.RANGE: Form(1, 1, _placed_range)}
_LOWERED: dict[Op, Form] = _PLACED | {
    Op.LOAD: Form(1, 2, _lowered_load),
    Op.STORE: Form(2, None, _lowered_store),
    Op.STAGE: Form(2, None, _lowered_stage),
}

_WITH_COMPLEX = frozenset({"tensor", "parametric"})
DIALECTS: dict[str, dict[Op, Form]] = {
    "tensor": _TENSOR,
    "parametric": _PARAMETRIC,
    "region": _REGION,
    "loops": _LOOPS,
    "placed": _PLACED,
    "lowered": _LOWERED,
}
