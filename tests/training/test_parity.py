"""Small networks, trained from the same weights with the same batches, follow PyTorch's losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy
import pytest
import torch
from numpy.typing import NDArray

import ogive
from ogive import data, nn, optim

STEPS = 200
BATCH = 16
SYMBOLS = 11
LENGTH = 12

Array = NDArray[Any]
Batch = tuple[Array, Array]


def convolutional(layers: Any) -> Any:
    """(n, 1, 8, 8) → (n, 10)."""
    return layers.Sequential(
        layers.Conv2d(1, 8, 3, padding=1),
        layers.BatchNorm2d(8),
        layers.ReLU(),
        layers.Conv2d(8, 12, 3, stride=2),
        layers.ReLU(),
        layers.MaxPool2d(2, 1),
        layers.Flatten(),
        layers.Linear(48, 10),
    )


def recurrent(layers: Any) -> Any:
    """(n, length) of symbols → (n, symbols, length): what comes next at each place."""

    class Reader(layers.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = layers.Embedding(SYMBOLS, 12)
            self.lstm = layers.LSTM(12, 24, batch_first=True)
            self.head = layers.Linear(24, SYMBOLS)

        def forward(self, x: Any) -> Any:
            hidden, _ = self.lstm(self.embedding(x))
            return self.head(hidden).transpose(1, 2)

    return Reader()


def attentive(layers: Any) -> Any:
    """The same by two layers of attention to what came before."""

    class Reader(layers.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = layers.Embedding(SYMBOLS, 24)
            self.places = layers.Embedding(LENGTH, 24)
            layer = layers.TransformerEncoderLayer(24, 4, 48, 0.0, "gelu", batch_first=True)
            self.encoder = layers.TransformerEncoder(layer, 2)
            self.head = layers.Linear(24, SYMBOLS)
            self.register_buffer("mask", later_places(layers))

        def forward(self, x: Any) -> Any:
            hidden = self.embedding(x) + self.places.weight
            return self.head(self.encoder(hidden, self.mask)).transpose(1, 2)

    return Reader()


def later_places(layers: Any) -> Any:
    """True where a place must not look."""
    mask = numpy.triu(numpy.ones((LENGTH, LENGTH), bool), 1)
    return ogive.Tensor(mask) if layers is nn else torch.tensor(mask)


def digit_batches() -> Iterator[Batch]:
    (images, labels), _ = data.digits()
    pictures, answers = images.numpy(), labels.numpy()
    for number in range(STEPS):
        first = number * BATCH % (len(pictures) - BATCH)
        yield pictures[first : first + BATCH], answers[first : first + BATCH]


def sequence_batches() -> Iterator[Batch]:
    """Sequences of which each member follows from the two before it."""
    random = numpy.random.default_rng(5)
    for _ in range(STEPS):
        members = [random.integers(0, SYMBOLS, BATCH) for _ in range(2)]
        while len(members) <= LENGTH:
            members.append((3 * members[-1] + members[-2]) % SYMBOLS)
        whole = numpy.stack(members, 1)
        yield whole[:, :-1].copy(), whole[:, 1:].copy()


class Training(NamedTuple):
    """What is trained, on what, how; it must reach a loss below `reaches`."""

    network: Callable[[Any], Any]
    batches: Callable[[], Iterator[Batch]]
    optimizer: str
    settings: dict[str, Any]
    reaches: float


TRAININGS = [
    Training(convolutional, digit_batches, "SGD", {"lr": 0.02, "momentum": 0.9}, 0.4),
    Training(recurrent, sequence_batches, "AdamW", {"lr": 1e-2}, 1.5),
    Training(attentive, sequence_batches, "AdamW", {"lr": 2e-3}, 1.5),
]


def their_losses(model: Any, training: Training, dtype: Any) -> list[float]:
    optimizer = getattr(torch.optim, training.optimizer)(model.parameters(), **training.settings)
    losses = []
    for x, y in training.batches():
        given = torch.tensor(x)
        optimizer.zero_grad()
        made = model(given.to(dtype) if given.is_floating_point() else given)
        loss = torch.nn.functional.cross_entropy(made, torch.tensor(y))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def our_losses(model: Any, training: Training, dtype: str) -> list[float]:
    optimizer = getattr(optim, training.optimizer)(model.parameters(), **training.settings)

    @ogive.jit
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).cross_entropy(y)
        loss.backward()
        optimizer.step()
        return loss

    losses = []
    for x, y in training.batches():
        given = x.astype(dtype) if x.dtype.kind == "f" else x
        losses.append(step(ogive.Tensor(given), ogive.Tensor(y)).item())
    assert step.cache_info().traces == 1
    return losses


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """For PyTorch: the work is too small to be shared out."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-4), ("float64", 1e-6)])
@pytest.mark.parametrize("training", TRAININGS, ids=lambda t: f"{t.network.__name__}-{t.optimizer}")
def test_losses_are_those_of_pytorch(training: Training, dtype: str, error: float) -> None:
    torch.manual_seed(3)
    theirs = training.network(torch.nn).to(getattr(torch, dtype))
    ours = training.network(nn).to(dtype)
    ours.load_state_dict(theirs.state_dict())
    expected = their_losses(theirs, training, getattr(torch, dtype))
    found = our_losses(ours, training, dtype)
    assert numpy.mean(expected[-10:]) < training.reaches, "it learns"
    numpy.testing.assert_allclose(found, expected, rtol=error)
