"""What runs would compute again and again is kept, where nobody can tell but by time."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.errors import OgiveError


def weights() -> Tensor:
    return Tensor(numpy.random.default_rng(0).standard_normal((6, 6)) / 3)


def test_a_state_that_a_loop_carries_is_not_computed_from_its_beginning() -> None:
    w, state = weights(), Tensor(numpy.ones((2, 6)))
    expected = numpy.ones((2, 6))
    sizes = []
    for _ in range(12):
        state = (state @ w).tanh()
        expected = numpy.tanh(expected @ w.numpy())
        numpy.testing.assert_allclose(state.sum().item(), expected.sum(), rtol=1e-12)
        sizes.append(len(state.node.walk()))
    assert sizes[-1] <= sizes[1] and sizes[-2] <= sizes[2]


def test_a_state_seen_through_views_is_kept_too() -> None:
    w, last = weights(), Tensor(numpy.ones((1, 6)))
    sizes = []
    for _ in range(8):
        rows = (last.expand(3, 6) @ w).tanh()
        last = rows.T[:, -1:].T
        rows.mean().item()
        sizes.append(len(last.node.walk()))
        del rows
    assert sizes[-1] <= sizes[1] and sizes[-2] <= sizes[2]


def test_a_cache_that_grows_is_not_computed_from_its_beginning() -> None:
    w, row = weights(), Tensor(numpy.ones((1, 6)))
    keys: Tensor | None = None
    with ogive.no_grad():
        for number in range(6):
            key = row @ w
            keys = key if keys is None else ogive.cat([keys, key])
            row = (row @ keys.T).softmax(-1) @ keys
            row.argmax().item()
            assert keys.shape == (number + 1, 6)
    assert keys is not None and len(keys.node.walk()) < 60


def test_what_is_asked_for_once_stays_lazy() -> None:
    x = weights()
    doubled = x * 2
    doubled.sum().item()
    assert not doubled.is_realized
    doubled.max().item()
    assert doubled.is_realized


def test_a_value_larger_than_what_it_is_made_of_stays_lazy() -> None:
    points = Tensor(numpy.random.default_rng(1).standard_normal(300))
    distances = (points[:, None] - points[None]).abs()
    for _ in range(3):
        assert distances.max().item() > 0
    assert not distances.is_realized


def test_borrowed_memory_is_read_at_each_run() -> None:
    array = numpy.ones(5)
    doubled = Tensor.from_numpy(array) * 2
    for number in range(4):
        array[:] = number
        assert doubled.sum().item() == 10 * number


def test_a_fault_of_what_nobody_asked_for_is_not_raised() -> None:
    quotients = Tensor([6, 6, 6]) // Tensor([1, 2, 0])
    for _ in range(3):
        assert quotients[1].item() == 3
    with pytest.raises((OgiveError, ZeroDivisionError), match="zero"):
        quotients.tolist()


def test_gradients_flow_through_what_was_kept() -> None:
    w = weights().requires_grad_()
    state = Tensor(numpy.ones((2, 6)))
    for _ in range(5):
        state = (state @ w).tanh()
        state.sum().item()
    state.sum().backward()
    other = weights().requires_grad_()
    plain = Tensor(numpy.ones((2, 6)))
    for _ in range(5):
        plain = (plain @ other).tanh()
    plain.sum().backward()
    assert w.grad is not None and other.grad is not None
    numpy.testing.assert_allclose(w.grad.numpy(), other.grad.numpy(), rtol=1e-12)
