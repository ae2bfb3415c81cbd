"""Programs that assign, and what may be seen of them after an exception at any moment.

A program is made once. `step` is what exceptions are injected into; `check` reads everything, says
what is wrong, and takes what it finds for the state from then on.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy

import ogive
from ogive import Config, Tensor
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.compiler.store.disk_cache import disk_for
from ogive.errors import ExecuteError

SIZE = 5000


class Program:
    """Something to interrupt."""

    def step(self) -> None:
        """Do it once."""
        raise NotImplementedError

    def check(self) -> None:
        """Assert that all of it is whole."""
        raise NotImplementedError


def level(tensor: Tensor) -> float:
    """The number that all elements of a tensor are: it is of one piece."""
    values = tensor.numpy()
    assert (values == values.flat[0]).all(), f"torn: {numpy.unique(values)[:5]}"
    return float(values.flat[0])


def one_of(value: float, *allowed: float) -> float:
    """The value itself, if it is as it was or as it should have become."""
    assert value in allowed, f"{value} is none of {allowed}"
    return value


class Counting(Program):
    """An assignment in place, of which an old version is read."""

    def __init__(self) -> None:
        self.x = Tensor(numpy.zeros(SIZE)).realize()
        self.old = self.x * 2
        self.count = 0.0

    def step(self) -> None:
        self.x += 1
        self.x.realize()

    def check(self) -> None:
        assert level(self.old) == 2 * self.count
        self.count = one_of(level(self.x), self.count, self.count + 1)
        self.old = self.x * 2


class Chain(Program):
    """Assignments that follow from each other, and a part of one tensor, in one run."""

    device = "CPU"

    def __init__(self) -> None:
        self.x, self.y, self.z = [Tensor(numpy.zeros(SIZE), device=self.device) for _ in range(3)]
        self.values = 0.0, 0.0, 0.0
        self.later = self.x + self.y

    def step(self) -> None:
        self.x += 1
        self.y.assign(self.y + self.x.mean())
        self.z[: SIZE // 2] += self.y[SIZE // 2 :]
        Tensor.realize_batch([self.x, self.y, self.z])

    def check(self) -> None:
        x, y, z = self.values
        before = level(self.later)
        x = one_of(level(self.x), x, x + 1)
        y = one_of(level(self.y), y, y + x)
        front, back = level(self.z[: SIZE // 2]), level(self.z[SIZE // 2 :])
        assert back == 0
        one_of(front, z, z + y)
        one_of(before, sum(self.values[:2]))
        self.values = x, y, front
        self.later = self.x + self.y


class Reference(Chain):
    """The same where kernels are functions of Python's."""

    device = "REFERENCE"


class Prepared(Program):
    """A plan that assigns and gives something besides."""

    def __init__(self) -> None:
        self.x = Tensor(numpy.zeros(SIZE)).realize()
        self.x += 1
        self.sums = self.x.reshape(50, -1).sum(0)
        self.plan = Tensor.prepare_batch([self.x, self.sums])
        self.plan.execute()
        self.count = 1.0

    def step(self) -> None:
        self.plan.execute()

    def check(self) -> None:
        self.count = one_of(level(self.x), self.count, self.count + 1)
        try:
            one_of(level(self.sums), 50 * self.count)
        except ExecuteError:
            self.plan.execute()
            self.count = one_of(level(self.x), self.count + 1)
            one_of(level(self.sums), 50 * self.count)


class Reading(Program):
    """A plan that only reads."""

    def __init__(self) -> None:
        self.x = Tensor(numpy.zeros(SIZE)).realize()
        self.count = 0.0
        self.y = self.x.cos() + self.x
        self.plan = self.y.prepare()
        self.plan.execute()

    def step(self) -> None:
        self.plan.execute()

    def check(self) -> None:
        assert level(self.y) == 1


class Captured(Program):
    """A captured function that assigns to an argument and to a tensor that it finds."""

    def __init__(self) -> None:
        self.x, self.y = (Tensor(numpy.zeros(SIZE)).realize() for _ in range(2))
        self.values = 0.0, 0.0

        @ogive.jit
        def advance(x: Tensor) -> Tensor:
            x += 1
            self.y.assign(self.y + 2)
            return x.sum()

        self.advance = advance
        self.step()
        self.values = 1.0, 2.0

    def step(self) -> None:
        self.advance(self.x)

    def check(self) -> None:
        x, y = self.values
        x = one_of(level(self.x), x, x + 1)
        y = one_of(level(self.y), y, y + 2)
        self.values = x, y


class Traced(Program):
    """A function that is captured anew each time, in mid-trace perhaps."""

    def __init__(self) -> None:
        self.x = Tensor(numpy.zeros(SIZE)).realize()
        self.w = Tensor(numpy.ones(SIZE)).realize()
        self.count = 0.0

    def step(self) -> None:
        def advance(x: Tensor) -> Tensor:
            x += self.w
            return x.max()

        ogive.jit(advance)(self.x)

    def check(self) -> None:
        assert level(self.w) == 1
        self.count = one_of(level(self.x), self.count, self.count + 1)
        assert level(Tensor(numpy.zeros(3)) + 1) == 1, "the trace is still on"


