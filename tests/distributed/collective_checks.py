"""What exchanges give, against NumPy: every rank knows what all others have."""

from __future__ import annotations

import functools
import itertools
import tempfile
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Tensor, distributed
from ogive.errors import ArgumentError, DistributedError, DtypeError, GradientError, ShapeError
from tests.raising import raises

RANK, SIZE = distributed.rank(), distributed.size()
SHAPES: list[tuple[int, ...]] = [(), (3,), (SIZE * 2, 5), (0, 4), (2, 3, SIZE)]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NARROW = ["float16", "bfloat16", "float8_e4m3"]
COMPLEX = ["complex64", "complex128"]
EVERY = ["bool", *INTEGERS, *NARROW, "float32", "float64", *COMPLEX]
DTYPES = EVERY if SIZE == 2 else ["bool", "int32", "bfloat16", "float32"]
_numbers = itertools.count()


def values_of_all(shape: tuple[int, ...], dtype: str) -> list[NDArray[Any]]:
    """What each rank has: the same list on all ranks."""
    number = next(_numbers)
    generators = [numpy.random.default_rng([number, rank]) for rank in range(SIZE)]
    return [generator.integers(0, 4, shape).astype(_numpy(dtype)) for generator in generators]


def _numpy(dtype: str) -> Any:
    return getattr(ogive, dtype).numpy


def total_of(every: list[NDArray[Any]]) -> NDArray[Any]:
    """The sum, one array after the other."""
    return functools.reduce(numpy.add, every)


def equal(result: Tensor, expected: NDArray[Any]) -> None:
    array = result.numpy()
    assert array.shape == expected.shape and array.dtype == expected.dtype
    assert array.tobytes() == expected.tobytes(), (array, expected)


def check_the_sum_of_every_dtype_and_shape() -> None:
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        every = values_of_all(shape, dtype)
        wide = [array.astype("float32") if dtype in NARROW else array for array in every]
        expected = total_of(wide).astype(every[0].dtype)
        equal(distributed.all_reduce(Tensor(every[RANK])), expected)


def check_maximum_minimum_product_and_mean() -> None:
    for dtype in ["float32", "int32", "bfloat16", "uint8"]:
        every = values_of_all((4, 3), dtype)
        stacked = numpy.stack([array.astype("float64") for array in every])
        x = Tensor(every[RANK])
        for op, expected in [
            ("max", stacked.max(0)), ("min", stacked.min(0)), ("prod", stacked.prod(0)),
        ]:  # fmt: skip
            equal(distributed.all_reduce(x, op), expected.astype(every[0].dtype))
    every = values_of_all((5,), "float32")
    mean = total_of(every) / numpy.float32(SIZE)
    equal(distributed.all_reduce(Tensor(every[RANK]), "mean"), mean)


def check_a_maximum_is_nan_where_any_value_is() -> None:
    for count in (SIZE + 1, 1000, 300_000):
        values = numpy.zeros(count, "float32")
        values[RANK] = numpy.nan
        values[-1] = (-1.0) ** RANK * 0.0
        for op in ("max", "min"):
            result = distributed.all_reduce(Tensor(values), op)
            assert numpy.isnan(result.numpy()[:2]).all() and not result.numpy()[-1]
            bits = distributed.all_gather(result.reshape(1, -1)).numpy()
            assert all(row.tobytes() == bits[0].tobytes() for row in bits)
        part = distributed.reduce_scatter(Tensor(numpy.repeat(values, SIZE)), "max").numpy()
        assert numpy.isnan(part).sum() == (SIZE**2 if RANK == 0 else 0) or count < SIZE**2


def check_few_bytes_and_many_give_the_same() -> None:
    """A few are carried with the agreement of the ranks, more are exchanged by MPI."""
    few, more = 250, 260 * SIZE  # elements of four bytes
    numbers = numpy.random.default_rng(RANK).standard_normal(more).astype("float32")
    for op in ("sum", "mean", "max", "min", "prod"):
        small = distributed.all_reduce(Tensor(numbers[:few]), op).numpy()
        numpy.testing.assert_allclose(
            distributed.all_reduce(Tensor(numbers), op).numpy()[:few], small, rtol=1e-4, atol=1e-6
        )
    overflow = Tensor(numpy.full(3, 3e38, "float32"))
    assert numpy.isinf(distributed.all_reduce(overflow).numpy()).all()
    wrapped = distributed.all_reduce(Tensor(numpy.full(3, 100, "int8"))).tolist()
    assert wrapped == [(100 * SIZE + 128) % 256 - 128] * 3


