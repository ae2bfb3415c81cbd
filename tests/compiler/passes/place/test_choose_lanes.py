"""Which axes go into lanes: those along which all is read side by side, or is the same."""

from __future__ import annotations

import numpy as np
import pytest

from ogive import Tensor
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.place.choose_lanes import choose_lanes
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.targets.target import describe_cpu
from tests.compiler.passes.loops.loops import kernels_of

TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")


def whole(*shape: int) -> Tensor:
    return Tensor(np.arange(np.prod(shape), dtype=np.int32).reshape(shape)).realize()


def lanes_of(tensor: Tensor) -> list[tuple[str, int]]:
    """The kind and the length of each axis that is in lanes."""
    kernel = KernelFacts.of(kernels_of(tensor, TARGET)[-1], TARGET)
    return [
        ("output" if counter in kernel.outputs else "reduction", axis_extent(counter))
        for counter in choose_lanes(kernel, TARGET)
    ]


def test_a_sum_of_rows_has_its_terms_in_lanes() -> None:
    assert lanes_of(whole(40, 90).sum(1)) == [("reduction", 90)]


def test_a_sum_of_columns_has_its_results_in_lanes() -> None:
    assert lanes_of(whole(40, 90).sum(0)) == [("output", 90)]


@pytest.mark.parametrize("length", [20, 64, 128])
def test_counts_of_pairs_have_results_in_lanes_and_spread_what_they_are_compared_with(
    length: int,
) -> None:
    this, other = whole(3, length, 1), whole(3, 1, length)
    assert lanes_of((other < this).sum(-1)) == [("output", length)]


def test_what_follows_row_by_row_from_a_product_has_lanes_of_its_own() -> None:
    """A row times a vector, summed up, is a product; the row less its mean is none."""
    x = whole(40, 90).float().realize() * whole(1, 90).float().realize()
    assert sorted(lanes_of(x - x.mean(1, keepdim=True))) == [("output", 90), ("reduction", 90)]


def test_transposed_rows_that_are_reduced_and_gone_through_again_are_read_as_they_lie() -> None:
    """What is stored after a product of rows is no axis of it, and competes with none of its."""
    x, scale = whole(64, 48).float().realize(), whole(64, 1).float().realize()
    rows = (x * scale).T
    lanes = lanes_of(rows - rows.amax(1, keepdim=True))
    assert lanes == [("output", 48)]
