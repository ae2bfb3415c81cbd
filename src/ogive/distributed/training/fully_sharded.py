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
from ogive.nn.module import AnyModule, Given, Module
from ogive.nn.utils.parametrize import (
    ParametrizationList,
    install_chain,
    register_parametrization,
)
from ogive.tensor.tensor import Tensor


def fully_shard(model: Given, group: Group | None = None) -> Given:
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
    divided: dict[int, ParametrizationList] = {}
    for module in list(model.modules()):
        own = list(module.named_parameters(recurse=False, remove_duplicate=False))
        for name, parameter in own:
            if id(parameter) in divided:  # of two modules: it is one, in the same parts
                install_chain(module, name, divided[id(parameter)])
            else:
                register_parametrization(module, name, Gathered(parameter.shape, chosen))
                divided[id(parameter)] = vars(module)["parametrizations"][name]
        if own:
            _keep_order(module)
    return model


def _keep_order(module: AnyModule) -> None:
    """Let a module's own parameters come before those of modules below it, as they did."""
    attributes = vars(module)
    first = {"parametrizations": attributes.pop("parametrizations")}
    rest = dict(attributes)
    attributes.clear()
    attributes.update(first | rest)


class Gathered(Module):
    """A parameter of which each rank of `group` has a part; `shape` is that of the whole."""

    def __init__(self, shape: Any, group: Group) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.group = group

    def right_inverse(self, whole: Tensor) -> Tensor:
        """This rank's part."""
        return self.group.own_part(whole).contiguous()

    def forward(self, part: Tensor) -> Tensor:
        """The whole parameter."""
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
