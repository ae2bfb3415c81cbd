"""Tensor parallelism: layers whose parameters are divided among ranks, as in Megatron-LM.

The ranks of a group have the same activations before and after such a layer. In between, each
computes with its part of the parameters:

    x ── copy_to ──┬── rank 0: x @ A0 ── gelu ── @ B0 ──┬── reduce_from ── y
                   └── rank 1: x @ A1 ── gelu ── @ B1 ──┘

All ranks go on with the same `y` to the same loss. So they have the same gradient of `y`, and
`reduce_from` passes it on unchanged. The gradients of `x` are parts of the whole, and `copy_to`
adds them up. (`all_reduce` is for losses that differ between ranks.)
"""

from __future__ import annotations

from ogive.distributed.collectives import reduce_over_ranks, with_gradient
from ogive.distributed.exchanges import known_shape
from ogive.distributed.groups import Group, members_of
from ogive.distributed.rank_calls import call_of
from ogive.tensor.tensor import Tensor


def copy_to(x: Tensor, group: Group | None = None) -> Tensor:
    """Mark the input of a parallel region. Returns `x`, which is the same on all ranks.

    Shapes: unchanged. The gradient is the sum of the gradients of all ranks.

    >>> ogive.distributed.copy_to(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]

    Raises `DistributedError` as `all_reduce` does, in the backward pass.
    """
    ranks = members_of(group, "copy_to")
    call = call_of("the gradient of copy_to", known_shape(x), x.dtype)

    def back(x: Tensor, y: Tensor, upstream: Tensor) -> Tensor:
        return reduce_over_ranks(ranks, upstream, "sum", call)

    return with_gradient(x, lambda given: given, back)


def reduce_from(x: Tensor, group: Group | None = None) -> Tensor:
    """Add the outputs of a parallel region over the ranks of the group.

    Shapes: unchanged. The gradient is the upstream gradient, which is the same on all ranks.

    >>> ogive.distributed.reduce_from(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]

    Raises `DistributedError` as `all_reduce` does.
    """
    ranks = members_of(group, "reduce_from")
    call = call_of("reduce_from", known_shape(x), x.dtype)
    return with_gradient(
        x,
        lambda given: reduce_over_ranks(ranks, given, "sum", call),
        lambda x, y, upstream: upstream,
    )
