"""Random graphs of products, sums, functions and movement."""

from __future__ import annotations

from random import Random

import numpy

import ogive
from ogive import Tensor
from ogive.ir.node import UOp
from tests.passes.parametric import normalize

LENGTHS = (1, 4, 16, 48)


def random_tensor(random: Random, steps: int = 10) -> Tensor:
    """A tensor of two axes, computed in some random steps from random matrices."""
    drawn = numpy.random.default_rng(random.getrandbits(32))

    def matrix(rows: int, columns: int) -> Tensor:
        return Tensor(drawn.uniform(0.5, 1.5, (rows, columns)).astype(numpy.float32))

    made = [matrix(random.choice(LENGTHS), random.choice(LENGTHS)) for _ in range(3)]
    for _ in range(steps):
        x = random.choice(made[-4:])
        rows, columns = x.shape
        kind = random.randrange(12)
        if kind < 3:
            made.append(x @ matrix(columns, random.choice(LENGTHS)) / columns)
        elif kind == 3:
            made.append(x * matrix(1, columns) + matrix(rows, 1))
        elif kind == 4:
            made.append((x - matrix(1, columns)) * matrix(1, columns))
        elif kind == 5:
            made.append(random.choice([Tensor.tanh, Tensor.sigmoid, Tensor.relu])(x))
        elif kind == 6:
            made.append(x.softmax(-1))
        elif kind == 7:
            made.append(x.T)
        elif kind == 8:
            same = [other for other in made if other.shape == x.shape]
            made.append(x * random.choice(same) + x * random.choice(same))
        elif kind == 9:
            made.append(x / x.abs().sum(1, keepdim=True))
        elif kind == 10:
            joined = ogive.cat([x, matrix(rows, 4)], dim=1)
            made.append(joined[:, :columns])
        else:
            weight = matrix(columns, 4)
            made.append(x @ weight + x @ matrix(columns, 4))
    return made[-1]


def random_sink(seed: int) -> UOp:
    """The parametric graph of a random tensor."""
    return normalize((random_tensor(Random(seed)).node,)).sink
