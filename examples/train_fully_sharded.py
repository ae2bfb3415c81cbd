"""Fully sharded (ZeRO): each has a part of each batch, and of parameters, gradients and state.

    ogive launch -n 4 examples/train_fully_sharded.py      four processes
    python examples/train_fully_sharded.py                 four devices of one process
"""

from __future__ import annotations

from typing import Any

import small_gpt

import ogive
from ogive import Mesh, Tensor, distributed, optim

made: list[optim.Optimizer] = []
"""The optimizers that were made, for whoever wants to see how large their state is."""


def over_devices() -> list[float]:
    """Parameters and state in parts; a weight that meets divided rows is gathered for that."""
    mesh = Mesh(("data", small_gpt.DEVICES))
    model = small_gpt.make_model().shard(mesh, {"*": ("data",)})
    return small_gpt.train(model, lambda x: x.shard(mesh, ("data",)))


def state_over_devices() -> list[float]:
    """Copies of parameters, and state in parts."""
    mesh = Mesh(("data", small_gpt.DEVICES))
    model = small_gpt.make_model().shard(mesh)
    return small_gpt.train(model, lambda x: x.shard(mesh, ("data",)), shard=mesh["data"])


def over_ranks() -> list[float]:
    """Parameters are gathered where they are read; gradients come back as this rank's parts."""
    model = distributed.fully_shard(small_gpt.make_model())
    optimizer = small_gpt.make_optimizer(model.parameters())
    made.append(optimizer)

    @ogive.jit
    def step(text: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = small_gpt.cross_entropy(model(text[:, :-1]), text[:, 1:])
        loss.backward()
        optimizer.step()
        return distributed.all_reduce(loss.detach(), "mean")

    return [step(Tensor(text)).item() for text in own_texts()]


def state_over_ranks() -> list[float]:
    """Each rank has all parameters and a part of the state: it works out that part of a step."""
    model = small_gpt.make_model()
    group = distributed.new_group()
    optimizer = small_gpt.make_optimizer(model.parameters(), shard=group)
    made.append(optimizer)

    @ogive.jit
    def step(text: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = small_gpt.cross_entropy(model(text[:, :-1]), text[:, 1:])
        loss.backward()
        distributed.average_gradients(model)
        optimizer.step()
        return distributed.all_reduce(loss.detach(), "mean")

    return [step(Tensor(text)).item() for text in own_texts()]


def own_texts() -> list[Any]:
    """This rank's part of each batch."""
    rank, size = distributed.rank(), distributed.size()
    return [text[rank::size] for text in small_gpt.make_batches()]


if __name__ == "__main__":
    losses = over_devices() if distributed.size() == 1 else over_ranks()
    if distributed.rank() == 0:
        print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} in the end")
