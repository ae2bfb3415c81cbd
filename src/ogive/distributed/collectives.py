"""Exchanges in which all ranks take part. Each gives a new tensor, and has a gradient.

All ranks come to the same calls in the same order, with the same shapes and dtypes; where they do
not, each of them raises a `DistributedError` that names their lines. An exchange is made at once,
inside of `ogive.jit` when the function runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ogive.autograd.custom import custom_gradient
from ogive.distributed.exchanges import (
    Array,
    Shape,
    as_bytes,
    exchange,
    known_shape,
    refuse_capture,
    refuse_others,
    settle_gather,
    start_gather,
)
from ogive.distributed.groups import Group, members_of, to_rank
from ogive.distributed.rank_calls import Call, call_of
from ogive.distributed.rank_reductions import OPERATIONS, combine_rows
from ogive.distributed.ranks import Ranks
from ogive.errors import (
    ArgumentError,
    DtypeError,
    GradientError,
    ShapeError,
    nearest,
    user_origin,
)
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType, to_dtype
from ogive.tensor.core import to_axis
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor


def barrier(group: Group | None = None) -> None:
    """Wait until all ranks have come here, or all of a group.

    >>> ogive.distributed.barrier()

    Raises `DistributedError` where another rank calls something else, or does not come.
    """
    refuse_capture("barrier()")
    ranks = members_of(group, "barrier")
    if ranks is not None:
        ranks.exchange(Call("barrier()", user_origin()))


def all_reduce(
    x: Tensor, op: str = "sum", group: Group | None = None, compress: Any = None
) -> Tensor:
    """The sum over all ranks, element by element; or their `mean`, `max`, `min`, `prod`.

    Shapes: that of `x`, the same on all ranks. `group` is one that `new_group` gave, all ranks
    without. float16, bfloat16 and the 8-bit floats are reduced in float32 and rounded once. With
    `compress` a narrower float, such as `"bfloat16"`, values travel in that: each is rounded to it
    before it is sent, the total is worked out in float32 and rounded once more. Of booleans, `sum`
    and `max` say whether any is true, `min` and `prod` whether all are. Sums of integers wrap
    around; a maximum or minimum is NaN where any value is. The result has the same bits on all
    ranks.

    The gradient of a sum is the sum of the gradients; of `max` and `min`, the ranks that have it
    share the sum. `prod` has none.

    >>> ogive.distributed.all_reduce(Tensor([1.0, 2.0]), op="max").tolist()
    [1.0, 2.0]

    Raises `ArgumentError` for another `op`, `DtypeError` where it does not go with the dtype,
    `DistributedError` where the ranks do not agree, or one does not answer.
    """
    refuse_others(x, "all_reduce")
    ranks = members_of(group, "all_reduce")
    narrow = narrow_dtype(compress, x.dtype)
    call = _reduction_call("all_reduce", x, op, **({"compress": narrow.name} if narrow else {}))
    back = _reduction_back(ranks, op, call, narrow)
    return with_gradient(x, lambda given: reduce_over_ranks(ranks, given, op, call, narrow), back)


def narrow_dtype(given: Any, dtype: DType) -> DType | None:
    """The dtype that values travel in; None for their own. Raises `DtypeError`."""
    if given is None:
        return None
    narrow = to_dtype(given)
    if not (narrow.is_float and dtype.is_float and narrow.bits < dtype.bits <= 32):
        raise DtypeError(
            f"all_reduce: values of {dtype.name} cannot travel as {narrow.name}; compress is a "
            "narrower float, for values of float32 or less"
        )
    return narrow


def _reduction_call(name: str, x: Tensor, op: str, **options: object) -> Call:
    if op not in OPERATIONS:
        raise ArgumentError(
            f"{name}: op is one of {', '.join(OPERATIONS)}, got {op!r}{nearest(op, OPERATIONS)}"
        )
    is_exact = not (x.dtype.is_float or x.dtype.is_complex)
    if (op == "mean" and is_exact) or (op in ("max", "min") and x.dtype.is_complex):
        raise DtypeError(f"{name}: there is no {op} of {x.dtype.name}")
    return call_of(name, known_shape(x), x.dtype, False, op=op, **options)


def reduce_over_ranks(
    ranks: Ranks | None, x: Tensor, op: str, call: Call, narrow: DType | None = None
) -> Tensor:
    """`all_reduce`, under the name of another call."""
    if ranks is None:
        return x.clone()
    if narrow is not None:
        return _reduce_narrow(ranks, x, op, call, narrow)
    return _in_wide_floats(ranks, x, op, lambda wide: _all_reduce(ranks, wide, op, call))


def _reduce_narrow(ranks: Ranks, x: Tensor, op: str, call: Call, narrow: DType) -> Tensor:
    """A reduction of values that travel in fewer bits: each rank works out a part of the total.

    MPI has no sums of such floats, and a sum that is rounded at each rank would depend on them.
    """
    shape, count = known_shape(x), math.prod(known_shape(x))
    more = -count % ranks.size
    flat = x.cast(narrow).reshape(-1)
    if more:
        flat = cat([flat, zeros(more, dtype=narrow, device=flat.device)])
    terms = redistribute(ranks, flat.reshape(ranks.size, -1), 0, 0, call).cast(dtypes.float32)
    total = {
        "sum": terms.sum, "mean": terms.mean, "max": terms.amax, "min": terms.amin,
        "prod": terms.prod,
    }[op](0)  # fmt: skip
    joined = gather_over_ranks(ranks, total.cast(narrow), 0, _backward(call, "gathered"))
    return joined[:count].cast(x.dtype).reshape(shape)


def _all_reduce(ranks: Ranks, x: Tensor, op: str, call: Call) -> Tensor:
    dtype = x.dtype

    def start(over: Any, read: Array, written: Array) -> Any:
        return over.Iallreduce(read, written, ranks.operation(dtype, op))

    def settle(every: Array, written: Array) -> None:
        combine_rows(every, dtype, op, written)

    return exchange(ranks, call, x, known_shape(x), start, settle)


def _in_wide_floats(
    ranks: Ranks, x: Tensor, op: str, reduce: Callable[[Tensor], Tensor]
) -> Tensor:
    """A reduction of floats narrower than 32 bits in float32; a mean from its sum."""
    is_narrow = x.dtype.is_float and x.dtype.bits < 32
    total = reduce(x.cast(dtypes.float32) if is_narrow else x)
    if op == "mean":
        total = total / ranks.size
    return total.cast(x.dtype) if is_narrow else total


def _reduction_back(
    ranks: Ranks | None, op: str, call: Call, narrow: DType | None
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def back(x: Tensor, y: Tensor, upstream: Tensor) -> Tensor:
        if op in ("sum", "mean"):
            return reduce_over_ranks(ranks, upstream, op, _backward(call), narrow)
        if op == "prod":
            raise GradientError("all_reduce(op='prod') has no gradient; cut it off with detach()")
        holds = (x == y).cast(x.dtype)
        total = reduce_over_ranks(ranks, upstream, "sum", _backward(call))
        holders = reduce_over_ranks(ranks, holds, "sum", _backward(call, "how many hold it"))
        return total * holds / holders

    return back


def all_gather(x: Tensor, axis: int = 0, group: Group | None = None) -> Tensor:
    """The tensors of all ranks, or of a group, joined along an axis in the order of ranks.

    Shapes: that of `x`, the same on all ranks, with `axis` so many times as long; of scalars, one
    axis. The gradient is `reduce_scatter` of the upstream one.

    >>> ogive.distributed.all_gather(Tensor([1, 2])).tolist()
    [1, 2]

    Raises `AxisError`, and `DistributedError` as `all_reduce` does.
    """
    refuse_others(x, "all_gather")
    shape = known_shape(x)
    axis = to_axis(axis, x.ndim, "all_gather") if shape else 0
    call = call_of("all_gather", shape, x.dtype, axis=axis)
    ranks = members_of(group, "all_gather")

    def back(x: Tensor, y: Tensor, upstream: Tensor) -> Tensor:
        return scatter_over_ranks(ranks, upstream, "sum", axis, _backward(call)).reshape(shape)

    return with_gradient(x, lambda given: gather_over_ranks(ranks, given, axis, call), back)


def gather_over_ranks(ranks: Ranks | None, x: Tensor, axis: int, call: Call) -> Tensor:
    """`all_gather`, under the name of another call."""
    shape = known_shape(x)
    if ranks is None:
        return _join(x.reshape(1, *shape), axis)
    whole = (ranks.size, *shape)
    return _join(exchange(ranks, call, x, whole, start_gather, settle_gather), axis)


def reduce_scatter(
    x: Tensor, op: str = "sum", axis: int = 0, group: Group | None = None
) -> Tensor:
    """`all_reduce`, of which each rank gets its part along an axis.

    Shapes: that of `x`, with `axis`, a multiple of the number of ranks, so many times as short. The
    gradient of a sum is `all_gather` of the upstream one; `max`, `min` and `prod` have none.

    >>> ogive.distributed.reduce_scatter(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]

    Raises `ShapeError` for a length that cannot be divided, and as `all_reduce` does.
    """
    refuse_others(x, "reduce_scatter")
    axis = to_axis(axis, x.ndim, "reduce_scatter")
    call = _reduction_call("reduce_scatter", x, op, axis=axis)
    ranks = members_of(group, "reduce_scatter")

    def back(x: Tensor, y: Tensor, upstream: Tensor) -> Tensor:
        if op not in ("sum", "mean"):
            raise GradientError(
                f"reduce_scatter(op={op!r}) has no gradient; cut it off with detach()"
            )
        joined = gather_over_ranks(ranks, upstream, axis, _backward(call))
        return joined / _count(ranks) if op == "mean" else joined

    return with_gradient(
        x, lambda given: scatter_over_ranks(ranks, given, op, axis, call), back
    )


def scatter_over_ranks(
    ranks: Ranks | None, x: Tensor, op: str, axis: int, call: Call
) -> Tensor:
    """`reduce_scatter`, under the name of another call."""
    if ranks is None:
        return x.clone()
    parts = _split(x, axis, ranks.size, "reduce_scatter")
    shape = known_shape(parts)[1:]

    def reduce(wide: Tensor) -> Tensor:
        dtype = wide.dtype

        def start(over: Any, read: Array, written: Array) -> Any:
            return over.Ireduce_scatter_block(read, written, op=ranks.operation(dtype, op))

        def settle(every: Array, written: Array) -> None:
            combine_rows(every[:, ranks.rank], dtype, op, written)

        return exchange(ranks, call, wide, shape, start, settle)

    return _in_wide_floats(ranks, parts, op, reduce).reshape(shape)


def broadcast(x: Tensor, root: int = 0, group: Group | None = None) -> Tensor:
    """The tensor of the rank `root`, on all ranks, or on all of a group, where `root` counts.

    Shapes: that of `x`, the same on all ranks. The gradient is summed at the root.

    >>> ogive.distributed.broadcast(Tensor([1, 2])).tolist()
    [1, 2]

    Raises `ArgumentError` for a rank that there is not, `DistributedError` as `all_reduce` does.
    """
    refuse_others(x, "broadcast")
    ranks = members_of(group, "broadcast")
    root = to_rank(root, "broadcast: root", _count(ranks))
    call = call_of("broadcast", known_shape(x), x.dtype, root=root)

    def back(x: Tensor, y: Tensor, upstream: Tensor) -> Tensor:
        total = reduce_over_ranks(ranks, upstream, "sum", _backward(call))
        return total if ranks is None or ranks.rank == root else total * 0

    return with_gradient(x, lambda given: copy_from_rank(ranks, given, root, call), back)


def copy_from_rank(ranks: Ranks | None, x: Tensor, root: int, call: Call) -> Tensor:
    """`broadcast`, under the name of another call."""
    if ranks is None:
        return x.clone()
    is_root = ranks.rank == root

    def start(over: Any, read: Array, written: Array) -> Any:
        if is_root:
            written[...] = read
        return over.Ibcast(as_bytes(written), root)

    def settle(every: Array, written: Array) -> None:
        written[...] = every[root]

    return exchange(ranks, call, x, known_shape(x), start, settle)


def all_to_all(
    x: Tensor, split: int = 0, join: int = 0, group: Group | None = None
) -> Tensor:
    """Each rank cuts its tensor along the axis `split` and gives part *i* to rank *i*; what it gets
    is joined along the axis `join`, in the order of ranks.

    Shapes: `split`, a multiple of the number of ranks, becomes so many times as short, and `join`
    as long. The gradient is the way back: `split` and `join` exchanged.

    >>> ogive.distributed.all_to_all(Tensor([1, 2])).tolist()
    [1, 2]

    Raises `ShapeError` for a length that cannot be divided, `DistributedError` as `all_reduce`.
    """
    refuse_others(x, "all_to_all")
    split, join = to_axis(split, x.ndim, "all_to_all"), to_axis(join, x.ndim, "all_to_all")
    call = call_of("all_to_all", known_shape(x), x.dtype, split=split, join=join)
    ranks = members_of(group, "all_to_all")

    def back(x: Tensor, y: Tensor, upstream: Tensor) -> Tensor:
        return redistribute(ranks, upstream, join, split, _backward(call))

    return with_gradient(x, lambda given: redistribute(ranks, given, split, join, call), back)


def redistribute(ranks: Ranks | None, x: Tensor, split: int, join: int, call: Call) -> Tensor:
    """`all_to_all`, under the name of another call."""
    parts = _split(x, split, _count(ranks), "all_to_all")
    if ranks is not None:
        own = ranks.rank

        def settle(every: Array, written: Array) -> None:
            written[...] = every[:, own]

        shape = known_shape(parts)
        parts = exchange(ranks, call, parts, shape, _start_redistribution, settle)
    return _join(parts, join)


def _start_redistribution(over: Any, read: Array, written: Array) -> Any:
    return over.Ialltoall(as_bytes(read), as_bytes(written))


def with_gradient(
    x: Tensor,
    forward: Callable[[Tensor], Tensor],
    back: Callable[[Tensor, Tensor, Tensor], Tensor],
) -> Tensor:
    """`forward(x)`; going back, `back(x, result, upstream)`, where a gradient may be wanted."""
    if not x.requires_grad:
        return forward(x)

    def perform(given: Tensor) -> Any:
        result = forward(given.detach())
        return result, lambda upstream: back(given.detach(), result, upstream)

    result: Tensor = custom_gradient(perform)(x)
    return result


def _backward(call: Call, more: str = "") -> Call:
    """The call that carries the gradient of another."""
    what = f", {more}" if more else ""
    return Call(f"the gradient of {call.text}{what}", call.origin, call.any_line)


def _split(x: Tensor, axis: int, count: int, name: str) -> Tensor:
    """The parts for each rank along an axis in front: (…, n, …) → (ranks, …, n / ranks, …)."""
    shape = known_shape(x)
    if shape[axis] % count:
        raise ShapeError(
            f"{name}: axis {axis} of shape {shape} is to be divided among {count} ranks, and "
            f"{shape[axis]} is no multiple of {count}"
        )
    cut: Shape = (*shape[:axis], count, shape[axis] // count, *shape[axis + 1 :])
    return x.reshape(cut).movedim(axis, 0)


def _join(parts: Tensor, axis: int) -> Tensor:
    """Parts along the first axis, one behind the other: (ranks, …, n, …) → (…, ranks · n, …)."""
    count, *shape = known_shape(parts)
    if not shape:
        return parts
    whole = (*shape[:axis], count * shape[axis], *shape[axis + 1 :])
    return parts.movedim(0, axis).reshape(whole)


def _count(ranks: Ranks | None) -> int:
    return 1 if ranks is None else ranks.size