class Donated(Program):
    """A captured function that uses up its argument."""

    def __init__(self) -> None:
        self.advance = ogive.jit(lambda x: x + 1, donate=(0,))
        self.x = Tensor(numpy.zeros(SIZE)).realize()
        self.given = self.x
        self.count = 0.0
        self.step()
        self.count = 1.0

    def step(self) -> None:
        self.given = self.x
        self.x = self.advance(self.given)

    def check(self) -> None:
        try:
            found = level(self.x)
        except ogive.errors.ArgumentError:  # it is gone, and what came of it was lost on the way
            self.x = Tensor(numpy.zeros(SIZE)).realize()
            found, self.count = 0.0, 0.0
        self.count = one_of(found, self.count, self.count + 1)


class Training(Program):
    """A step of training by hand, with gradients."""

    def __init__(self) -> None:
        self.w = Tensor(numpy.full((8, 4), 2.0), requires_grad=True)
        self.data = Tensor(numpy.ones((3, 8)))
        self.value = 2.0

    def step(self) -> None:
        self.w.grad = None
        (self.data @ self.w).sum().backward()
        gradient = self.w.grad
        assert gradient is not None
        with ogive.no_grad():
            self.w -= gradient * 0.5
        self.w.realize()

    def check(self) -> None:
        self.value = one_of(level(self.w.detach()), self.value, self.value - 1.5)
        ogive.set_grad_enabled(True)  # `with no_grad()` may have been left unended, as PyTorch's
        if self.value < -1000:
            self.__init__()  # type: ignore[misc]


class Compiling(Program):
    """New graphs: they are scheduled, compiled, and written to the cache on disk."""

    numbers = itertools.count(2)

    def __init__(self) -> None:
        self.x = Tensor(numpy.zeros(SIZE)).realize()
        self.count = 0.0
        self.added = 0

    def step(self) -> None:
        self.added = next(self.numbers)
        self.x += (self.x * 0 + self.added).sum() / SIZE
        self.x.realize()

    def check(self) -> None:
        self.count = one_of(level(self.x), self.count, self.count + self.added)
        self.added = 0
        disk = disk_for(Config())
        assert disk is not None and not disk.store._off and not disk.store._read_only
        info = disk.store.info()
        assert info.problem is None and ".damaged" not in info.path
        assert info.path.endswith("-0.db"), "the cache was thrown away"


class Storing(Program):
    """What is compiled is forgotten in memory, read from the disk, and written again."""

    def __init__(self) -> None:
        self.x = Tensor(numpy.zeros(SIZE)).realize()
        self.count = 0.0

    def step(self) -> None:
        disk = disk_for(Config())
        assert disk is not None
        self.x += 1
        graph_cache.clear()
        kernel_cache.clear()
        self.x.realize()
        disk.store._touch_due = True
        disk.store.flush()

    def check(self) -> None:
        self.count = one_of(level(self.x), self.count, self.count + 1)
        disk = disk_for(Config())
        assert disk is not None and not disk.store._off and not disk.store._read_only
        connection = disk.store._connection
        assert connection is None or not connection.in_transaction or disk.store.info()
        assert disk.store.info().path.endswith("-0.db"), "the cache was thrown away"


class Loading(Program):
    """Batches that a thread makes ahead."""

    def __init__(self) -> None:
        data = ogive.data.TensorDataset(Tensor(numpy.arange(12.0)))
        self.loader = ogive.data.DataLoader(data, batch_size=4, num_workers=2)
        self.total = Tensor(numpy.zeros(4)).realize()

    def step(self) -> None:
        for (batch,) in self.loader:
            self.total += batch * 0 + 1
            self.total.realize()

    def check(self) -> None:
        level(self.total)
        assert sum(batch.sum().item() for (batch,) in self.loader) == 66


class Calling(Program):
    """An assignment of what a custom function computes."""

    def __init__(self) -> None:
        self.x, self.y = (Tensor(numpy.zeros(SIZE)).realize() for _ in range(2))
        self.values = 0.0, 0.0

    def step(self) -> None:
        def follow(given: Any, result: Any) -> None:
            result[...] = given + 1

        self.y += 1
        self.x.assign(ogive.custom(follow, [self.x * 1], ((SIZE,), "float64")))
        Tensor.realize_batch([self.y, self.x])

    def check(self) -> None:
        x, y = self.values
        self.values = one_of(level(self.x), x, x + 1), one_of(level(self.y), y, y + 1)


PROGRAMS: dict[str, type[Program]] = {
    program.__name__.lower(): program
    for program in (
        Counting, Chain, Prepared, Reading, Captured, Traced, Donated, Training, Compiling,
        Storing, Loading, Calling, Reference,
    )
}  # fmt: skip
