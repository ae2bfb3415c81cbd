"""How reshapes with symbolic lengths pair their axes."""

from __future__ import annotations

from ogive import Variable
from ogive.compiler.passes.fuse.reads.axis_relations import reshape_groups

N = Variable("n", 0, 9).node
M = Variable("m", 1, 4).node


def test_equal_symbolic_lengths_are_paired() -> None:
    assert reshape_groups((N, 4, 8), (N, 32)) == (((0,), (0,)), ((1, 2), (1,)))
    assert reshape_groups((M, N), (M, 1, N)) == (((0,), (0,)), ((1,), (2,)))


def test_a_product_is_paired_with_its_factors_and_no_others() -> None:
    assert reshape_groups((N, 4, 8), (N * 4, 8)) == (((0, 1), (0,)), ((2,), (1,)))
    assert reshape_groups((N * M, 3), (N, M, 3)) == (((0,), (0, 1)), ((1,), (2,)))
    assert reshape_groups((M, N, 5), (M * N * 5,)) == (((0, 1, 2), (0,)),)


def test_what_cannot_be_paired_stays_together() -> None:
    assert reshape_groups((N, 6), (6, N)) == (((0, 1), (0, 1)),)