def check_views_and_values_not_computed_yet() -> None:
    every = values_of_all((4, 6), "float32")
    x = Tensor(every[RANK])
    equal(distributed.all_reduce(x.T), numpy.ascontiguousarray(total_of(every).T))
    equal(distributed.all_reduce(x[1:3] * 2), total_of(every)[1:3] * 2)
    equal(distributed.all_reduce(ogive.ones(3)), numpy.full(3, SIZE, "float32"))


def check_tensors_over_devices_and_in_files_are_gathered_first() -> None:
    every = values_of_all((4, 2), "float32")
    sharded = Tensor(every[RANK]).shard(("CPU:0", "CPU:1"), 0)
    equal(distributed.all_reduce(sharded), total_of(every))
    with tempfile.NamedTemporaryFile() as file:
        file.write(every[RANK].tobytes())
        file.flush()
        there = Tensor.from_file(file.name, (4, 2), "float32")
        equal(distributed.all_gather(there), numpy.concatenate(every))


def check_what_is_given_stays_as_it_is() -> None:
    x = Tensor([1.0, 2.0])
    total = distributed.all_reduce(x)
    x += 5
    assert total.tolist() == [SIZE, 2 * SIZE] and x.tolist() == [6, 7]


def check_messages_of_many_megabytes() -> None:
    x = ogive.full((5_000_003,), float(RANK + 1))
    total = distributed.all_reduce(x).numpy()
    assert (total == sum(range(1, SIZE + 1))).all()


def check_gather_along_every_axis() -> None:
    for dtype, shape in itertools.product(["float32", "bfloat16", "bool", "complex64"], SHAPES):
        every = values_of_all(shape, dtype)
        if not shape:
            equal(distributed.all_gather(Tensor(every[RANK])), numpy.stack(every))
        for axis in range(len(shape)):
            expected = numpy.concatenate(every, axis)
            equal(distributed.all_gather(Tensor(every[RANK]), axis), expected)


def check_scattered_sums() -> None:
    for shape, axis in [((SIZE * 2, 3), 0), ((3, SIZE), -1), ((0, SIZE), 1)]:
        every = values_of_all(shape, "float32")
        part = numpy.ascontiguousarray(numpy.split(total_of(every), SIZE, axis)[RANK])
        equal(distributed.reduce_scatter(Tensor(every[RANK]), axis=axis), part)


def check_the_values_of_one_rank_for_all() -> None:
    for root, dtype in itertools.product(range(SIZE), ["int64", "float16", "float8_e4m3"]):
        every = values_of_all((3, 2), dtype)
        equal(distributed.broadcast(Tensor(every[RANK]), root), every[root])


def check_parts_from_all_to_all() -> None:
    for split, join in [(0, 0), (0, 1), (1, 0)]:
        every = values_of_all((SIZE * 2, SIZE), "int32")
        parts = [numpy.split(array, SIZE, split)[RANK] for array in every]
        expected = numpy.ascontiguousarray(numpy.concatenate(parts, join))
        equal(distributed.all_to_all(Tensor(every[RANK]), split, join), expected)


def check_results_have_the_same_bits_on_all_ranks() -> None:
    x = Tensor(numpy.random.default_rng(RANK).standard_normal(10_001).astype("float32"))
    total = distributed.all_reduce(x)
    every = distributed.all_gather(total.reshape(1, -1)).numpy()
    assert all(row.tobytes() == every[0].tobytes() for row in every)


