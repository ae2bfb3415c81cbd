"""`torch.distributed.nn`: differentiable collectives, which return their results."""

from __future__ import annotations

from typing import Any

from ogive import distributed
from ogive.distributed.groups import Group
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor
from ogive.torch.processes.collectives import REDUCTIONS, ReduceOp
from ogive.torch.processes.process_groups import require

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce_scatter"]


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The values of all processes."""
    return tuple(distributed.all_gather(tensor.unsqueeze(0), group=_members(group)).unbind())


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction by `op` of the values of all processes."""
    return distributed.all_reduce(tensor, REDUCTIONS[op], _members(group))


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The values of one process."""
    return distributed.broadcast(tensor, src, _members(group))


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """The sum of the list entries that all processes have for this process."""
    parts = distributed.reduce_scatter(stack(input_list), REDUCTIONS[op], group=_members(group))
    return parts.squeeze(0)


def _members(group: Any) -> Group | None:
    """The group as one of `ogive.distributed`. Raises `ArgumentError` as collectives do."""
    require(group)
    return None if group is None else group.members
