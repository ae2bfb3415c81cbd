"""An exception at any moment leaves eager tensors whole: written to once, or not at all."""

from __future__ import annotations

import contextlib
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

import ogive.torch as torch


class Alarm(Exception):
    """Raised by the handler of a signal."""


pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def alarms() -> Any:
    def ring(number: int, frame: FrameType | None) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def run_with_a_signal(action: Callable[[], Any], seconds: float) -> None:
    """Do something, with a signal at some moment of it, or none."""
    with contextlib.suppress(Alarm):
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            action()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            time.sleep(0)  # one that has come by now is dealt with here


def change(x: Any, part: Any, settles: bool) -> None:
    x += 1
    part.mul_(1)
    if settles:
        _ = x.node


def triple(y: Any) -> None:
    for _ in range(4):
        y *= 3


def test_counters_are_what_their_views_show(alarms: Any) -> None:
    draw = random.Random(0)
    x = torch.zeros(4)
    part = x[1:3]
    stop = time.monotonic() + 1.0
    count = 0
    while time.monotonic() < stop:
        before = x.tolist()
        run_with_a_signal(partial(change, x, part, count % 7 == 0), draw.uniform(1e-6, 60e-6))
        count += 1
        now = x.tolist()
        assert now in (before, [value + 1 for value in before])
        assert part.tolist() == now[1:3]
        if not x.is_eager:
            x = torch.tensor(now)
            part = x[1:3]
    assert count > 100


def test_a_gradient_is_that_of_the_value(alarms: Any) -> None:
    draw = random.Random(1)
    stop = time.monotonic() + 1.0
    while time.monotonic() < stop:
        w = torch.tensor([2.0], requires_grad=True)
        y = w * 1
        run_with_a_signal(partial(triple, y), draw.uniform(1e-6, 40e-6))
        value = y.item()
        y.sum().backward()
        assert w.grad is not None and w.grad.item() * 2 == value
