"""A fault in a kernel is an error with the user's line, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.errors import DivisionByZeroError
from tests.raising import raises


def test_an_integer_divided_by_a_zero_element_is_an_error_with_the_users_line() -> None:
    x, y = Tensor([6, 7, 8]), Tensor([3, 0, 2])
    quotient = x // y  # this line
    with raises(
        DivisionByZeroError, "by a zero element", r"test_faults\.py:.*x // y  # this line"
    ) as caught:
        quotient.numpy()
    assert isinstance(caught.value, ZeroDivisionError)


def test_the_line_is_that_of_the_faulting_operation_among_several() -> None:
    x, y, z = Tensor([6, 7, 8]), Tensor([3, 1, 2]), Tensor([1, 1, 0])
    first = x // y
    second = first % z  # the culprit
    third = second // y
    with raises(
        DivisionByZeroError, match="remainder of int64 by a zero element", quoting="the culprit"
    ):
        third.numpy()


def test_of_lines_that_build_the_same_the_one_that_made_the_tensor_is_named() -> None:
    p, q = Tensor([6, 7]), Tensor([3, 0])
    first = p // q  # the first
    second = p // q  # the second
    for tensor, line in ((second, "the second"), (first, "the first")):
        with raises(DivisionByZeroError, match="by a zero element", quoting=line):
            tensor.tolist()


def test_a_line_whose_tensor_is_gone_is_not_named_for_another() -> None:
    p, q = Tensor([6, 7]), Tensor([3, 0])
    first = p // q  # the first
    second = p // q  # the second
    third = second + 1
    del first
    with raises(DivisionByZeroError, match="by a zero element", quoting="the second"):
        third.tolist()


def test_later_runs_are_not_disturbed_by_a_fault() -> None:
    x = Tensor(np.arange(1000))
    zeros = Tensor(np.zeros(1000, np.int64))
    for _ in range(3):
        with pytest.raises(DivisionByZeroError):
            (x // zeros).numpy()
        assert (x // (zeros + 2)).tolist() == (np.arange(1000) // 2).tolist()
    assert x.tolist() == list(range(1000))


def test_a_tensor_can_be_asked_again_after_its_divisor_was_mended() -> None:
    x, y = Tensor([6, 7]), Tensor([2, 0])
    quotient = x // y
    for _ in range(2):
        with pytest.raises(DivisionByZeroError):
            quotient.realize()
    assert (x // ogive.where(y == 0, 1, y)).tolist() == [3, 7]


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint32"])
@pytest.mark.parametrize("size", [1, 3, 15, 17, 63, 65, 1000])
def test_lanes_beyond_the_end_do_not_fault(name: str, size: int) -> None:
    array = np.arange(1, size + 1).astype(name)
    array[array == 0] = 1
    x = Tensor(array)
    np.testing.assert_array_equal((x // x).numpy(), np.ones(size, name))
    np.testing.assert_array_equal((x % x).numpy(), np.zeros(size, name))


def test_padding_does_not_fault() -> None:
    x, y = Tensor([[6, 7, 9], [1, 2, 4]]), Tensor([[3, 2, 1], [1, 1, 2]])
    padded = (x // y).pad(((1, 1), (0, 3)), value=5)
    wanted = np.pad(x.numpy() // y.numpy(), ((1, 1), (0, 3)), constant_values=5)
    np.testing.assert_array_equal(padded.numpy(), wanted)
    joined = ogive.cat([x // y, x, y // x], 1)
    assert joined.shape == (2, 9)
    assert joined.tolist()[1] == [1, 2, 2, 1, 2, 4, 1, 0, 0]


def test_a_division_inside_a_reduction_of_odd_length_does_not_fault() -> None:
    array = np.arange(1, 38 * 5 + 1).reshape(5, 38)
    x = Tensor(array)
    np.testing.assert_array_equal((100 // x).sum(-1).numpy(), (100 // array).sum(-1))
    np.testing.assert_array_equal((100 // x).sum(0).numpy(), (100 // array).sum(0))


def test_a_divisor_that_wraps_to_zero_is_caught() -> None:
    y = Tensor(np.array([3, 255], np.uint8))
    with pytest.raises(DivisionByZeroError):
        (Tensor(np.array([6, 6], np.uint8)) // (y + 1)).numpy()


def test_a_zero_constant_is_caught() -> None:
    with pytest.raises(ZeroDivisionError):
        (Tensor([1, 2, 3]) // 0).numpy()


def test_floats_divided_by_zero_are_no_fault() -> None:
    assert (Tensor([1.0, -1.0]) / 0).tolist() == [np.inf, -np.inf]
    assert (Tensor([1.0, -1.0]) // 0).tolist() == [np.inf, -np.inf]


def test_a_fault_leaves_an_assigned_tensor_unchanged() -> None:
    x = Tensor(np.arange(100))
    x.assign(x // (x - 50))
    with pytest.raises(DivisionByZeroError):
        x.realize()
    assert x.tolist() == list(range(100))
    x.assign(x + 1)
    assert x.tolist() == list(range(1, 101))


def test_a_fault_leaves_what_reads_the_old_version_readable() -> None:
    x = Tensor(np.arange(100))
    plain = x * 1
    x.assign(x // (x - 50))
    after = x + 1
    with pytest.raises(DivisionByZeroError):
        x.realize()
    assert plain.tolist() == list(range(100))
    with pytest.raises(DivisionByZeroError):
        after.numpy()
    assert x.tolist() == list(range(100))


def test_a_fault_takes_back_all_assignments_above_it() -> None:
    x = Tensor(np.arange(6).reshape(2, 3))
    x.assign(x + 1)
    x.assign(x // (x - 3))
    x[1:] = 7
    x.assign(x * 2)
    with pytest.raises(DivisionByZeroError):
        x.realize()
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_fault_leaves_other_assignments_to_be_carried_out() -> None:
    x, y, z = Tensor([1, 2, 3]), Tensor([4, 5, 6]), Tensor([0, 1, 2])
    x.assign(x // z)
    y.assign(y + 1)
    z.assign(z + 1)
    with pytest.raises(DivisionByZeroError):
        Tensor.realize_batch([x, y, z])
    assert (x.tolist(), y.tolist(), z.tolist()) == ([1, 2, 3], [5, 6, 7], [1, 2, 3])


def test_a_fault_elsewhere_does_not_carry_out_an_assignment_twice() -> None:
    x = Tensor([1, 2, 3])
    x.assign(x + 1)
    broken = x // (x - 3)
    with pytest.raises(DivisionByZeroError):
        Tensor.realize_batch([x, broken])
    with pytest.raises(DivisionByZeroError):
        broken.numpy()
    assert x.tolist() == [2, 3, 4]


def test_a_fault_between_assignments_keeps_every_version() -> None:
    x = Tensor([1, 2, 3])
    before = x * 10
    x.assign(x + 1)
    between = x * 10
    broken = 1 // (x - 3)
    x.assign(x * broken)
    with pytest.raises(DivisionByZeroError):
        x.realize()
    assert before.tolist() == [10, 20, 30]
    assert between.tolist() == [20, 30, 40]
    assert x.tolist() == [2, 3, 4]


def test_a_plan_that_faulted_can_be_executed_again() -> None:
    x, y = Tensor([8, 8]), Tensor([2, 0])
    source = y + 0
    source.realize()
    result = x // y
    plan = result.prepare()
    for _ in range(2):
        with pytest.raises(DivisionByZeroError):
            plan.execute()


def test_untaken_sides_of_where_fault_as_the_division_itself_would() -> None:
    # Everything that is written down is computed, as in NumPy: the mask belongs on the divisor.
    x, y = Tensor([6, 7]), Tensor([0, 7])
    with pytest.raises(DivisionByZeroError):
        ogive.where(y != 0, x // y, 0).numpy()


def test_scalar_code_faults_the_same_way() -> None:
    config = Config(vectorize=False)
    x, y = Tensor([6, 7, 8]), Tensor([3, 0, 2])
    with pytest.raises(DivisionByZeroError):
        (x // y).realize(config)
    assert (x // y.maximum(1)).realize(config).tolist() == [2, 7, 4]


def test_the_smallest_site_is_reported_by_any_number_of_threads() -> None:
    script = """
import numpy as np
from ogive import Tensor
x = Tensor(np.arange(1_000_000))
first = x // (x - 900_000)
second = first % (x - 5)
try:
    second.numpy()
except ZeroDivisionError as error:
    print(str(error).splitlines()[-1].strip().partition(': ')[2])
"""
    seen = set()
    for threads in ("1", "2", "7"):
        environment = {**os.environ, "OGIVE_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert len(seen) == 1
