"""Collective operations: all ranks take part. Each returns a new tensor and has a gradient.

All ranks must make the same calls in the same order, with the same shapes and dtypes. If they do
not, every rank raises a `DistributedError` that names their lines. A collective is done at once;
inside of `ogive.jit`, it is done when the function runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ogive.autograd.custom import custom_gradient
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, to_dtype
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
from ogive.tensor.core import to_axis
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor


def barrier(group: Group | None = None) -> None:
    """Wait until all ranks, or all of a group, have called this.

    >>> ogive.distributed.barrier()

    Raises `DistributedError` if another rank calls something else, or does not answer.
    """
    refuse_capture("barrier()")
    ranks = members_of(group, "barrier")
    if ranks is not None:
        ranks.exchange(Call("barrier()", user_origin()))


def all_reduce(
    x: Tensor, op: str = "sum", group: Group | None = None, compress: Any = None
) -> Tensor:
    """Reduce a tensor over all ranks, element by element: `sum`, `mean`, `max`, `min` or `prod`.

    Shapes: that of `x`, the same on all ranks. `group` comes from `new_group`; without it, all
    ranks take part. The result has the same bits on all ranks.

    float16, bfloat16 and the 8-bit floats are reduced in float32 and rounded once. `compress` is a
    narrower float, such as `"bfloat16"`, for the messages: values are rounded to it before they are
    sent, and the total, computed in float32, once more. For bool, `sum` and `max` say whether any
    value is true, `min` and `prod` whether all are. Sums of integers wrap around. A maximum or
    minimum is NaN if any value is.

    The gradient of a sum is the sum of the upstream gradients of all ranks. For `max` and `min`,
    the ranks that hold the extreme share that sum. `prod` has no gradient.

    >>> ogive.distributed.all_reduce(Tensor([1.0, 2.0]), op="max").tolist()
    [1.0, 2.0]

    Raises `ArgumentError` for another `op`, `DtypeError` if the dtype has no such reduction, and
    `DistributedError` if the ranks make different calls, or one does not answer.
    """
    refuse_others(x, "all_reduce")
    ranks = members_of(group, "all_reduce")
    narrow = narrow_dtype(compress, x.dtype)
    call = _reduction_call("all_reduce", x, op, **({"compress": narrow.name} if narrow else {}))
    back = _reduction_back(ranks, op, call, narrow)
    return with_gradient(x, lambda given: reduce_over_ranks(ranks, given, op, call, narrow), back)


def narrow_dtype(given: Any, dtype: DType) -> DType | None:
    """Return the dtype of compressed messages; None for that of the values. Raises `DtypeError`."""
    if given is None:
        return None
    narrow = to_dtype(given)
    if not (narrow.is_float and dtype.is_float and narrow.bits < dtype.bits <= 32):
        raise DtypeError(
            f"all_reduce: values of {dtype.name} cannot be sent as {narrow.name}; compress is a "
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
    """Perform `all_reduce` for a call of another name."""
    if ranks is None:
        return x.clone()
    if narrow is not None:
        return _reduce_narrow(ranks, x, op, call, narrow)
    return _in_wide_floats(ranks, x, op, lambda wide: _all_reduce(ranks, wide, op, call))


def _reduce_narrow(ranks: Ranks, x: Tensor, op: str, call: Call, narrow: DType) -> Tensor:
    """Reduce values in compressed messages. Each rank computes a part of the total.

    MPI cannot add such floats, and a sum that is rounded at each rank would depend on their order.
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
    """Reduce floats narrower than 32 bits in float32, and a mean as a sum."""
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
    """Join the tensors of all ranks, or of a group, along an axis in the order of ranks.

    Shapes: that of `x`, the same on all ranks, but `axis` is longer by the number of ranks. Scalars
    are joined along a new axis. The gradient is `reduce_scatter` of the upstream gradient.

    >>> ogive.distributed.all_gather(Tensor([1, 2])).tolist()
    [1, 2]

    Raises `AxisError` for a missing axis, and `DistributedError` as `all_reduce` does.
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
    """Perform `all_gather` for a call of another name."""
    shape = known_shape(x)
    if ranks is None:
        return _join(x.reshape(1, *shape), axis)
    whole = (ranks.size, *shape)
    return _join(exchange(ranks, call, x, whole, start_gather, settle_gather), axis)


def reduce_scatter(
    x: Tensor, op: str = "sum", axis: int = 0, group: Group | None = None
) -> Tensor:
    """Reduce a tensor over all ranks, as `all_reduce`, and give each rank its part along an axis.

    Shapes: that of `x`, but `axis` is divided by the number of ranks. The gradient of a sum is
    `all_gather` of the upstream gradient; `max`, `min` and `prod` have none.

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
    """Perform `reduce_scatter` for a call of another name."""
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
    """Copy the tensor of the rank `root` to all ranks, or to all of a group.

    In a group, `root` is the number within the group. Shapes: that of `x`, the same on all ranks.
    The gradient is summed at the root.

    >>> ogive.distributed.broadcast(Tensor([1, 2])).tolist()
    [1, 2]

    Raises `ArgumentError` for an unknown rank, and `DistributedError` as `all_reduce` does.
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
    """Perform `broadcast` for a call of another name."""
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
    """Split the tensor of each rank along the axis `split`, and send part *i* to rank *i*.

    The parts that a rank gets are joined along the axis `join`, in the order of ranks.

    Shapes: `split` is divided by the number of ranks, and `join` multiplied by it. The gradient is
    the same operation with `split` and `join` exchanged.

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
    """Perform `all_to_all` for a call of another name."""
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
    """Return `forward(x)` with the gradient `back(x, result, upstream)`, if one may be needed."""
    if not x.requires_grad:
        return forward(x)

    def perform(given: Tensor) -> Any:
        result = forward(given.detach())
        return result, lambda upstream: back(given.detach(), result, upstream)

    result: Tensor = custom_gradient(perform)(x)
    return result


def _backward(call: Call, more: str = "") -> Call:
    """Return the call for the gradient of another call."""
    what = f", {more}" if more else ""
    return Call(f"the gradient of {call.text}{what}", call.origin, call.any_line)


def _split(x: Tensor, axis: int, count: int, name: str) -> Tensor:
    """Split an axis into parts for the ranks, along a new first axis.

    Shapes: (…, n, …) → (ranks, …, n / ranks, …). Raises `ShapeError`.
    """
    shape = known_shape(x)
    if shape[axis] % count:
        raise ShapeError(
            f"{name}: axis {axis} of shape {shape} cannot be divided among {count} ranks: "
            f"{shape[axis]} is not a multiple of {count}"
        )
    cut: Shape = (*shape[:axis], count, shape[axis] // count, *shape[axis + 1 :])
    return x.reshape(cut).movedim(axis, 0)


def _join(parts: Tensor, axis: int) -> Tensor:
    """Join parts along the first axis into `axis`. Shapes: (ranks, …, n, …) → (…, ranks · n, …)."""
    count, *shape = known_shape(parts)
    if not shape:
        return parts
    whole = (*shape[:axis], count * shape[axis], *shape[axis + 1 :])
    return parts.movedim(0, axis).reshape(whole)


def _count(ranks: Ranks | None) -> int:
    return 1 if ranks is None else ranks.size
