"""`ogive demo`: train a small network on handwritten digits."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy
from numpy.typing import NDArray

import ogive
from ogive import data, nn, optim
from ogive.cli.picture import draw_beside
from ogive.cli.screen import Screen, find_screen
from ogive.compiler.engine.steps.profile import StepTime
from ogive.io import save_safetensors
from ogive.jit.jitted_function import Jitted
from ogive.tensor.tensor import Tensor

Step = Jitted[[Tensor, Tensor], Tensor]

EPOCHS = 30
BATCH = 64
RATE = 8e-3
SEED = 7
SHOWN_DIGITS = 8
SHOWN_KERNELS = 5


def digit_reader() -> nn.Sequential:
    """Two convolutions, a pooling and a dense layer: (N, 1, 8, 8) → (N, 10)."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(512, 10),
    )


def run(save: str = "ogive-digits.safetensors") -> int:
    """Train, measure, draw and save; the report goes to standard output."""
    screen = find_screen()
    ogive.manual_seed(SEED)
    (images, labels), test = data.digits()
    model = digit_reader()
    count = sum(math.prod(p.shape) for p in model.parameters())
    screen.say(
        f"Ogive {ogive.__version__}: training a network of {count:,} parameters on {len(images)} "
        f"handwritten digits of 8 × 8 pixels; {len(test[0])} more are kept for testing."
    )
    screen.show(repr(model))
    started = time.perf_counter()
    before = ogive.counters()
    step, first = train(model, images, labels)
    seconds = time.perf_counter() - started
    after = ogive.counters()
    right = is_right(model, *test)
    screen.title(f"{right.mean():.1%} of the test digits are recognized")
    screen.say(
        f"Training took {seconds:.1f} s. The first step took {first:.2f} s of it: "
        f"{after['kernels_compiled'] - before['kernels_compiled']} kernels were compiled, "
        f"{after['kernel_disk_hits'] - before['kernel_disk_hits']} were found on disk."
    )
    path = Path(save)
    save_safetensors(path, model.state_dict())
    show_digits(model, *test, right, screen)
    # Last, because a profiled step also trains.
    model.train()
    show_kernels(step.profile(images[:BATCH], labels[:BATCH]), screen)
    screen.title(f"The model was saved to {path} ({path.stat().st_size:,} bytes)")
    return 0


def train(model: nn.Module, images: Tensor, labels: Tensor) -> tuple[Step, float]:
    """Train the model in place. Returns the step, and how many seconds the first one took."""
    batches = data.Batches((images, labels), BATCH, shuffle=True, seed=SEED, drop_last=True)
    optimizer = optim.AdamW(model.parameters(), lr=RATE)
    steps = EPOCHS * len(batches)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps, cycle_momentum=False)
    step = training_step(model, optimizer)
    first = 0.0
    bar = data.progress(
        (batch for _ in range(EPOCHS) for batch in batches), "training", total=steps
    )
    for number, (x, y) in enumerate(bar):
        began = time.perf_counter()
        loss = step(x, y)
        if number == 0:
            loss.realize()
            first = time.perf_counter() - began
        if number % 20 == 0 or number == steps - 1:
            bar.note(epoch=number // len(batches) + 1, loss=loss.item())
        if number < steps - 1:
            schedule.step()
    return step, first


def training_step(model: nn.Module, optimizer: optim.Optimizer) -> Step:
    """Forward, backward and update as one captured function: (images, labels) → loss."""

    @ogive.jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss: Tensor = model(x).cross_entropy(y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def is_right(model: nn.Module, images: Tensor, labels: Tensor) -> NDArray[numpy.bool_]:
    """For each image, whether the model predicts its label."""
    model.eval()
    with ogive.no_grad():
        right: NDArray[numpy.bool_] = model(images).argmax(-1).eq(labels).numpy()
    return right


def show_kernels(profile: Sequence[StepTime], screen: Screen) -> None:
    """Print the slowest kernels of one step."""
    total = sum(entry.seconds for entry in profile)
    screen.title(f"The slowest of the {len(profile)} kernels in a step ({total * 1e3:.2f} ms)")
    for entry in sorted(profile, key=lambda each: -each.seconds)[:SHOWN_KERNELS]:
        share = entry.seconds / total
        screen.show(f"{entry.seconds * 1e6:8.1f} µs  {share:6.1%}  {entry.name}")


def show_digits(
    model: nn.Module, images: Tensor, labels: Tensor, right: NDArray[numpy.bool_], screen: Screen
) -> None:
    """Draw some digits with the network's predictions, mistakes first."""
    chosen = numpy.argsort(right, kind="stable")[:SHOWN_DIGITS]
    model.eval()
    with ogive.no_grad():
        probabilities = model(images).softmax(-1).numpy()[chosen]
    answers = labels.numpy()[chosen]
    captions = []
    for chances, answer in zip(probabilities, answers, strict=True):
        guess = int(chances.argmax())
        verdict = "" if guess == answer else f", label {answer}"
        captions.append(f"{guess} ({chances[guess]:.0%}){verdict}")
    screen.title("Some predictions, mistakes first")
    print(draw_beside(images.numpy()[chosen, 0], captions, screen))
