"""Long rows are added up in scratch memory, a few at a time."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from ogive import Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.sums.add_up_rows import add_up_rows
from ogive.compiler.search.worker_messages import Open, pack_message, unpack_message
from tests.compiler.passes.place.test_placements import Array, Kernel, check

CASES = {
    "sum": lambda: data(8, 16, 600).sum(1),
    "maximum": lambda: data(9, 24, 513).amax(1),
    "of products": lambda: (data(8, 16, 1) * data(8, 16, 520)).sum(1),
    "any": lambda: (data(8, 16, 600) > 5).any(1),
    "longer than a cache": lambda: data(1, 16, 4701).sum(1),
    "about a maximum": lambda: about_maximum(data(8, 16, 600)),
    "about a maximum, longer": lambda: about_maximum(data(1, 32, 3001)),
}


def about_maximum(x: Tensor) -> Tensor:
    distance = x - x.amax(1, keepdim=True)
    return (distance * distance).sum(1)


SMALL = dataclasses.replace(host_target(), l1_bytes=4096)


def data(*shape: int) -> Tensor:
    generator = np.random.default_rng(sum(shape))
    return Tensor(generator.integers(-6, 7, shape).astype(np.float32))


def added_up(kernel: Kernel) -> UOp:
    return add_up_rows(kernel.forms[1], SMALL)


def is_added_up(loops: UOp) -> bool:
    return any(n.op is Op.STAGE and n.combine is not None for n in loops.walk())


@pytest.mark.parametrize("name", CASES)
def test_random_placements_keep_the_result(name: str) -> None:
    kernel = Kernel(CASES[name]())
    loops = added_up(kernel)
    assert is_added_up(loops)
    verify(loops, "loops")
    sent = Open(loops, host_target(), 1)
    assert unpack_message(pack_message(sent)) == sent
    kernel.forms = [loops, loops]
    check(kernel, 3, 4)


@pytest.mark.parametrize(
    "build",
    [
        lambda: data(8, 16, 60).sum(1),  # as wide as registers are
        lambda: data(8, 17, 600).sum(1),  # not in fours
        lambda: about_maximum(data(8, 20, 600)),  # not in eights
        lambda: data(16, 600).sum(0),  # a single tile
        lambda: data(8, 600, 16).sum(2),  # along what lies side by side
        lambda: (data(8, 16, 600).exp() + data(8, 16, 600).tanh()).sum(1),  # long to compute
        lambda: data(8, 16, 600).sum(1) + 1,
        lambda: data(12, 16) @ data(16, 600),  # each row is read twelve times
    ],
)
def test_other_sums_stay_as_they_are(build: object) -> None:
    assert callable(build)
    kernel = Kernel(build())
    assert added_up(kernel) is kernel.forms[1]


@pytest.mark.parametrize(("rows", "columns"), [(2048, 1024), (1111, 1000), (130, 9001)])
def test_a_row_times_a_matrix_is_as_exact_as_ever(rows: int, columns: int) -> None:
    generator = np.random.default_rng(rows)
    row: Array = generator.standard_normal(rows).astype(np.float32)
    matrix: Array = generator.standard_normal((rows, columns)).astype(np.float32)
    exact = row.astype(np.float64) @ matrix.astype(np.float64)
    error = np.abs((Tensor(row) @ Tensor(matrix)).numpy() - exact).max()
    assert error <= 2 * np.abs(row @ matrix - exact).max()
    total = Tensor(matrix).sum(0).numpy()
    np.testing.assert_allclose(total, matrix.astype(np.float64).sum(0), rtol=0, atol=1e-4)
