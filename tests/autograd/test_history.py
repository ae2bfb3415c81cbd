"""Gradients across realization: values that are in memory know what they were computed from."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.compiler.engine.writes import old_versions
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.live import history, registry
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.errors import GradientError
from tests.raising import raises


def leaf(values: Any) -> Tensor:
    return Tensor(numpy.array(values, dtype=numpy.float64), requires_grad=True)


def grad_of(tensor: Tensor) -> Any:
    assert tensor.grad is not None
    return tensor.grad.tolist()


def test_a_loss_can_be_read_before_backward() -> None:
    x = leaf([1.0, 2.0])
    loss = (x * x).sum()
    assert loss.item() == 5.0
    assert loss.requires_grad and not loss.is_leaf
    loss.backward()
    assert grad_of(x) == [2.0, 4.0]


def test_values_half_way_can_be_realized_at_any_time() -> None:
    values = numpy.random.default_rng(0).normal(size=(3, 4))
    y = torch.tensor(values, requires_grad=True)
    torch.tanh(y @ y.T).exp().sum().backward()
    assert y.grad is not None
    for moment in range(4):
        x = leaf(values)
        steps = [x @ x.T]
        steps.append(steps[-1].tanh())
        steps.append(steps[-1].exp())
        if moment < 3:
            steps[moment].realize()
        loss = steps[-1].sum()
        if moment == 3:
            Tensor.realize_batch([steps[0], steps[2], loss])
        loss.backward()
        numpy.testing.assert_allclose(grad_of(x), y.grad.numpy())


def test_a_realized_value_is_the_start_of_another_graph() -> None:
    x = leaf([2.0])
    y = (x * x).realize()
    z = (y * y).realize()
    (z * x).sum().backward()
    assert grad_of(x) == [5 * 2.0**4]


def test_a_realized_value_of_variable_length_keeps_its_history() -> None:
    x = leaf([1.0, 2.0, 3.0])
    n = ogive.Variable("n", 1, 3).bind(2)
    y = (x[:n] * x[:n]).realize()
    y.sum().backward()
    assert grad_of(x) == [2.0, 4.0, 0.0]


def test_what_is_made_under_no_grad_has_no_history() -> None:
    x = leaf([2.0])
    with ogive.no_grad():
        y = (x * x).realize()
    assert not y.requires_grad
    z = x * x
    with ogive.no_grad():
        z.realize()
    assert z.requires_grad


def test_a_history_goes_with_its_tensor() -> None:
    x = leaf([2.0, 3.0])
    y = (x * x).realize()
    z = (y * y).realize()
    memory = weakref.ref(memory_leaf(y.node))
    del y
    gc.collect()
    assert memory() is not None  # the history of z needs it
    del z
    gc.collect()
    assert memory() is None


def test_memory_half_way_that_no_gradient_needs_is_free() -> None:
    kept_graphs.clear()
    x = leaf([2.0, 3.0])
    before = registry.buffer_count()
    y = ((x * x).exp() + 1).sum().realize()
    assert registry.buffer_count() == before + 1
    assert y.requires_grad


def test_a_history_does_not_make_assignment_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    plain = old_versions.versions_to_keep

    def counting(*args: Any) -> Any:
        found = plain(*args)
        kept.append(len(found))
        return found

    monkeypatch.setattr(sys.modules["ogive.compiler.engine.realize"], "versions_to_keep", counting)
    x = leaf([1.0, 2.0])
    for _ in range(2):
        loss = (x * x).sum()
        loss.backward()
        loss.item()
        with ogive.no_grad():
            assert x.grad is not None
            x.assign(x - 0.1 * x.grad)
        Tensor.realize_batch([x, x.grad])
        x.grad = None
    assert kept == [0, 0]


def test_a_gradient_never_uses_values_that_were_overwritten() -> None:
    x = leaf([1.0, 2.0])
    loss = (x * x).sum().realize()
    with ogive.no_grad():
        x.assign(x * 10)
    x.realize()
    with raises(GradientError, match=r"been overwritten.*made at .*return Tensor"):
        loss.backward()


def test_a_jitted_assignment_overwrites_as_well() -> None:
    x = leaf([1.0, 2.0])
    loss = (x * x).sum().realize()

    @ogive.jit
    def step() -> None:
        with ogive.no_grad():
            x.assign(x * 10)

    step()
    with raises(GradientError, match="overwritten"):
        loss.backward()


def test_an_overwritten_leaf_still_gets_gradients_that_do_not_need_its_values() -> None:
    x = leaf([1.0, 2.0])
    loss = (x * 3).sum().realize()
    with ogive.no_grad():
        x.assign(x * 10)
    x.realize()
    loss.backward()
    assert grad_of(x) == [3.0, 3.0]


def test_a_lazy_graph_keeps_the_version_that_it_read() -> None:
    x = leaf([1.0, 2.0])
    loss = (x * x).sum()
    with ogive.no_grad():
        x.assign(x * 10)
    x.realize()
    loss.backward()
    assert grad_of(x) == [2.0, 4.0]


def test_gradients_flow_through_assigned_parts() -> None:
    x, v = leaf([1.0, 2.0, 3.0, 4.0]), leaf([5.0, 6.0])
    for realized in (False, True):
        x.grad = v.grad = None
        y = (x * x).contiguous().realize()
        y[1:3] = v * v
        if realized:
            y.realize()
        (y * y).sum().backward()
        assert grad_of(x) == [4 * 1.0**3, 0.0, 0.0, 4 * 4.0**3]
        assert grad_of(v) == [4 * 5.0**3, 4 * 6.0**3]


def test_an_assignment_keeps_what_it_overwrites_where_its_gradient_needs_that() -> None:
    x, y = leaf([3.0]), Tensor([2.0], "float64").realize()
    for _ in range(3):
        y.assign(y * x)
        y.realize()
    y.sum().backward()
    assert grad_of(x) == [2.0 * 3 * 3.0**2]


def test_a_loop_that_reads_its_loss_before_each_update_has_gradients() -> None:
    x, w = Tensor([1.0, 2.0], "float64"), leaf([3.0])
    expected = 3.0
    for _ in range(4):
        loss = ((x * w) ** 2).sum()
        assert loss.item() == pytest.approx(5 * expected**2)
        loss.backward()
        assert w.grad is not None
        with ogive.no_grad():
            w -= 0.01 * w.grad
            w.grad.zero_()
        expected -= 0.01 * 10 * expected
    assert w.item() == pytest.approx(expected)


def test_a_gradient_of_a_value_between_two_updates_of_one_run_is_refused() -> None:
    w = leaf([3.0])
    with ogive.no_grad():
        w.assign(w * 2)
    between = w * w
    with ogive.no_grad():
        w.assign(w * 2)
    Tensor.realize_batch([between, w])
    with raises(GradientError, match="overwritten"):
        between.backward()


def test_realizing_without_leaves_leaves_no_history() -> None:
    leaf([1.0])
    y = (Tensor([1.0]) + 1).realize()
    assert not history.has_record(memory_leaf(y.node))


def test_a_prepared_value_has_its_gradient_after_the_assignment_that_is_part_of_the_plan() -> None:
    w = ogive.ones(3).requires_grad_()
    with ogive.no_grad():
        w.copy_(Tensor([1.0, 2.0, 3.0]))
    y = w * w
    plan = y.prepare()
    plan.execute()
    y.sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [2.0, 4.0, 6.0]


def test_what_was_computed_from_a_leaf_that_is_gone_has_its_history() -> None:
    def scaled() -> Tensor:
        return Tensor([1.0, 2.0], requires_grad=True) * 2

    x = scaled()
    gc.collect()
    total = (x * x).sum()
    assert total.item() == 20
    assert x.requires_grad and total.requires_grad
    (gradient,) = ogive.autograd.grad(total, [x])
    assert gradient is not None and gradient.tolist() == [4.0, 8.0]


def test_a_realized_maximum_of_what_was_written_to_has_the_gradients_of_a_lazy_one() -> None:
    values = numpy.random.default_rng(0).standard_normal((4, 4))

    def gradient(realized: bool) -> Any:
        x = Tensor(values, requires_grad=True)
        made = x.clone()
        made.narrow(0, 0, 2).copy_(made.narrow(0, 2, 2))
        once = made.amax(1, keepdim=True) + made.max(1, keepdim=True)[0] + made
        twice = once.max(1, keepdim=True)[0] + once
        if realized:
            twice.realize()
        twice.square().sum().backward()
        assert x.grad is not None
        return x.grad.numpy()

    numpy.testing.assert_allclose(gradient(True), gradient(False), rtol=1e-12)


@pytest.mark.parametrize("write", [lambda w: w.copy_(w), lambda w: w.copy_(w.detach())])
def test_values_that_are_there_already_overwrite_nothing(write: Any) -> None:
    w = Tensor([0.5, 1.0]).requires_grad_()
    y = w.exp().realize()
    with ogive.no_grad():
        write(w)
    assert w.tolist() == [0.5, 1.0]
    y.sum().backward()
    assert w.grad is not None
    numpy.testing.assert_allclose(w.grad.numpy(), numpy.exp([0.5, 1.0]), rtol=1e-6)


@pytest.mark.parametrize("length", [2, 4, 6, 8])
def test_values_that_read_nothing_of_a_leaf_keep_their_way_to_it_in_general_graphs(
    length: int,
) -> None:
    # The second length compiles for all lengths, with slots for what is read alone.
    @ogive.custom_gradient
    def ones_instead(x: Tensor) -> Any:
        return ogive.zeros(length, dtype="float64") + values, lambda upstream: upstream

    values = Tensor(numpy.ones(length))
    w = leaf(numpy.arange(length, 0.0, -1.0))
    y = ones_instead(w)
    assert y.tolist() == [1.0] * length
    assert y.requires_grad
    ordered = w.sort(-1)[0]
    with ogive.no_grad():
        ordered.copy_(values)
    halves = ordered.unflatten(-1, (2, -1))
    ordered.detach().numpy()
    assert ordered.requires_grad and halves.requires_grad
    (y.sum() + halves.sum()).backward()
    assert grad_of(w) == [2.0] * length
