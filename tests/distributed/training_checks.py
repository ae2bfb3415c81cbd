"""Training over ranks, against one process that sees all of each batch."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor, distributed, nn, optim
from ogive.errors import DistributedError

RANK, SIZE = distributed.rank(), distributed.size()
WORDS, LENGTH, WIDTH, HEADS, BATCH, STEPS = 17, 8, 16, 2, 8, 50


class Block(nn.Module):
    """Attention and a layer of its own for each position, each added to what comes in."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_layer = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries_keys_values = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.layer = nn.Sequential(nn.Linear(WIDTH, 32), nn.GELU(), nn.Linear(32, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        made = self.queries_keys_values(self.before_attention(x))
        q, k, v = [
            part.reshape(*x.shape[:2], HEADS, -1).transpose(1, 2) for part in made.chunk(3, -1)
        ]
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(*x.shape))
        made = x + self.layer(self.before_layer(x))
        assert isinstance(made, Tensor)
        return made


class SmallGPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words) + self.places(ogive.arange(words.shape[1]))
        made: Tensor = self.head(self.blocks(x))
        return made


def train(share: slice, in_ranks: bool) -> list[float]:
    """The losses of some steps; each rank learns from its share of each batch."""
    ogive.manual_seed(RANK + 1 if in_ranks else 1)
    model = SmallGPT()
    if in_ranks:
        distributed.broadcast_parameters(model)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)

    def step(text: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = model(text[:, :-1]).reshape(-1, WORDS).cross_entropy(text[:, 1:].reshape(-1))
        loss.backward()
        if in_ranks:
            distributed.average_gradients(model, bucket_bytes=4096)
        optimizer.step()
        return distributed.all_reduce(loss.detach(), "mean") if in_ranks else loss.detach()

    run = ogive.jit(step)
    data = numpy.random.default_rng(0).integers(0, WORDS, (STEPS, BATCH, LENGTH + 1))
    data = (data[:, :, :1] + 3 * numpy.arange(LENGTH + 1)) % WORDS
    return [run(Tensor(batch[share])).item() for batch in data]


def share() -> slice:
    each = BATCH // SIZE
    return slice(RANK * each, (RANK + 1) * each)


def reference() -> Tensor:
    """What one process finds, for all ranks."""
    found = train(slice(None), in_ranks=False) if RANK == 0 else [0.0] * STEPS
    return distributed.broadcast(Tensor(found))


def check_data_parallel_training_has_the_losses_of_one_process() -> None:
    expected = reference().tolist()
    assert expected[-1] < expected[0] / 2
    assert train(share(), in_ranks=True) == pytest.approx(expected, abs=1e-5)


def check_gradients_are_averaged_without_capture() -> None:
    model = nn.Linear(3, 2)
    distributed.broadcast_parameters(model)
    rows = numpy.random.default_rng(0).standard_normal((SIZE, 4, 3)).astype("float32")
    model(Tensor(rows[RANK])).square().mean().backward()
    distributed.average_gradients(model.parameters(), bucket_bytes=8)
    own = model.weight.grad
    model.zero_grad()
    model(Tensor(rows.reshape(-1, 3))).square().mean().backward()
    assert own is not None and model.weight.grad is not None
    numpy.testing.assert_allclose(own.numpy(), model.weight.grad.numpy(), rtol=1e-5, atol=1e-6)


def check_gradients_of_other_parameters_are_divergence() -> None:
    first, second = ogive.ones(2, requires_grad=True), ogive.ones(3, requires_grad=True)
    (second if RANK else first).sum().backward()
    with pytest.raises(DistributedError, match="average_gradients of 1 tensors: float32"):
        distributed.average_gradients([first, second])
