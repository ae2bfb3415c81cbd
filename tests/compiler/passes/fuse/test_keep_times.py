"""What is kept because it would be computed at several places, and what is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, TRANSCENDENTAL, Op
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.pipeline.region_passes import loops_of
from ogive.compiler.targets.costs import CPU_COSTS
from ogive.compiler.targets.target import Target, describe_cpu
from tests.compiler.passes.parametric import normalize

TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")
CONFIG = Config(verify=True)


def data(*shape: int, seed: int = 0) -> Tensor:
    values = np.random.default_rng(seed).standard_normal(shape)
    return Tensor(values.astype(np.float32))


def kernels(*tensors: Tensor, target: Target = TARGET, config: Config = CONFIG) -> list[UOp]:
    """The loop graphs of the kernels that compute some tensors."""
    sink = normalize(tuple([tensor.node for tensor in tensors])).sink
    steps = schedule_graph(sink, target, config).kernels
    return [loops_of(step.region.graph, target, config) for step in steps]


def count(ops: frozenset[Op], roots: list[UOp]) -> int:
    return sum([node.op in ops for root in roots for node in root.walk()])


def with_taps(x: Tensor) -> Tensor:
    """The sum of each element and its four neighbours."""
    middle = slice(1, -1)
    shifted = [x[:-2, middle], x[2:, middle], x[middle, :-2], x[middle, 2:]]
    return sum(shifted, start=x[middle, middle])


def shifted(x: Tensor, size: int) -> Tensor:
    """The sum over windows, slice by slice."""
    rest = x.shape[0] - size + 1
    parts = [x[i : i + rest, j : j + rest] for i in range(size) for j in range(size)]
    return sum(parts[1:], start=parts[0])


def both_ways(x: Tensor) -> Tensor:
    return x + x.T


def along_both(x: Tensor) -> Tensor:
    return x.sum(0) + x.sum(1)


def with_itself_rolled(x: Tensor) -> Tensor:
    return x + x.roll(3, 0)


def with_itself_flipped(x: Tensor) -> Tensor:
    return x + x.flip(0)


def halves_exchanged(x: Tensor) -> Tensor:
    return ogive.cat([x[:, 256:], x[:, :256]], 1)


def halves_multiplied(x: Tensor) -> Tensor:
    return x[:, :256] * x[:, 256:]


KEPT: dict[str, Callable[[], Tensor]] = {
    "shifted slices": lambda: shifted(data(512, 512).tanh(), 5),
    "a stencil of sigmoid": lambda: with_taps(data(512, 512).sigmoid()),
    "a stencil, from memory": lambda: with_taps(data(4096, 1024).tanh()),
    "a transpose": lambda: both_ways(data(512, 512).tanh()),
    "sums along both axes": lambda: along_both(data(256, 256).exp()),
    "rolled": lambda: with_itself_rolled(data(256, 256).tanh()),
    "flipped": lambda: with_itself_flipped(data(300, 400).exp()),
    "windows that overlap": lambda: data(4, 8, 64, 64).gelu().avg_pool2d(3, 1),
    "halves read twice": lambda: halves_exchanged(data(64, 512).tanh()),
}


@pytest.mark.parametrize("name", KEPT)
def test_functions_are_computed_once_for_each_element(name: str) -> None:
    found = kernels(KEPT[name]())
    sums = 2 if name == "sums along both axes" else 1
    assert len(found) == 1 + sums
    assert count(TRANSCENDENTAL, found) == 1


AGAIN: dict[str, Callable[[], Tensor]] = {
    "a stencil of a comparison": lambda: with_taps(data(512, 512).relu()),
    "a cheap transpose": lambda: both_ways(data(1024, 1024).relu()),
    "a sum of two, transposed": lambda: both_ways(data(1024, 1024) + data(1024, 1024, seed=1)),
    "few elements": lambda: with_taps(data(6, 6).exp()),
    "halves": lambda: halves_multiplied(data(64, 512).tanh()),
    "windows side by side": lambda: data(4, 8, 64, 64).gelu().avg_pool2d(4),
}


@pytest.mark.parametrize("name", AGAIN)
def test_what_is_cheap_or_read_once_is_computed_where_it_is_read(name: str) -> None:
    assert len(kernels(AGAIN[name]())) == 1


def test_kernels_that_become_one_compute_what_both_read_once() -> None:
    # The sums of distances from a block's mean and of their squares read the mean at their place.
    # A division takes long enough with short vectors that three of them would pay to keep it.
    short = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")
    assert len(kernels(data(256, 1 << 13).var(0), target=short)) == 2


def test_products_of_three_are_kept_where_a_kernel_would_transpose_them_all() -> None:
    x, y, z = [data(1024, 1024, seed=seed) for seed in range(3)]
    assert len(kernels(both_ways(x * y + z))) == 2
    product = x * y + z
    assert len(kernels(product.T.contiguous(), product.sum(1))) == 3
    small = data(512, 512) * data(512, 512, seed=1) + data(512, 512, seed=2)
    assert len(kernels(small.T + small.sum(1))) == 3


def test_a_square_root_is_kept_where_memory_is_fast_and_computed_again_where_it_is_slow() -> None:
    given = with_taps(data(512, 512).abs().sqrt())
    slow = CPU_COSTS.with_changes(memory={"kept_write": (0.5, 0.5, 0.5, 0.5)})
    assert len(kernels(given)) == 2
    assert len(kernels(given, target=dataclasses.replace(TARGET, costs=slow))) == 1


def test_a_stencil_of_divisions_is_kept_in_a_cache_and_computed_again_beyond() -> None:
    assert len(kernels(with_taps(1 / data(512, 512)))) == 2
    assert len(kernels(with_taps(1 / data(4096, 2048)))) == 1


def jacobi(x: Tensor, steps: int) -> Tensor:
    for _ in range(steps):
        neighbours = with_taps(x) - x[1:-1, 1:-1]
        x = (0.25 * neighbours).pad(((1, 1), (1, 1)))
    return x


def test_each_step_of_a_stencil_is_a_kernel() -> None:
    assert len(kernels(jacobi(data(256, 256), 6))) == 6


def test_copies_count_as_nodes_of_a_kernel() -> None:
    never = dataclasses.replace(TARGET, costs=CPU_COSTS.with_changes(fusion={"keep_gain": 1e9}))
    config = Config(kernel_node_limit=100)
    found = kernels(jacobi(data(256, 256), 6), target=never, config=config)
    sizes = [count(ELEMENTWISE, [root]) for root in found]
    # Positions and gates are operations as well, some for each copy.
    assert len(found) > 1 and max(sizes) < 20 * config.kernel_node_limit


@pytest.mark.parametrize("keep_gain", [-1e9, 0.5, 1e9])
def test_results_do_not_depend_on_what_is_kept(keep_gain: float) -> None:
    costs = CPU_COSTS.with_changes(fusion={"keep_gain": keep_gain})
    values = np.random.default_rng(3).standard_normal((40, 40))
    for build in (
        lambda x: jacobi(x.tanh(), 2),
        lambda x: shifted(x.exp(), 3),
        lambda x: both_ways(x.sigmoid()).flip(1) + x.sigmoid().roll(5, 1),
        lambda x: along_both(x.exp()),
        lambda x: x.tanh().reshape(20, 80)[:, 3:43].flatten() + x.tanh().flatten()[800:],
    ):
        given = build(Tensor(values)).realize(config=Config(costs=costs, verify=True))
        wanted = build(Tensor(values)).realize(config=Config(kernel_node_limit=1, vectorize=False))
        np.testing.assert_allclose(given.numpy(), wanted.numpy(), rtol=1e-12, atol=1e-12)


def test_a_gate_is_kept_where_it_is_small_and_not_with_what_it_is_spread_over() -> None:
    x, weight = data(64, 30, 30), data(64, 16, seed=1)
    gate = (weight * data(16, seed=2)).sum(1).sigmoid()
    roots = kernels((x * gate.reshape(64, 1, 1)).permute(1, 2, 0).contiguous())
    with_exponentials = [root for root in roots if count(TRANSCENDENTAL, [root])]
    assert [int(store.place.base.size) for root in with_exponentials for store in root.src] == [64]
