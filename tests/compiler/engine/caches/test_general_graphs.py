"""The second size is compiled for all of them, the second number for all numbers."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import numpy
import pytest

import ogive
from ogive import Tensor, nn, optim
from ogive.compiler.engine.caches.general_graphs import general_graphs
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.live import registry
from ogive.nn import functional
from tests.changing_sizes import STEPS, differences, draw_program
from tests.raising import raises


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """Whatever programs change of the settings is changed back."""
    ogive.configure(generalize=True)
    yield
    ogive.configure(generalize=True)


def schedules() -> int:
    return ogive.counters()["schedules_created"]


def rows(number: int) -> Tensor:
    values = numpy.random.default_rng(number).standard_normal((number, 6))
    return Tensor(values.astype(numpy.float32))


def test_after_the_second_number_nothing_is_compiled() -> None:
    x = rows(3).realize()
    made = []
    for number in (0.1, 0.7, 1.5, -3.0, 0.0, float("inf"), 2.25):
        before = schedules()
        result = (x * number).cosh().sum().item()
        made.append(schedules() - before)
        expected = numpy.cosh(x.numpy() * numpy.float32(number)).sum()
        numpy.testing.assert_allclose(result, expected, rtol=1e-5)
    assert made == [1, 1, 0, 0, 0, 0, 0]


def test_after_the_second_size_nothing_is_compiled() -> None:
    made = []
    for size in (5, 9, 4, 100, 31, 2, 400):
        x = rows(size)
        before = schedules()
        result = (x.sinh().softmax(-1).mean(0) * 2).numpy()
        made.append(schedules() - before)
        weights = numpy.exp(numpy.sinh(x.numpy().astype(float)))
        expected = 2 * (weights / weights.sum(1, keepdims=True)).mean(0)
        numpy.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-6)
    assert made[:2] == [1, 1] and sum(made[2:]) == 0


def test_a_result_that_is_but_a_counter_is_written_out_for_all_sizes() -> None:
    for size in (5, 2, 7, 9):
        for made in (ogive.arange(size) * 1, ogive.arange(size) + 0):
            assert made.tolist() == list(range(size))


def test_what_fits_a_general_graph_runs_as_it_after_one_that_could_not_join() -> None:
    x = rows(40).realize()
    made = []
    for at, length in ((0, 3), (1, 3), (2, 2), (2, 3), (3, 3), (1, 3)):
        before = schedules()
        result = x[:, at : at + length].atan().sum(1).numpy()
        made.append(schedules() - before)
        expected = numpy.arctan(x.numpy()[:, at : at + length]).sum(1)
        numpy.testing.assert_allclose(result, expected, rtol=1e-5)
    assert sum(made[3:]) == 0


def test_a_column_that_moves_goes_with_a_row_that_moves() -> None:
    x = rows(6).realize()
    for at in range(6):
        found = (x[:, at : at + 1] + x[at] < x).sum().item()
        values = x.numpy()
        assert found == (values[:, at : at + 1] + values[at] < values).sum()


def test_a_row_that_moves_beside_a_count_that_changes() -> None:
    """All shortest paths. First 6 get shorter by way of place 0, then 14 by way of place 1."""
    draw = numpy.random.default_rng(33).integers
    ways = list(zip(draw(0, 24, 70), draw(0, 24, 70), draw(1, 2000, 70), strict=True))
    for turns in (1, 2, 3):
        paths, expected = ogive.full((24, 24), float("inf")), numpy.full((24, 24), numpy.inf)
        for start, end, length in ways:
            paths[int(start), int(end)] = float(length)
            expected[start, end] = length
        paths.fill_diagonal_(0)
        numpy.fill_diagonal(expected, 0)
        for k in range(turns):
            through = paths[:, k : k + 1] + paths[k]
            shorter = through < paths
            paths[shorter] = through[shorter]
            expected = numpy.minimum(expected, expected[:, k : k + 1] + expected[k])
        numpy.testing.assert_array_equal(paths.numpy(), expected)


def test_results_take_no_more_memory_than_they_need() -> None:
    for size in (5, 9, 4):
        result = (rows(size).asinh() + 3).realize()
        assert result.is_realized and result.shape == (size, 6)
        assert registry.buffer_of(memory_leaf(result.node)).nbytes == size * 6 * 4


def test_a_size_that_comes_often_is_compiled_by_itself() -> None:
    def run(size: int) -> None:
        (rows(size).atan() * 5).numpy()

    run(5)
    run(9)
    before = schedules()
    for _ in range(40):
        run(9)
    assert schedules() - before == 1


def test_it_can_be_turned_off() -> None:
    ogive.configure(generalize=False)
    before = schedules()
    for size in (5, 9, 4):
        (rows(size).erf() * 5).numpy()
    assert schedules() - before == 3


def test_training_goes_on_over_batches_of_any_size() -> None:
    losses = []
    for general in (True, False):
        ogive.configure(generalize=general)
        ogive.manual_seed(1)
        model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
        optimizer = optim.Adam(model.parameters(), 1e-2)
        found = []
        for size in (8, 5, 3, 12, 8, 1, 7):
            loss = functional.cross_entropy(model(rows(size)), ogive.arange(size) % 3)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        losses.append(found)
    numpy.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_a_fault_names_the_line_that_asked_for_it() -> None:
    for size in (5, 9, 4):
        x = Tensor(numpy.arange(size))
        with raises(
            ogive.errors.DivisionByZeroError, match="by a zero element",
            quoting=r"test_general_graphs\.py",
        ):
            (x // (x - 3)).numpy()


@pytest.mark.parametrize("name", STEPS)
def test_each_step_gives_the_same_for_all_sizes(name: str) -> None:
    assert differences([name], 1) == []


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_give_the_same_for_all_sizes(seed: int) -> None:
    assert differences(draw_program(seed), seed) == []


# Graphs with calls


@pytest.mark.parametrize(
    "step",
    [
        lambda x, c: (x * c).softmax(-1).square().sum(),
        lambda x, c: (x.abs() + 0.5).pow(c).mean(),
        lambda x, c: (x.softmax(-1) - c).clamp(min=c - 1).norm(),
        lambda x, c: (x @ (x.T * c)).logsumexp(-1).sum(),
        lambda x, c: ogive.where(x > c, x, x * x).var(),
        lambda x, c: (x.tanh() / c).amax(-1).sum(),
    ],
)
def test_constants_that_change_beside_calls_are_data(
    step: Callable[[Tensor, float], Tensor],
) -> None:
    values = numpy.random.default_rng(5).normal(size=(4, 6)).astype("float32")
    constants = [0.3, 2.0, 1.0, -0.7, 3.0, 0.5]
    found = []
    for c in constants:
        x = Tensor(values, requires_grad=True)
        result = step(x, c)
        result.backward()
        assert x.grad is not None
        found.append((result.item(), x.grad.numpy()))
    ogive.configure(generalize=False)
    for c, (value, gradient) in zip(constants, found, strict=True):
        x = Tensor(values, requires_grad=True)
        alone = step(x, c)
        alone.backward()
        assert x.grad is not None
        numpy.testing.assert_allclose(value, alone.item(), rtol=2e-5, atol=1e-6)
        numpy.testing.assert_allclose(gradient, x.grad.numpy(), rtol=2e-5, atol=1e-6)


def test_a_rate_that_decays_is_compiled_twice() -> None:
    values = numpy.random.default_rng(6).normal(size=(5, 3)).astype("float32")
    x, w = Tensor(values), ogive.ones(3, requires_grad=True)
    expected, made = numpy.ones(3), []
    for turn in range(6):
        before = schedules()
        loss = (x @ w).square().mean()
        loss.backward()
        assert w.grad is not None
        with ogive.no_grad():
            w -= 0.9**turn * 0.1 * w.grad
        w.grad = None
        loss.item()
        made.append(schedules() - before)
        expected -= 0.9**turn * 0.1 * 2 / 5 * values.T @ (values @ expected)
    numpy.testing.assert_allclose(w.detach().numpy(), expected, rtol=1e-4)
    assert sum(made[2:]) == 0


def test_data_is_not_mixed_up_with_what_a_call_is_given_and_does_not_read() -> None:
    generator = numpy.random.default_rng(8)
    weight, bias, unread = parameters = [
        Tensor(generator.normal(size=shape).astype("float32"), requires_grad=True)
        for shape in ((3, 3), (3,), (1,))
    ]
    for turn, rows in enumerate((3, 4, 5, 3, 6, 4)):
        values = generator.normal(size=(rows, 3)).astype("float32")
        x = Tensor(values)
        loss = ogive.zeros() + turn * 0.001 + x.square().mean()
        loss = loss + (x @ weight + bias).square().mean() + unread.sum() * 0.01
        if turn % 2:
            loss.item()
        loss.backward()  # the gradient is a call that is given `unread`, and lengths are its data
        residual = values @ weight.detach().numpy() + bias.detach().numpy()
        upstream = residual * (2 / residual.size)
        squares = (values.T @ upstream) ** 2, upstream.sum(0) ** 2, numpy.array(0.01**2)
        expected = sum(each.sum() for each in squares) ** 0.5
        norm = ogive.optim.clip_grad_norm_(parameters, 1e9)
        numpy.testing.assert_allclose(norm.item(), expected, 1e-4)
        for parameter in parameters:
            parameter.grad = None


@pytest.mark.parametrize(
    "function",
    [
        lambda x: functional.adaptive_avg_pool1d(x.T[None], 3),
        lambda x: functional.adaptive_max_pool1d(x.T[None], 2),
        lambda x: functional.conv2d(x[None, None], ogive.ones(1, 1, 2, 3), stride=2, padding=1),
        lambda x: functional.max_pool2d(x[None], 3, 2, 1),
        lambda x: functional.interpolate(x.T[None], size=4, mode="linear"),
    ],
)
def test_a_function_of_given_lengths_alone_is_compiled_for_each(
    function: Callable[[Tensor], Tensor],
) -> None:
    for size in (7, 6, 8, 3, 2, 4, 12, 11, 7, 6):  # results of two of them may have one shape
        ogive.configure(generalize=True)
        found = function(rows(size).realize()).numpy()
        ogive.configure(generalize=False)
        numpy.testing.assert_allclose(found, function(rows(size)).numpy(), rtol=1e-6)


def _numpy_convolution(x: numpy.ndarray, filters: numpy.ndarray) -> numpy.ndarray:
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    result: numpy.ndarray = numpy.einsum("nchwij,ocij->nohw", windows, filters)
    return result


def _attend(x: Tensor) -> Tensor:
    return (x @ x.transpose(1, 2)) @ x


FILTERS = numpy.random.default_rng(0).standard_normal((20, 16, 3, 3)).astype(numpy.float32)


@pytest.mark.parametrize(
    "shape, compute, expected",
    [
        (
            lambda n: (3, n, n + 2),
            lambda x: x.transpose(1, 2) * 2 + 1,
            lambda x: x.swapaxes(1, 2) * 2 + 1,
        ),
        (
            lambda n: (2, n, 40),
            lambda x: x @ x.transpose(1, 2) @ x,
            lambda x: x @ x.swapaxes(1, 2) @ x,
        ),
        (lambda n: (4, n, 30), lambda x: x.sum(1), lambda x: x.sum(1)),
        (
            lambda n: (2, 16, n + 1, n + 8),
            lambda x: x.conv2d(Tensor(FILTERS), padding=1),
            lambda x: _numpy_convolution(x, FILTERS.astype(float)),
        ),
    ],
    ids=["transposed", "products", "sums", "images"],
)
def test_sizes_may_vary_along_inner_axes(
    shape: Callable[[int], tuple[int, ...]],
    compute: Callable[[Tensor], Tensor],
    expected: Callable[[numpy.ndarray], numpy.ndarray],
) -> None:
    made = []
    for size in (50, 63, 9, 130, 3, 111, 64):
        values = numpy.random.default_rng(size).standard_normal(shape(size)).astype(numpy.float32)
        before = schedules()
        result = compute(Tensor(values)).numpy()
        made.append(schedules() - before)
        wanted = expected(values.astype(float))
        numpy.testing.assert_allclose(result, wanted, rtol=1e-4, atol=2e-6 * abs(wanted).max())
    assert sum(made[2:]) == 0


def test_a_gradient_is_that_of_the_very_operand() -> None:
    """It is known by its node, which other lengths of what is seen of it would make another one."""
    values = numpy.random.default_rng(0).standard_normal((3, 4))
    for shape in ((2, 6), (4, 3), (6, 2)):
        x, weight = Tensor(numpy.ones((3, 4)), requires_grad=True), Tensor(values.reshape(shape))
        (x.reshape(shape) * weight).sum().backward()
        assert x.grad is not None
        numpy.testing.assert_array_equal(x.grad.numpy(), values)


def test_what_is_looked_up_behind_the_end_of_a_tile_is_no_fault() -> None:
    image = numpy.random.default_rng(0).standard_normal((2, 2, 7, 5))
    for size in ((14, 10), (3, 1), (10, 7), (11, 3)):
        found = functional.interpolate(Tensor(image), size, mode="bilinear", align_corners=True)
        assert found.numpy().shape == (2, 2, *size)


def test_sizes_that_no_general_graph_is_found_for_keep_no_tensor_alive() -> None:
    general_graphs.clear()
    gc.collect()
    gc.disable()
    try:
        nn.Linear(4, 2)
        kept = weakref.ref(nn.Linear(4, 8).weight)
        assert kept() is None
    finally:
        gc.enable()
