"""Fully sharded training: each rank keeps a part of every parameter, gradient and optimizer state.

    layer.weight    a parameter    →    gathered from all ranks each time it is read;
                                        each rank gets the mean of its part of the gradient
"""

from __future__ import annotations

from typing import Any

from ogive.distributed.collectives import gather_over_ranks, scatter_over_ranks, with_gradient
from ogive.distributed.groups import Group, members_of, new_group
from ogive.distributed.rank_calls import call_of
from ogive.distributed.training.data_parallel import broadcast_parameters
from ogive.nn.module import AnyModule, Given, Module
from ogive.nn.utils.parametrize import (
    ParametrizationList,
    install_chain,
    register_parametrization,
)
from ogive.tensor.tensor import Tensor


def fully_shard(model: Given, group: Group | None = None) -> Given:
    """Shard every parameter of a model over the ranks of a group. Returns the model.

    All begin with the parameters of the first rank. Each parameter becomes a flat `original`
    (`nn.utils.parametrize`) with this rank's part. An optimizer that is made afterwards trains the
    parts, and its state is sharded as well. When a module reads a parameter, it is gathered. The
    backward pass reduce-scatters the mean of its gradient, so gradients need no averaging.

    >>> model = ogive.distributed.fully_shard(nn.Linear(3, 2))
    >>> [tuple(p.shape) for p in model.parameters()], tuple(model(ogive.ones(1, 3)).shape)
    ([(6,), (2,)], (1, 2))

    Raises `DistributedError` as `all_gather` does.
    """
    chosen = new_group() if group is None else group
    broadcast_parameters(model, group=chosen)
    divided: dict[int, ParametrizationList] = {}
    for module in list(model.modules()):
        own = list(module.named_parameters(recurse=False, remove_duplicate=False))
        for name, parameter in own:
            if id(parameter) in divided:  # a parameter that two modules share is sharded once
                install_chain(module, name, divided[id(parameter)])
            else:
                register_parametrization(module, name, Gathered(parameter.shape, chosen))
                divided[id(parameter)] = vars(module)["parametrizations"][name]
        if own:
            _keep_order(module)
    return model


def _keep_order(module: AnyModule) -> None:
    """Keep the order of parameters: a module's own come before those of its submodules."""
    attributes = vars(module)
    first = {"parametrizations": attributes.pop("parametrizations")}
    rest = dict(attributes)
    attributes.clear()
    attributes.update(first | rest)


class Gathered(Module):
    """The parametrization of a sharded parameter. `shape` is that of the whole parameter."""

    def __init__(self, shape: Any, group: Group) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.group = group

    def right_inverse(self, whole: Tensor) -> Tensor:
        """Return this rank's part of the parameter."""
        return self.group.own_part(whole).contiguous()

    def forward(self, part: Tensor) -> Tensor:
        """Gather the whole parameter."""
        ranks = members_of(self.group, "fully_shard")
        call = call_of(f"a parameter of shape {self.shape}, gathered from parts", part.shape,
                       part.dtype, True)  # fmt: skip
        back = call_of(f"a gradient of shape {self.shape}, scattered to parts", part.shape,
                       part.dtype, True)  # fmt: skip
        flat = with_gradient(
            part,
            lambda given: gather_over_ranks(ranks, given, 0, call),
            lambda x, y, upstream: scatter_over_ranks(ranks, upstream, "mean", 0, back),
        )
        count = 1
        for length in self.shape:
            count *= length
        return flat[:count].reshape(self.shape)
