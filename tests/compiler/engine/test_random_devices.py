"""Programs of random statements over tensors of several devices give what NumPy gives."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest

import ogive
from ogive import Config, Tensor

DEVICES = ("CPU", "CPU:1", "REFERENCE")
CHECKED = Config(verify=True, schedule_cache=False)


class Program:
    """Pairs of a tensor and what it should hold; statements change some, and make others."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.numbers = numpy.random.default_rng(seed)
        self.pairs: list[tuple[Tensor, Any]] = []
        for device in DEVICES:
            data = self.numbers.integers(-4, 5, (3, 4)).astype(numpy.float32)
            self.pairs.append((Tensor(data, device=device), data))

    def pick(self) -> tuple[Tensor, Any]:
        return self.choose.choice(self.pairs)

    def pick_on(self, device: str) -> tuple[Tensor, Any]:
        """One that is there, or goes there."""
        tensor, data = self.pick()
        return tensor.to(device), data

    def statement(self) -> None:
        tensor, data = self.pick()
        other, other_data = self.pick_on(tensor.device)
        kind = self.choose.randrange(10)
        if kind == 0:
            self.pairs.append((tensor + other, data + other_data))
        elif kind == 1:
            self.pairs.append((tensor.minimum(other) * 2, numpy.minimum(data, other_data) * 2))
        elif kind == 2:
            total = tensor.sum(0, keepdim=True)
            self.pairs.append((total + other, data.sum(0, keepdims=True) + other_data))
        elif kind == 3:
            place = self.choose.choice(DEVICES)
            self.pairs.append((tensor.to(place) + 1, data + 1))
        elif kind == 4:
            self.assign(tensor, data, other, other_data)
        elif kind == 5:
            row = self.choose.randrange(3)
            tensor[row] = other[2 - row]
            data[row] = other_data[2 - row].copy()
        elif kind == 6:
            self.pairs.append(((tensor * 1).flip(1).contiguous(), data[:, ::-1].copy()))
        elif kind == 7:
            place = self.choose.choice(DEVICES)
            ones = (ogive.full((3, 4), 0.5, device=place) * 2).to(tensor.device)
            self.pairs.append((ones - tensor, 1 - data))
        elif kind == 8:
            place = self.choose.choice(DEVICES)
            counts = ogive.arange(4, device=place).float() + ogive.zeros(3, 1, device=place)
            self.pairs.append((counts, numpy.arange(4) + numpy.zeros((3, 1))))
        else:
            tensor.realize(config=CHECKED)

    def assign(self, tensor: Tensor, data: Any, other: Tensor, other_data: Any) -> None:
        new = numpy.clip(other_data - data, -100, 100)
        tensor.assign((other - tensor).clip(-100, 100))
        data[...] = new


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_over_several_devices(seed: int) -> None:
    program = Program(seed)
    for _ in range(14):
        program.statement()
    order = list(range(len(program.pairs)))
    program.choose.shuffle(order)
    if seed % 2:
        Tensor.realize_batch([program.pairs[at][0] for at in order], config=CHECKED)
    for at in order:
        tensor, data = program.pairs[at]
        tensor.realize(config=CHECKED)
        numpy.testing.assert_array_equal(tensor.numpy(), data, err_msg=f"tensor {at}")
