"""Random programs over several devices give what they give on one, and so do their gradients."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import ogive
from ogive import Mesh, Tensor

LENGTH = 24  # what 2, 3, 4 and 8 devices can share
MESHES = [(1,), (2,), (3,), (4,), (8,), (2, 2), (2, 4)]

Step = Callable[[Tensor, Tensor], Tensor]


def _axis(rng: random.Random, x: Tensor) -> int:
    return rng.randrange(x.ndim)


def _reshaped(rng: random.Random) -> Step:
    shapes = [(4, 6, 24), (24, 2, 12), (24, 24), (576,), (2, 3, 4, 24), (24, 24, 1), (8, 72)]
    shape = rng.choice(shapes)
    return lambda x, y: x.reshape(shape) if x.numel() == LENGTH**2 else x


def _square(x: Tensor) -> Tensor:
    return x.reshape(LENGTH, LENGTH) if x.numel() == LENGTH**2 else x


def _is_square(x: Tensor) -> bool:
    return x.shape == (LENGTH, LENGTH)


def _meeting(function: Callable[[Any, Any], Tensor]) -> Callable[[random.Random], Step]:
    """A function of a value and of the second input, or of itself."""

    def step(x: Tensor, y: Tensor) -> Tensor:
        x = _square(x)
        return function(x, y) if x.shape == y.shape else function(x, x)

    return lambda rng: step


def _along(function: Callable[[Tensor, int], Tensor]) -> Callable[[random.Random], Step]:
    def draw(rng: random.Random) -> Step:
        seed = rng.random()
        return lambda x, y: function(x, _axis(random.Random(seed), x))

    return draw


def _shuffled(x: Tensor, axis: int) -> Tensor:
    return x.permute(*[(each + axis) % x.ndim for each in range(x.ndim)])


def _part(x: Tensor, axis: int) -> Tensor:
    return x.narrow(axis, 0, max(int(x.shape[axis]) // 2, 1))


def _padded(x: Tensor, axis: int) -> Tensor:
    return ogive.cat([x, x.narrow(axis, 0, 1)], axis).narrow(axis, 1, int(x.shape[axis]))


def _looked_up(x: Tensor, axis: int) -> Tensor:
    return x.flip(axis).index_select(axis, Tensor([0, 0], device=x.device))


def _written(x: Tensor, axis: int) -> Tensor:
    """A copy, of which a part has been written to, through a view and then by itself."""
    made = x.clone()
    first = made.narrow(axis, 0, (int(x.shape[axis]) + 1) // 2)
    first += 1
    made *= 2
    return made


def _overwritten(x: Tensor, axis: int) -> Tensor:
    made = x.clone()
    made.select(axis, int(x.shape[axis]) // 2).copy_(made.select(axis, 0))
    return made


def _masked(x: Tensor, axis: int) -> Tensor:
    made = x.clone()
    made[made < made.amax(axis, keepdim=True) - 3] = 1
    return made


def _picked(x: Tensor, axis: int) -> Tensor:
    """Elements by positions that are worked out, added to where they come from."""
    positions = x.argsort(axis).narrow(axis, 0, 1)
    return x.scatter_add(axis, positions, x.gather(axis, positions))


EXACT: list[Callable[[random.Random], Step]] = [
    _meeting(lambda x, y: x + y),
    _meeting(lambda x, y: x - 2 * y),
    _meeting(lambda x, y: x.maximum(y)),
    _meeting(lambda x, y: ogive.where(x < y, x, y.T) if _is_square(x) else x),
    _meeting(lambda x, y: x * 3 - y.T if _is_square(x) else -x),
    _meeting(lambda x, y: x.shard_like(y) + 1),
    _reshaped,
    _along(lambda x, axis: x.realize()),
    _along(_shuffled),
    _along(_part),
    _along(_padded),
    _along(_looked_up),
    _along(lambda x, axis: x.flip(axis)),
    _along(lambda x, axis: x.sum(axis, keepdim=True) - x),
    _along(lambda x, axis: x.max(axis, keepdim=True)[0] + x),
    _along(lambda x, axis: x.cumsum(axis)),
    _along(lambda x, axis: x.sort(axis)[0]),
    _along(_written),
    _along(_overwritten),
    _along(_masked),
    _along(_picked),
    _along(lambda x, axis: x.roll(1, axis)),
    _along(lambda x, axis: ogive.stack([x, -x], axis).select(axis, 1)),
    _along(lambda x, axis: x - x.unsqueeze(axis).repeat_interleave(3, axis).sum(axis)),
    _along(lambda x, axis: ogive.cat(x.chunk(2, axis)[::-1], axis)),
]
ROUNDED: list[Callable[[random.Random], Step]] = [
    _meeting(lambda x, y: x.tanh() * y),
    _meeting(lambda x, y: (x @ y.T if _is_square(x) else x) / LENGTH),
    _meeting(lambda x, y: (y @ x if _is_square(x) else x) / LENGTH),
    _along(lambda x, axis: x.softmax(axis)),
    _along(lambda x, axis: x - x.mean(axis, keepdim=True)),
    _along(lambda x, axis: x.logsumexp(axis, keepdim=True) - x),
    _along(lambda x, axis: x * x.square().sum(axis, keepdim=True).add(1).rsqrt()),
    _along(lambda x, axis: x / (1 + x.var(axis, keepdim=True)).sqrt() if x.shape[axis] > 1 else x),
]


def draw_program(seed: int, kinds: list[Callable[[random.Random], Step]]) -> list[Step]:
    rng = random.Random(seed)
    return [rng.choice(kinds)(rng) for _ in range(rng.randint(3, 7))]


def draw_sharding(seed: int, sizes: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    """How one input of two axes lies on a mesh."""
    rng = random.Random(seed)
    mesh = Mesh(*[(f"axis{number}", size) for number, size in enumerate(sizes)])
    spec: list[str | None] = [None, None]
    for name in mesh.sizes:
        axis = rng.choice([0, 1, None])
        if axis is not None and spec[axis] is None:
            spec[axis] = name
    return lambda x: x.shard(mesh, spec)


def run(program: list[Step], x: Tensor, y: Tensor) -> Tensor:
    value = x
    for step in program:
        value = step(value, y)
    return value


def check_floats(seed: int, sizes: tuple[int, ...]) -> None:
    program = draw_program(seed + 100 * len(sizes) + sum(sizes), EXACT + ROUNDED)
    rng = numpy.random.default_rng(seed)
    given = [rng.standard_normal((LENGTH, LENGTH)) for _ in range(2)]
    plain = [Tensor(value, requires_grad=True) for value in given]
    ways = [draw_sharding(seed + number, sizes) for number in range(2)]
    spread = [way(Tensor(value)).requires_grad_() for way, value in zip(ways, given, strict=True)]
    expected, found = run(program, *plain), run(program, *spread)
    assert found.shape == expected.shape
    numpy.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-9)
    expected.square().sum().backward()
    found.square().sum().backward()
    for one, other in zip(plain, spread, strict=True):
        assert (one.grad is None) == (other.grad is None)
        if one.grad is not None and other.grad is not None:
            assert other.grad.sharding == other.sharding
            numpy.testing.assert_allclose(
                other.grad.numpy(), one.grad.numpy(), rtol=1e-7, atol=1e-7
            )


def check_integers(seed: int, sizes: tuple[int, ...]) -> None:
    program = draw_program(seed + 1000 * len(sizes) + sum(sizes), EXACT)
    rng = numpy.random.default_rng(seed)
    given = [rng.integers(-9, 9, (LENGTH, LENGTH)) for _ in range(2)]
    ways = [draw_sharding(seed + number, sizes) for number in range(2)]
    spread = [way(Tensor(value)) for way, value in zip(ways, given, strict=True)]
    expected = run(program, *[Tensor(value) for value in given])
    found = run(program, *spread)
    numpy.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("sizes", MESHES)
def test_floats_and_their_gradients_are_equal_but_for_rounding(sizes: tuple[int, ...]) -> None:
    check_floats(0, sizes)


@pytest.mark.parametrize("sizes", MESHES)
def test_integers_are_equal(sizes: tuple[int, ...]) -> None:
    check_integers(1, sizes)


@pytest.mark.soak
@pytest.mark.parametrize("sizes", MESHES)
@pytest.mark.parametrize("seed", range(2, 40))
def test_many_programs_give_what_they_give_on_one_device(seed: int, sizes: tuple[int, ...]) -> None:
    check_floats(seed, sizes)
    check_integers(seed, sizes)
