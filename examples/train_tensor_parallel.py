"""Tensor parallel, as Megatron divides a transformer: each has some heads and columns of layers.

    ogive launch -n 4 examples/train_tensor_parallel.py      four processes
    python examples/train_tensor_parallel.py                 four devices of one process
"""

from __future__ import annotations

import small_gpt

import ogive
from ogive import Mesh, Tensor, distributed

COLUMNS, ROWS = ("queries", "keys", "values", "up"), ("out", "down")


def over_devices() -> list[float]:
    """The first layer of each pair by columns, the second by rows: one total behind it."""
    mesh = Mesh(("model", small_gpt.DEVICES))
    rules: dict[str, object] = {f"*.{name}.weight": ("model",) for name in COLUMNS}
    rules |= {f"*.{name}.weight": (None, "model") for name in ROWS}
    model = small_gpt.make_model().shard(mesh, rules)
    return small_gpt.train(model, lambda x: x.shard(mesh, None))


def divide(block: small_gpt.Block, group: distributed.Group) -> None:
    """Leave a block the part of its layers that is this rank's."""
    place, size = group.rank or 0, group.size
    block.heads //= size
    for names, axis in ((COLUMNS, 0), (ROWS, 1)):
        for name in names:
            layer = getattr(block, name)
            layer.weight.data = layer.weight.detach().chunk(size, axis)[place].contiguous()
            layer.out_features, layer.in_features = layer.weight.shape


def over_ranks() -> list[float]:
    """Activations are the same on all ranks around the blocks, and parts inside."""
    model, group = small_gpt.make_model(), distributed.new_group()
    for block in model:
        if isinstance(block, small_gpt.Block):
            divide(block, group)
            block.enter = lambda x: distributed.copy_to(x, group)
            block.leave = lambda x: distributed.reduce_from(x, group)
    optimizer = small_gpt.make_optimizer(model.parameters())

    @ogive.jit
    def step(text: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = small_gpt.cross_entropy(model(text[:, :-1]), text[:, 1:])
        loss.backward()
        optimizer.step()
        return loss.detach()

    return [step(Tensor(text)).item() for text in small_gpt.make_batches()]


if __name__ == "__main__":
    losses = over_devices() if distributed.size() == 1 else over_ranks()
    if distributed.rank() == 0:
        print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} in the end")
