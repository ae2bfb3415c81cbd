"""Sequence parallel: each has some words of every text; inside of blocks, some heads and columns.

    ogive launch -n 4 examples/train_sequence_parallel.py      four processes
    python examples/train_sequence_parallel.py                 four devices of one process
"""

from __future__ import annotations

import small_gpt
from train_tensor_parallel import divide

import ogive
from ogive import Mesh, Tensor, distributed


def over_devices() -> list[float]:
    """Texts divided along their second axis: attention gathers keys and values."""
    mesh = Mesh(("words", small_gpt.DEVICES))
    model = small_gpt.make_model().shard(mesh)
    return small_gpt.train(model, lambda x: x.shard(mesh, (None, "words")))


def over_ranks() -> list[float]:
    """Words are gathered where a block begins; its totals are scattered where it ends.

    A rank's loss is that of its words, so that all of them together are the loss. Gradients of what
    every rank has are added up.
    """
    model, group = small_gpt.make_model(), distributed.new_group()
    rank, size = distributed.rank(), distributed.size()
    own = small_gpt.LENGTH // size
    common = [*model[0].parameters(), *model[-1].parameters()]
    model[0].first = rank * own
    for block in model:
        if isinstance(block, small_gpt.Block):
            divide(block, group)
            block.enter = lambda x: distributed.all_gather(x, axis=1)
            block.leave = lambda x: distributed.reduce_scatter(x, axis=1)
            common += [*block.before_attention.parameters(), *block.before_layers.parameters()]
    optimizer = small_gpt.make_optimizer(model.parameters())

    @ogive.jit
    def step(words: Tensor, following: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = small_gpt.cross_entropy(model(words), following) / size
        loss.backward()
        for parameter in common:
            parameter.grad = distributed.all_reduce(parameter.grad)
        optimizer.step()
        return distributed.all_reduce(loss.detach())

    losses = []
    for text in small_gpt.make_batches():
        words, following = [
            Tensor(part[:, rank * own : (rank + 1) * own]) for part in (text[:, :-1], text[:, 1:])
        ]
        losses.append(step(words, following).item())
    return losses


if __name__ == "__main__":
    losses = over_devices() if distributed.size() == 1 else over_ranks()
    if distributed.rank() == 0:
        print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} in the end")
