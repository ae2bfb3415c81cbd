"""One library trains, in a process of its own: `python -m benchmarks.training_child LIBRARY ...`.

Arguments are the library, the number of threads, the program and the seconds to measure. The
programs are

- `build`: the graph of a transformer's forward and backward pass, of which nothing is computed;
- `transformer`: its first step with AdamW;
- `convnet`: the first steps of a small convolutional network, and a later one.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.libraries.base import HostArray
from benchmarks.models import HEADS, TOKENS, WIDTH, random, transformer, transformer_inputs
from benchmarks.process import answer_parent

LAYERS = 12
RATE = 1e-3
IMAGES = 64
EARLY_STEPS = 5
"""After so many steps the loss is compared: peers that capture do so in them."""

Step = Callable[[], float]


def convnet_weights() -> dict[str, HostArray]:
    """Two convolutions of 3×3 and a dense layer, by the names of a `Sequential`."""
    shapes = {"0": (16, 1, 3, 3), "2": (32, 16, 3, 3), "6": (10, 512)}
    arrays = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        scale = float(np.prod(shape[1:])) ** -0.5
        arrays[f"{name}.weight"] = random(seed, *shape, scale=scale)
        arrays[f"{name}.bias"] = random(10 + seed, shape[0], scale=0.1)
    return arrays


def convnet_batch() -> tuple[HostArray, Any]:
    """Images of 8×8 and their classes."""
    classes = np.random.default_rng(7).integers(0, 10, IMAGES)
    return random(99, IMAGES, 1, 8, 8), classes


def convnet_layers(nn: Any) -> Any:
    """The network, of the layers of Ogive or PyTorch."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip


# Ogive


def ogive_transformer() -> tuple[Any, Any]:
    """The layers, and tokens for them."""
    from ogive import Tensor, nn

    layer = nn.TransformerEncoderLayer(
        WIDTH, HEADS, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True
    )
    model = nn.TransformerEncoder(layer, LAYERS)
    Tensor.realize_batch(list(model.parameters()))
    return model, Tensor(random(0, 1, TOKENS, WIDTH))


def ogive_build() -> Callable[[], Any]:
    """The graph of the gradients of all parameters."""
    model, tokens = ogive_transformer()

    def build() -> list[Any]:
        for parameter in model.parameters():
            parameter.grad = None
        model(tokens).square().mean().backward()
        return [parameter.grad for parameter in model.parameters()]

    return build


def ogive_step(model: Any, loss_of: Callable[[], Any]) -> Step:
    """Forward, backward and update, captured."""
    import ogive
    from ogive import optim

    optimizer = optim.AdamW(model.parameters(), lr=RATE)

    @ogive.jit
    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss

    return lambda: float(step().item())


def ogive_transformer_step() -> Step:
    model, tokens = ogive_transformer()
    return ogive_step(model, lambda: model(tokens).square().mean())


def ogive_convnet() -> Step:
    from ogive import Tensor, nn

    model = convnet_layers(nn)
    model.load_state_dict({name: Tensor(array) for name, array in convnet_weights().items()})
    images, classes = map(Tensor, convnet_batch())
    return ogive_step(model, lambda: model(images).cross_entropy(classes))


# Peers


def torch_convnet() -> Step:
    """Eager."""
    import torch

    model = convnet_layers(torch.nn)
    weights = {name: torch.from_numpy(array) for name, array in convnet_weights().items()}
    model.load_state_dict(weights)
    images, classes = map(torch.from_numpy, convnet_batch())
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)

    def step() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), classes)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def tinygrad_convnet() -> Step:
    """Under `TinyJit`."""
    from tinygrad import Context, Tensor, TinyJit
    from tinygrad.nn.optim import AdamW

    weights = {name: Tensor(array).contiguous() for name, array in convnet_weights().items()}
    Tensor.realize(*weights.values())
    images, classes = (Tensor(array).realize() for array in convnet_batch())
    optimizer = AdamW(list(weights.values()), lr=RATE)

    def step() -> Any:
        with Context(TRAINING=1):
            optimizer.zero_grad()
            x = images.conv2d(weights["0.weight"], weights["0.bias"], padding=1).relu()
            x = x.conv2d(weights["2.weight"], weights["2.bias"], padding=1).relu().max_pool2d()
            logits = x.flatten(1).linear(weights["6.weight"].transpose(), weights["6.bias"])
            loss = logits.sparse_categorical_crossentropy(classes).backward()
            return loss.realize(*optimizer.schedule_step())

    captured = TinyJit(step)
    return lambda: float(captured().item())


def tinygrad_build() -> Callable[[], Any]:
    """The same transformer in plain code."""
    from tinygrad import Tensor

    from benchmarks.libraries.tinygrad_library import TinygradOperations

    tokens, *weights = (Tensor(a).contiguous().realize() for a in transformer_inputs(LAYERS))
    operations = TinygradOperations()

    def build() -> Any:
        loss = transformer(operations, tokens, *weights).square().mean()
        return loss.gradient(*weights)

    return build


BUILDS = {"ogive": ogive_build, "before": ogive_build, "tinygrad": tinygrad_build}
TRANSFORMERS = {"ogive": ogive_transformer_step, "before": ogive_transformer_step}
CONVNETS = {
    "ogive": ogive_convnet,
    "before": ogive_convnet,
    "torch": torch_convnet,
    "tinygrad": tinygrad_convnet,
}


def best_time(call: Callable[[], Any], seconds: float) -> float:
    """The least time of a call, for so many seconds and twice at least."""
    best, calls, end = float("inf"), 0, perf_counter() + seconds
    while calls < 2 or perf_counter() < end:
        gc.collect()
        start = perf_counter()
        made = call()
        best = min(best, perf_counter() - start)
        del made
        calls += 1
    return best


def measure(library: str, program: str, seconds: float) -> dict[str, Any]:
    """What the program says of the library."""
    if program == "build":
        return {"best": best_time(BUILDS[library](), seconds)}
    step = (TRANSFORMERS if program == "transformer" else CONVNETS)[library]()
    start = perf_counter()
    step()
    first = perf_counter() - start
    if program == "transformer":
        return {"first": first}
    loss = [step() for _ in range(EARLY_STEPS)][-1]
    return {"first": first, "loss": loss, "best": best_time(step, seconds)}


if __name__ == "__main__":
    name, threads, program, seconds = sys.argv[1:]
    answer_parent(int(threads), lambda: measure(name, program, float(seconds)))
