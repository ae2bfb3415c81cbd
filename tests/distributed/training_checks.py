"""Training over ranks, against one process that sees all of each batch."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor, distributed, nn, optim
from ogive.errors import DistributedError, StateError
from tests.raising import raises

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


class Tied(nn.Module):
    """A model whose first and last layer are one parameter, with a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layer = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.words.weight
        self.scale = nn.Parameter(ogive.ones(WIDTH))

    def forward(self, words: Tensor) -> Tensor:
        made: Tensor = self.head(self.layer(self.words(words)) * self.scale)
        return made


def learn(model: nn.Module, optimizer: optim.Optimizer, steps: int) -> list[float]:
    """The losses of some steps; all ranks learn from the same words."""
    words = Tensor(numpy.arange(WORDS))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(words).cross_entropy((words + 1) % WORDS)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def check_parts_are_saved_and_loaded_as_whole_states() -> None:
    ogive.manual_seed(1)
    whole = Tied()
    expected = learn(whole, optim.AdamW(whole.parameters(), lr=1e-2), 6)
    ogive.manual_seed(1)
    model = distributed.fully_shard(Tied())
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    own = sum(parameter.numel() for parameter in model.parameters())
    assert own <= 1.1 * sum(parameter.numel() for parameter in whole.parameters()) / SIZE
    assert learn(model, optimizer, 3) == pytest.approx(expected[:3], abs=1e-5)
    state = distributed.whole_state(model)
    of_optimizer = distributed.whole_state(model, optimizer)
    assert {name: tuple(value.shape) for name, value in state.items()} == {
        name: tuple(value.shape) for name, value in whole.state_dict().items()
    }

    single = Tied()
    single.load_state_dict(state)
    alone = optim.AdamW(single.parameters(), lr=1e-2)
    alone.load_state_dict(of_optimizer)
    assert learn(single, alone, 3) == pytest.approx(expected[3:], abs=1e-5)

    again = distributed.fully_shard(Tied())
    third = optim.AdamW(again.parameters(), lr=1e-2)
    distributed.load_whole_state(again, state)
    distributed.load_whole_state(again, of_optimizer, third)
    assert learn(again, third, 3) == pytest.approx(expected[3:], abs=1e-5)
    with raises(StateError, match=r"scale has the shape \(3,\) in the state, and \(16,\)"):
        distributed.load_whole_state(again, {**state, "scale": ogive.ones(3)})


def check_gradients_of_other_parameters_are_divergence() -> None:
    first, second = ogive.ones(2, requires_grad=True), ogive.ones(3, requires_grad=True)
    (second if RANK else first).sum().backward()
    with raises(DistributedError, match="average_gradients of 1 tensors: float32"):
        distributed.average_gradients([first, second])
