"""Training in which each rank keeps a part of every parameter, of its gradient and of its state.

    layer.weight    a parameter    →    gathered from all ranks each time it is read;
                                        each rank gets the mean of its part of the gradient
"""

from __future__ import annotations

from typing import Any

from ogive.distributed.collectives import gather_over_ranks, scatter_over_ranks, with_gradient
from ogive.distributed.groups import Group, members_of, new_group
from ogive.distributed.rank_calls import call_of
from ogive.distributed.training.data_parallel import broadcast_parameters
from ogive.nn.module import Module
from ogive.nn.utils.parametrize import register_parametrization
from ogive.tensor.tensor import Tensor


def fully_shard(model: Module, group: Group | None = None) -> Module:
    """Let each rank of a group keep an equal part of every parameter. Returns the model.

    What the first rank has is what all begin with. Parameters become `original`s in a row
    (`nn.utils.parametrize`), which an optimizer made afterwards trains: its state is of parts, too.
    Where a module reads a parameter, it is gathered; in the backward pass the mean of its gradient
    over the ranks is scattered, so that nothing has to be averaged.

    >>> model = ogive.distributed.fully_shard(nn.Linear(3, 2))
    >>> [tuple(p.shape) for p in model.parameters()], tuple(model(ogive.ones(1, 3)).shape)
    ([(6,), (2,)], (1, 2))

    Raises `DistributedError` as `all_gather` does.
    """
    chosen = new_group() if group is None else group
    broadcast_parameters(model, group=chosen)
    for module in list(model.modules()):
        for name, parameter in list(module.named_parameters(recurse=False)):
            register_parametrization(module, name, _Gathered(parameter.shape, chosen))
    return model


class _Gathered(Module):
    """A parameter of which each rank has a part."""

    def __init__(self, shape: Any, group: Group) -> None:
        super().__init__()
        self._shape = tuple(shape)
        self._group = group

    def right_inverse(self, whole: Tensor) -> Tensor:
        """This rank's part."""
        return self._group.own_part(whole).contiguous()

    def forward(self, part: Tensor) -> Tensor:
        """The whole parameter."""
        ranks = members_of(self._group, "fully_shard")
        call = call_of(f"a parameter of shape {self._shape}, gathered from parts", part.shape,
                       part.dtype, True)  # fmt: skip
        back = call_of(f"a gradient of shape {self._shape}, scattered to parts", part.shape,
                       part.dtype, True)  # fmt: skip
        flat = with_gradient(
            part,
            lambda given: gather_over_ranks(ranks, given, 0, call),
            lambda x, y, upstream: scatter_over_ranks(ranks, upstream, "mean", 0, back),
        )
        count = 1
        for length in self._shape:
            count *= length
        return flat[:count].reshape(self._shape)
