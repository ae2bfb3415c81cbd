"""Eager tensors: what they share, when they settle, and that nobody can tell but by time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch as torch
from ogive.errors import GradientError
from tests.raising import raises

BOTH = pytest.mark.parametrize("library", [pytorch, torch], ids=["pytorch", "ogive"])


def values(library: Any, program: Callable[[Any], Any]) -> list[Any]:
    return [entry.tolist() if hasattr(entry, "tolist") else entry for entry in program(library)]


def same(program: Callable[[Any], Any]) -> None:
    want, got = values(pytorch, program), values(torch, program)
    for one, other in zip(want, got, strict=True):
        numpy.testing.assert_allclose(other, one, rtol=1e-6)


@pytest.mark.usefixtures("no_allowance")
def test_what_torch_makes_of_numbers_is_eager() -> None:
    assert torch.tensor([1.0, 2.0]).is_eager
    assert not torch.tensor(numpy.zeros(1 << 17)).is_eager
    try:
        ogive.configure(eager=False)
        assert not torch.tensor([1.0]).is_eager
    finally:
        ogive.configure(eager=True)


def test_asking_for_the_node_settles_for_good() -> None:
    x = torch.tensor([1.0, 2.0])
    assert x.node.shape == (2,)
    assert not x.is_eager
    assert x.tolist() == [1.0, 2.0]
    assert type(x) is ogive.Tensor


def test_views_are_written_through_before_and_after_settling() -> None:
    def program(library: Any) -> Any:
        x = library.tensor([1.0, 2.0, 3.0, 4.0])
        tail, first = x[1:], x[0]
        inner = tail[1:]
        inner += 10
        x[0] = 7
        if library is torch:
            assert inner.is_eager
            _ = tail.node
            assert not (x.is_eager or inner.is_eager or first.is_eager)
        inner[0] = -1
        x[3] = -2
        return x, tail, inner, first

    same(program)


def test_detached_tensors_share_memory() -> None:
    def program(library: Any) -> Any:
        w = library.tensor([1.0, 2.0], requires_grad=True)
        w.data += 1
        w.detach()[0] = 5
        return (w.detach(), w.requires_grad)

    same(program)


def test_a_record_keeps_the_values_that_it_was_made_with() -> None:
    def program(library: Any) -> Any:
        x = library.tensor([1.0, 2.0, 3.0])
        part = x[:2]
        w = library.tensor([1.0, 1.0, 1.0], requires_grad=True)
        before = w + x[0]
        with library.no_grad():
            w += 1
        part[0] = 100
        x[2] = 50
        before.backward(library.tensor([1.0, 2.0, 3.0]))
        return before.detach(), w.grad, x, part

    same(program)


def test_an_expression_that_settles_has_its_gradients() -> None:
    def program(library: Any) -> Any:
        w = library.tensor([1.0, 2.0], requires_grad=True)
        y = w + w
        z = y + 1
        if library is torch:
            assert z.is_eager
            _ = z.node
            assert z.requires_grad
        (z * z).sum().backward()
        return (w.grad, z.detach())

    same(program)


def test_what_follows_from_a_leaf_that_was_changed_since_has_values_and_no_gradient() -> None:
    w = torch.tensor([1.0], requires_grad=True)
    y = w + 1
    with torch.no_grad():
        w += 1
    _ = y.node
    assert y.requires_grad
    assert y.tolist() == [2.0]
    assert (y + w).tolist() == [4.0]
    with raises(GradientError, match="was changed after it was used"):
        y.sum().backward()


def test_a_tensor_is_written_to_where_gradients_flow() -> None:
    def program(library: Any) -> Any:
        w = library.tensor([1.0, 2.0], requires_grad=True)
        y = w + 1
        y += w
        out = library.tensor([0.0, 0.0, 5.0])
        out[:2] = y
        out[1] = 3.0
        out.backward(library.tensor([1.0, 10.0, 100.0]))
        return w.grad, out.detach(), y.detach()

    same(program)


def test_an_array_shares_the_memory_of_its_tensor() -> None:
    def program(library: Any) -> Any:
        x = library.tensor([1.0, 2.0, 3.0])
        w = library.tensor([1.0, 1.0, 1.0], requires_grad=True)
        before = x + w
        array = x.numpy()
        x += 1
        array[0] = 50
        y = x + w
        x[1:] = 7
        given = numpy.array([4.0, 5.0], dtype="float32")
        lent = library.from_numpy(given)
        lent += 1
        given[0] = 9
        y.backward(library.tensor([1.0, 2.0, 3.0]))
        return array, x, lent, given, w.grad, before.detach(), y.detach()

    same(program)


def test_an_array_shares_the_memory_of_a_tensor_that_settles() -> None:
    def program(library: Any) -> Any:
        x = library.tensor([1.0, 2.0, 3.0])
        part = x[1:]
        array = part.numpy()
        if library is torch:
            _ = x.node
        x += 1
        array[0] = 50
        return array, x, part

    same(program)


def test_gradients_add_up_and_are_their_own_memory() -> None:
    def program(library: Any) -> Any:
        w = library.tensor([1.0, 2.0], requires_grad=True)
        v = library.tensor([3.0, 4.0], requires_grad=True)
        for _ in range(2):
            (w + v).backward(library.tensor([1.0, 10.0]))
        w.grad[0] = 7
        return w.grad, v.grad

    same(program)


def test_a_hook_sees_the_gradient() -> None:
    def program(library: Any) -> Any:
        seen = []
        w = library.tensor([1.0, 2.0], requires_grad=True)
        y = w + 1

        def hook(gradient: Any) -> Any:
            seen.append(gradient.tolist())
            return gradient * 2

        w.register_hook(hook)
        y.backward(library.tensor([1.0, 2.0]))
        return [w.grad, *seen]

    same(program)


def test_a_long_chain_is_gone_through_without_recursion() -> None:
    w = torch.tensor([1.0], requires_grad=True)
    y = w
    for _ in range(50_000):
        y = y + 1
    y.backward()
    assert w.grad is not None and w.grad.tolist() == [1.0]
    del y


def test_captured_functions_find_eager_tensors() -> None:
    w = torch.tensor([1.0, 2.0])

    @ogive.jit
    def scaled(x: Any) -> Any:
        return x * w

    assert scaled(torch.tensor([3.0, 4.0])).tolist() == [3.0, 8.0]
    w += 1
    assert scaled(torch.tensor([3.0, 4.0])).tolist() == [6.0, 12.0]
    w[0] = 0
    assert scaled(torch.tensor([5.0, 4.0])).tolist() == [0.0, 12.0]


def test_tensors_made_inside_a_captured_function_are_part_of_it() -> None:
    @ogive.jit
    def shifted(x: Any) -> Any:
        return x + torch.tensor([10.0, 20.0])

    assert shifted(torch.tensor([1.0, 2.0])).tolist() == [11.0, 22.0]
    assert shifted(torch.tensor([3.0, 2.0])).tolist() == [13.0, 22.0]


def test_threads_settle_a_tensor_once() -> None:
    x = torch.tensor([1.0, 2.0])
    view = x[1:]
    nodes: list[Any] = []
    barrier = threading.Barrier(8)

    def settle() -> None:
        barrier.wait()
        nodes.append(x.node)

    threads = [threading.Thread(target=settle) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(nodes)) == 1
    view += 1
    assert x.tolist() == [1.0, 3.0]


@BOTH
def test_a_parameter_is_one_whatever_it_holds(library: Any) -> None:
    layer = library.nn.Linear(2, 2)
    with library.no_grad():
        layer.weight.copy_(library.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert isinstance(layer.weight, library.nn.Parameter)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    assert layer.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_evaluation_leaves_captured_parameters_where_they_are() -> None:
    layer = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    @ogive.jit
    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = (layer(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = torch.tensor([[1.0, 2.0, 3.0]])
    step(x)
    for _ in range(4):
        before = layer.weight.node
        with torch.no_grad():
            found = layer(torch.tensor([[1.0, 0.0, 0.0]]))
        assert found.is_eager
        assert layer.weight.node is before
        expected = layer.weight[:, 0] + layer.bias
        numpy.testing.assert_allclose(found[0].tolist(), expected.tolist(), rtol=1e-6)
        step(x)


@pytest.mark.parametrize("settles", [False, True])
def test_what_is_written_behind_gradients_is_seen_and_leaves_them(settles: bool) -> None:
    def program(library: Any) -> Any:
        w = library.tensor([1.0, 2.0], requires_grad=True)
        y = w * 3
        part = y.detach()
        part[0] = 50
        if library is torch and settles:
            _ = y.node
        (y * 2).sum().backward()
        return w.grad, y.detach(), part

    same(program)


def test_a_gradient_that_needs_its_result_has_it_as_it_was() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    y = w.exp()
    y.detach().mul_(10)
    y.sum().backward()
    assert w.grad is not None
    numpy.testing.assert_allclose(w.grad.tolist(), numpy.exp([1.0, 2.0]), rtol=1e-6)
    numpy.testing.assert_allclose(y.tolist(), 10 * numpy.exp([1.0, 2.0]), rtol=1e-6)
