"""A pipeline: each has some layers, and micro-batches go through them one behind the other.

    ogive launch -n 4 examples/train_pipeline.py      four processes
    python examples/train_pipeline.py                 four devices of one process
"""

from __future__ import annotations

import itertools

import small_gpt

from ogive import Tensor, distributed, nn

MICRO_BATCHES = 4


def stages(count: int) -> list[nn.Sequential]:
    """The layers of the model in `count` runs: the first and last have one more."""
    layers = small_gpt.make_layers()
    each = small_gpt.BLOCKS // count
    cuts = [0, *[1 + each * number for number in range(1, count)], len(layers)]
    return [nn.Sequential(*layers[a:b]) for a, b in itertools.pairwise(cuts)]


class OverDevices(nn.Module):
    """Stages that are on one device each; activations are copied from one to the next."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.ModuleList(stages(small_gpt.DEVICES))
        for number, stage in enumerate(self.stages):
            stage.to(f"CPU:{number}")

    def forward(self, x: Tensor) -> Tensor:
        for number, stage in enumerate(self.stages):
            x = stage(x.to(f"CPU:{number}"))
        return x.to("CPU")


def over_devices() -> list[float]:
    """The compiler copies what goes from device to device, and runs what is ready."""
    return small_gpt.train(OverDevices())


def over_ranks() -> list[float]:
    """Ranks send activations on and gradients back, forward and backward by turns."""
    rank, size = distributed.rank(), distributed.size()
    stage = stages(size)[rank]
    pipeline = distributed.Pipeline(stage)
    optimizer = small_gpt.make_optimizer(stage.parameters())
    losses = []
    for text in small_gpt.make_batches():
        parts = Tensor(text).chunk(MICRO_BATCHES)

        def loss(scores: Tensor, number: int, parts: tuple[Tensor, ...] = parts) -> Tensor:
            return small_gpt.cross_entropy(scores, parts[number][:, 1:])

        optimizer.zero_grad()
        found = pipeline.step([part[:, :-1] for part in parts], loss)
        optimizer.step()
        own = Tensor(0.0) if found is None else found
        losses.append(distributed.broadcast(own, root=size - 1).item())
    return losses


if __name__ == "__main__":
    losses = over_devices() if distributed.size() == 1 else over_ranks()
    if distributed.rank() == 0:
        print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} in the end")
