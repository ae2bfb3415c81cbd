"""Elements arranged by their groups: in order within each, at places that are counted on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ogive import Config, Tensor
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.compiler.passes.loops.kernel_axes import ordered_axes
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.targets.graph_costs import Sorting
from ogive.errors import VerifyError
from ogive.tensor.core import wrap
from tests.compiler.passes.place.test_placements import Kernel, check
from tests.compiler.passes.regions.selection import kernels_of
from tests.costs import COUNTED
from tests.raising import raises

Array = NDArray[Any]
RANDOM = np.random.default_rng(23)
GROUPS = 5
SORTING = Sorting()
BY_DIGITS = Config(costs=COUNTED)


def arranged(shape: tuple[int, ...], by_arithmetic: bool = False) -> tuple[Tensor, Array]:
    """Random elements (..., chunks, n) arranged by random groups, and what that should give."""
    x, group = RANDOM.random(shape), RANDOM.integers(0, GROUPS, shape)
    lines = group.reshape(-1, *shape[-2:])
    places = np.argsort(lines.reshape(len(lines), -1), axis=1, kind="stable")
    wanted = np.take_along_axis(x.reshape(len(lines), -1), places, 1)
    counts = np.stack([(lines == g).sum(-1) for g in range(GROUPS)], -1)
    in_order = counts.transpose(0, 2, 1).reshape(len(lines), -1)
    starts = (in_order.cumsum(1) - in_order).reshape(len(lines), GROUPS, -1).transpose(0, 2, 1)
    starts = starts.reshape(*shape[:-1], GROUPS).astype(np.int32)
    which = Tensor(group * 3) // 3 if by_arithmetic else Tensor(group)
    with graph_lock:
        sources = (Tensor(x).node, Tensor(starts).node, which.node)
        node = make(Op.ARRANGE, dtypes.float64, sources)
        return wrap(node, "CPU"), wanted.reshape(*shape[:-2], -1)


@pytest.mark.parametrize("shape", [(1, 9), (3, 50), (4, 1, 30), (2, 3, 2, 17)], ids=str)
def test_each_element_is_at_the_next_place_of_its_group(shape: tuple[int, ...]) -> None:
    got, wanted = arranged(shape)
    np.testing.assert_array_equal(got.numpy(), wanted)


def test_an_arrangement_is_one_kernel_with_one_loop_in_order() -> None:
    got, wanted = arranged((2, 3, 40), by_arithmetic=True)
    (graph,) = kernels_of(got)
    loops = rangeify(graph)
    (axis,) = ordered_axes(loops)
    assert axis.src[0].arg == 40
    assert [node.op for node in loops.walk()].count(Op.TALLY) == 1
    np.testing.assert_array_equal(got.numpy(), wanted)


def test_random_placements_keep_the_result() -> None:
    got, _ = arranged((5, 3, 19))
    check(Kernel(got), 3, 12)


def test_what_memory_holds_for_a_group_never_leads_outside_of_the_counters() -> None:
    loops = rangeify(kernels_of(arranged((2, 30))[0])[0])
    (tally,) = [node for node in loops.walk() if node.op is Op.TALLY]
    position = tally.src[0].src[1]
    assert (position.vmin, position.vmax) == (0, GROUPS - 1)


def test_the_verifier_knows_arrangements() -> None:
    x = UOp(Op.RESHAPE, dtypes.float32, (UOp(Op.PARAM, dtypes.float32, (), (0, 6, "CPU")),), (2, 3))
    group = UOp(Op.CAST, dtypes.int64, (x,))
    starts = UOp(Op.CAST, dtypes.int32, (x,))
    for sources, words in [
        ((x, starts, starts), "for each its group as int64"),
        ((x, x, group), "where the groups of each chunk start"),
    ]:
        node = UOp(Op.ARRANGE, dtypes.float32, sources)
        with raises(VerifyError, match=words):
            verify(UOp(Op.SINK, dtypes.void, (node,)), "parametric")


# Orders of keys, which are arranged by one digit after the other


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64", "uint64"])
def test_keys_of_every_width_are_ordered(dtype: str) -> None:
    limits = np.iinfo(dtype)
    keys = RANDOM.integers(limits.min, limits.max, (3, 400), dtype, endpoint=True)
    keys[:, :4] = [[limits.max, limits.min, limits.max, limits.min]]
    order = Tensor(keys).argsort().realize(BY_DIGITS)
    np.testing.assert_array_equal(order.numpy(), np.argsort(keys, axis=1, kind="stable"))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_long_line_is_arranged_in_chunks_that_threads_share(threads: int) -> None:
    length = SORTING.chunked_length + 3
    assert length % SORTING.chunks
    keys = RANDOM.integers(-9000, 9000, length).astype(np.int16)
    keys[-5:] = np.iinfo(np.int16).max
    found = Tensor(keys).argsort().realize(Config(costs=COUNTED, threads=threads)).numpy()
    np.testing.assert_array_equal(found, np.argsort(keys, kind="stable"))


def test_keys_between_others_are_read_through_views() -> None:
    keys = RANDOM.integers(-5, 5, (90, 4)).astype(np.int32)
    order = Tensor(keys).T.argsort().realize(BY_DIGITS)
    np.testing.assert_array_equal(order.numpy(), np.argsort(keys.T, axis=1, kind="stable"))
