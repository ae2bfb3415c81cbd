"""Data parallel: each has the whole model and a part of each batch.

    ogive launch -n 4 examples/train_data_parallel.py      four processes
    python examples/train_data_parallel.py                 four devices of one process
"""

from __future__ import annotations

import small_gpt

import ogive
from ogive import Mesh, Tensor, distributed


def over_devices() -> list[float]:
    """Copies of the model; batches divided along their first axis. All else follows from that."""
    mesh = Mesh(("data", small_gpt.DEVICES))
    model = small_gpt.make_model().shard(mesh)
    return small_gpt.train(model, lambda x: x.shard(mesh, ("data",)))


def over_ranks() -> list[float]:
    """Gradients are averaged, while the backward pass goes on, before each step."""
    model = small_gpt.make_model()
    distributed.broadcast_parameters(model)
    optimizer = small_gpt.make_optimizer(model.parameters())

    @ogive.jit
    def step(text: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = small_gpt.cross_entropy(model(text[:, :-1]), text[:, 1:])
        loss.backward()
        distributed.average_gradients(model, bucket_bytes=8192)
        optimizer.step()
        return distributed.all_reduce(loss.detach(), "mean")

    rank, size = distributed.rank(), distributed.size()
    return [step(Tensor(text[rank::size])).item() for text in small_gpt.make_batches()]


if __name__ == "__main__":
    losses = over_devices() if distributed.size() == 1 else over_ranks()
    if distributed.rank() == 0:
        print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} in the end")
