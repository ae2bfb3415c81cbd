"""Which layout the estimate takes for a product of matrices, by its lengths."""

from __future__ import annotations

from dataclasses import replace

from ogive.compiler.passes.graph.products.operand_layouts import (
    Axis,
    Layout,
    Operand,
    Product,
    best_layout,
    vectors_per_panel,
)
from ogive.compiler.targets.target import describe_cpu

TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")
HALVES = describe_cpu("x86_64-linux-gnu", "znver4", "+avx,+avx2,+avx512f")
SMALL = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")
NOTHING: frozenset[Axis] = frozenset()


def product(rows: int, depth: int, columns: int, batch: int = 8) -> Product:
    """So many products of row-major matrices of floats."""
    left = Operand(Axis.ROWS, rows, batch * rows * depth, columns, Axis.DEPTH, False, False, False)
    right = Operand(
        Axis.COLUMNS, columns, batch * depth * columns, rows, Axis.COLUMNS, False, False, False
    )
    return Product(left, right, depth, batch, 4)


def test_columns_are_in_lanes_and_in_panels_if_many_rows_read_them() -> None:
    assert best_layout(product(20, 300, 300), TARGET) == Layout(Axis.COLUMNS, NOTHING)
    wanted = Layout(Axis.COLUMNS, frozenset([Axis.COLUMNS]))
    assert best_layout(product(400, 300, 300), TARGET) == wanted


def test_an_operand_that_no_cache_holds_is_read_where_it_lies_by_some_rows() -> None:
    target = replace(TARGET, l3_bytes=1 << 24)
    assert best_layout(product(17, 1250, 730), target).laid_out == NOTHING
    assert best_layout(product(40, 1250, 730), target).laid_out == NOTHING
    assert best_layout(product(100, 1250, 730), target).laid_out == frozenset([Axis.COLUMNS])


def test_an_operand_that_is_computed_is_computed_into_panels() -> None:
    plain = product(40, 300, 300)
    assert best_layout(plain, TARGET).laid_out == NOTHING
    computed = replace(plain, right=replace(plain.right, is_computed=True))
    assert best_layout(computed, TARGET).laid_out == frozenset([Axis.COLUMNS])


def test_few_columns_have_the_depth_in_lanes_if_it_is_long() -> None:
    wanted = Layout(Axis.DEPTH, frozenset([Axis.COLUMNS]))
    assert best_layout(product(300, 600, 5), TARGET) == wanted
    assert best_layout(product(300, 6, 12), TARGET) == Layout(Axis.COLUMNS, NOTHING)


def test_half_a_vector_of_columns_is_enough_where_arithmetic_goes_by_halves() -> None:
    assert best_layout(product(50, 300, 8), TARGET).lanes is Axis.DEPTH
    assert best_layout(product(50, 300, 8), HALVES) == Layout(Axis.COLUMNS, NOTHING)


def test_rows_that_lie_side_by_side_are_in_lanes_if_columns_are_few() -> None:
    few = product(320, 40, 5)
    turned = replace(few, left=replace(few.left, along=Axis.ROWS))
    assert best_layout(turned, TARGET) == Layout(Axis.ROWS, NOTHING)


def test_an_operand_that_stays_where_it_is_computed_is_read_by_elements() -> None:
    few = product(300, 600, 5)
    assert best_layout(replace(few, left=replace(few.left, stays=True)), TARGET) == Layout(
        Axis.COLUMNS, NOTHING
    )


def test_what_is_staged_by_rows_has_columns_in_lanes() -> None:
    scores = product(64, 64, 1024)
    keys = replace(scores, right=replace(scores.right, along=Axis.DEPTH))
    assert best_layout(keys, TARGET).lanes is not Axis.COLUMNS
    wanted = Layout(Axis.COLUMNS, frozenset([Axis.COLUMNS]))
    assert best_layout(replace(keys, by_rows=True), TARGET) == wanted


def test_panels_are_as_wide_as_goes_with_tiles_that_rows_fill() -> None:
    assert vectors_per_panel(768, 8, 768, 64, SMALL) == 3  # tiles of 4 rows, of 16 there are
    assert vectors_per_panel(768, 8, 768, 54, SMALL) == 2  # tiles of 6
    assert vectors_per_panel(768, 8, 768, 64, SMALL, spare=2) == 2
    assert vectors_per_panel(640, 8, 768, 64, SMALL) == 2


def test_an_operand_of_many_products_is_laid_out_for_a_few_rows() -> None:
    one = product(8, 128, 512, batch=1)
    weight = replace(one.right, along=Axis.DEPTH, may_be_kept=True)
    assert best_layout(replace(one, right=weight), TARGET).lanes is Axis.DEPTH
    many = replace(one, right=replace(weight, uses=60))
    assert best_layout(many, TARGET) == Layout(Axis.COLUMNS, frozenset([Axis.COLUMNS]))