def gradient(exchange: Any, shape: tuple[int, ...] = (SIZE * 2, 3)) -> tuple[Any, Any]:
    """The gradients at all ranks of Σ over ranks r of (r + 1) · Σ exchange(x)², and by difference
    along one direction."""
    start = numpy.random.default_rng(RANK).standard_normal(shape)

    def loss(values: NDArray[Any]) -> tuple[Tensor, Tensor]:
        x = Tensor(values, requires_grad=True)
        return x, (exchange(x) ** 2).sum() * (RANK + 1)

    x, own = loss(start)
    own.backward()
    direction = numpy.random.default_rng([RANK, 1]).standard_normal(shape)
    high, low = [
        distributed.all_reduce(loss(start + step * direction)[1].detach()).item()
        for step in (1e-5, -1e-5)
    ]
    assert x.grad is not None
    along = distributed.all_reduce((x.grad * Tensor(direction)).sum()).item()
    return along, (high - low) / 2e-5


def check_gradients() -> None:
    exchanges: list[Any] = [
        lambda x: distributed.all_reduce(x, "max"),
        lambda x: distributed.all_gather(x, 1),
        lambda x: distributed.all_to_all(x.sin(), 0, 1),
        lambda x: distributed.all_reduce(x, "mean"),
        lambda x: distributed.all_reduce(x, "min"),
        distributed.all_reduce,
        lambda x: distributed.reduce_scatter(x, "mean"),
        lambda x: distributed.broadcast(x, SIZE - 1),
    ]
    for exchange in exchanges if SIZE == 2 else exchanges[:3]:
        along, difference = gradient(exchange)
        assert along == pytest.approx(difference, rel=1e-6, abs=1e-6)


def check_a_product_has_no_gradient() -> None:
    x = ogive.ones(2, requires_grad=True)
    with raises(GradientError, match="all_reduce\\(op='prod'\\) has no gradient"):
        distributed.all_reduce(x, "prod").sum().backward()


def check_a_captured_function_exchanges_at_each_call() -> None:
    @ogive.jit
    def step(x: Tensor) -> Tensor:
        return distributed.all_reduce(x * 2) + 1

    for number in range(3):
        expected = 2 * sum(range(SIZE)) + 2 * SIZE * number + 1
        assert step(ogive.full((3,), float(RANK + number))).tolist() == [expected] * 3


def check_other_operations_are_named() -> None:
    with raises(ArgumentError, match="op is one of sum, mean, max, min, prod, got 'summ'"):
        distributed.all_reduce(ogive.ones(2), "summ")
    with raises(DtypeError, match="there is no mean of int32"):
        distributed.all_reduce(ogive.ones(2, dtype="int32"), "mean")
    with raises(ShapeError, match="divided among"):
        distributed.reduce_scatter(ogive.ones(SIZE + 1))
    with raises(ArgumentError, match=f"root is {SIZE}, and the ranks are 0 to"):
        distributed.broadcast(ogive.ones(2), SIZE)


def check_ranks_that_diverge_are_told_both_lines_and_can_go_on() -> None:
    with pytest.raises(DistributedError) as caught:
        if RANK == 0:
            distributed.all_reduce(ogive.ones(3))  # one
        else:
            distributed.all_gather(ogive.ones(3))  # other
    text = str(caught.value)
    assert "rank 0: all_reduce(op='sum') of float32 (3,), at" in text and "# one" in text
    assert "all_gather(axis=0) of float32 (3,), at" in text and "# other" in text
    assert distributed.all_reduce(ogive.ones(1)).item() == SIZE


def check_shapes_and_dtypes_that_differ_are_divergence() -> None:
    for x in [ogive.ones(3 + RANK), ogive.ones(3, dtype="float64" if RANK else "float32")]:
        with raises(DistributedError, match="the ranks do not do the same"):
            distributed.all_reduce(x)


def check_the_same_call_at_another_line_is_divergence() -> None:
    with raises(DistributedError, match=r"# even(.|\n)*# odd"):
        if RANK % 2:
            distributed.all_reduce(ogive.ones(3))  # odd
        else:
            distributed.all_reduce(ogive.ones(3))  # even


def check_a_captured_function_tells_of_divergence_too() -> None:
    @ogive.jit
    def step(x: Tensor) -> Tensor:
        return distributed.all_reduce(x)

    with raises(DistributedError, match="the ranks do not do the same"):
        step(ogive.ones(3 + RANK)).realize()
