"""A small GPT, its data, and its training in one process: what the examples beside it divide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import ogive
from ogive import Tensor, nn, optim

WORDS, LENGTH, WIDTH, HEADS, BLOCKS, BATCH, STEPS = 20, 8, 16, 4, 4, 8, 50
DEVICES = 4
"""Of one process, for programs that were not started as several."""

Move = Callable[[Tensor], Tensor]


def unchanged(x: Tensor) -> Tensor:
    """What a block does around its divided layers where nothing is divided."""
    return x


class Block(nn.Module):
    """Attention and two layers, each added to what comes in.

    `enter` and `leave` stand where activations go into layers that are divided, and come out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_layers = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries, self.keys, self.values, self.out = [
            nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4)
        ]
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.heads, self.enter, self.leave = HEADS, unchanged, unchanged

    def forward(self, x: Tensor) -> Tensor:
        given = self.enter(self.before_attention(x))
        q, k, v = [
            layer(given).reshape(*given.shape[:2], self.heads, -1).transpose(1, 2)
            for layer in (self.queries, self.keys, self.values)
        ]
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.leave(self.out(mixed.transpose(1, 2).flatten(2)))
        return x + self.leave(self.down(self.up(self.enter(self.before_layers(x))).gelu()))


class Embeddings(nn.Module):
    """Words and their places; `first` is the place of the first word."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.first = 0

    def forward(self, words: Tensor) -> Tensor:
        places = self.places.weight[self.first : self.first + words.shape[1]]
        made: Tensor = self.words(words) + places
        return made


def make_layers() -> list[nn.Module]:
    """The layers of the model, the same each time: embeddings, blocks, and what gives words."""
    ogive.manual_seed(1)
    return [Embeddings(), *[Block() for _ in range(BLOCKS)], nn.Linear(WIDTH, WORDS, bias=False)]


def make_model() -> nn.Sequential:
    """The model of these layers."""
    return nn.Sequential(*make_layers())


def make_batches() -> list[Any]:
    """Texts in which each word follows from the one before, as an array for each step."""
    rng = numpy.random.default_rng(0)
    first = rng.integers(0, WORDS, (STEPS, BATCH, 1))
    return list((first + 3 * numpy.arange(LENGTH + 1)) % WORDS)


def cross_entropy(scores: Tensor, words: Tensor) -> Tensor:
    """How unlikely the next words are."""
    return nn.functional.cross_entropy(scores.reshape(-1, WORDS), words.reshape(-1))


def make_optimizer(parameters: Any, **settings: Any) -> optim.AdamW:
    """What all examples train by."""
    return optim.AdamW(parameters, lr=1e-2, **settings)


def make_step() -> tuple[Callable[[], object], nn.Module, optim.Optimizer, int]:
    """A step, its model and optimizer, and how many samples it takes (`ogive plan-scale`)."""
    model = make_model()
    optimizer = make_optimizer(model.parameters())
    text = Tensor(make_batches()[0])

    @ogive.jit
    def step() -> Tensor:
        optimizer.zero_grad()
        loss = cross_entropy(model(text[:, :-1]), text[:, 1:])
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, model, optimizer, BATCH


def train(model: nn.Module, place: Move = unchanged, **settings: Any) -> list[float]:
    """The losses of all steps, in one process; `place` says where batches go."""
    optimizer = make_optimizer(model.parameters(), **settings)

    @ogive.jit
    def step(words: Tensor, following: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = cross_entropy(model(words), following)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return [
        step(place(Tensor(text[:, :-1])), place(Tensor(text[:, 1:]))).item()
        for text in make_batches()
    ]
