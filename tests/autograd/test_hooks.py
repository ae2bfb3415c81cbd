"""Hooks, retained gradients and gradients of tensors for tensors, compared with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ogive
import ogive.torch
from ogive import Tensor
from ogive.errors import ArgumentTypeError, GradientError
from tests.raising import raises


def hooked(make: Any, late: bool, compute: Any) -> list[Any]:
    """What a small program with hooks gives; `late` registers them after the tensor was used."""
    w = make([1.0, 2.0], requires_grad=True)
    seen: list[Any] = []
    h = w * 3

    def register() -> Any:
        h.retain_grad()
        handle = h.register_hook(lambda gradient: gradient * 2)
        h.register_hook(lambda gradient: seen.append(gradient))
        return handle

    early: Any = None if late else register()
    y = h * h
    handle = early or register()
    w.register_hook(lambda gradient: gradient + 1)
    loss = (y * w).sum()
    compute(loss, h)
    loss.backward(retain_graph=True)
    first = [w.grad.tolist(), h.grad.tolist(), [entry.tolist() for entry in seen]]
    handle.remove()
    w.grad = None
    loss.backward()
    return [*first, w.grad.tolist(), h.grad.tolist()]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("realized", [False, True])
def test_hooks_see_and_change_gradients_as_in_torch(late: bool, realized: bool) -> None:
    def compute(*tensors: Tensor) -> None:
        for tensor in tensors if realized else ():
            tensor.realize()

    assert hooked(Tensor, late, compute) == hooked(torch.tensor, late, lambda *_: None)


def test_a_repeated_leaf_retains_a_gradient_of_its_own() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    copy = w.clone()
    copy.retain_grad()
    (copy * 2 + w).sum().backward()
    assert copy.grad is not None and copy.grad.tolist() == [2.0, 2.0]
    assert w.grad is not None and w.grad.tolist() == [3.0, 3.0]


def test_hooks_run_in_captured_functions() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)

    @ogive.jit
    def step(x: Tensor) -> Any:
        w.grad = None
        product = w * x
        product.register_hook(lambda gradient: gradient * 5)
        product.sum().backward()
        return w.grad

    assert step(Tensor([1.0, 1.0])).tolist() == [5.0, 5.0]
    assert step(Tensor([1.0, 2.0])).tolist() == [5.0, 10.0]


def test_hooks_that_do_not_fit_are_refused() -> None:
    with raises(GradientError, match="does not require a gradient"):
        Tensor([1.0]).register_hook(lambda gradient: None)
    w = Tensor([1.0, 2.0], requires_grad=True)
    w.register_hook(lambda gradient: gradient.sum())
    with raises(ArgumentTypeError, match=r"a hook returned float32 of shape \(\)"):
        w.sum().backward()


def of_tensors(make: Any, grad: Any) -> list[Any]:
    x, w = make([1.0, 2.0], requires_grad=True), make([3.0, 4.0], requires_grad=True)
    h = x * w
    first = grad((h**3).sum(), [x, h, w], create_graph=True)
    second = grad((first[0] * first[1]).sum(), (x, w), retain_graph=True)
    third = grad([h, w], x, grad_outputs=[make([1.0, 10.0]), make([0.5, 0.5])])
    return [tensor.tolist() for tensor in (*first, *second, *third)]


def test_gradients_of_tensors_for_tensors_are_torchs() -> None:
    assert of_tensors(Tensor, ogive.autograd.grad) == of_tensors(torch.tensor, torch.autograd.grad)


def test_inputs_that_are_not_reached() -> None:
    x, z = Tensor([1.0], requires_grad=True), Tensor([1.0, 2.0], requires_grad=True)
    with raises(GradientError, match=r"not computed from input 1, of shape \(2,\)"):
        ogive.autograd.grad(x.sum(), [x, z])
    assert ogive.autograd.grad(x.sum(), [x, z], allow_unused=True)[1] is None
    # By position as in PyTorch: retain_graph, create_graph, only_inputs, allow_unused.
    assert ogive.autograd.grad(x.sum(), [x, z], None, True, True, True, True)[1] is None
    zeros = ogive.autograd.grad(x.sum(), z, materialize_grads=True)[0]
    assert zeros is not None and zeros.tolist() == [0.0, 0.0]
    with raises(GradientError, match=r"shape \(2,\) needs its grad_outputs"):
        ogive.autograd.grad(z, z)
    assert x.grad is None


@pytest.mark.parametrize("library", [torch, ogive.torch, ogive])
@pytest.mark.parametrize("is_leaf", [True, False])
def test_autograd_grad_gives_what_hooks_make_of_the_gradient(library: Any, is_leaf: bool) -> None:
    w = library.tensor([1.0, 2.0]).requires_grad_()
    x = w if is_leaf else w * 1
    seen: list[Any] = []

    def hook(gradient: Any) -> Any:
        seen.append(gradient.detach().tolist())
        return gradient * 0.5

    x.register_hook(hook)
    (found,) = library.autograd.grad((x * x).sum(), x, create_graph=True)
    assert (found.tolist(), seen) == ([1.0, 2.0], [[2.0, 4.0]])


def what_hooks_read(make: Any, function: Any, reads: bool) -> list[Any]:
    """Gradients of a program with writes still to be carried out, which hooks read values of."""
    a, w = make([1.0, 2.0], requires_grad=True), make([3.0, 4.0], requires_grad=True)
    a.data.mul_(0.5)
    w.data.mul_(2)
    seen: list[float] = []

    def read(tensor: Any) -> Any:
        return lambda gradient: seen.append((tensor * 1).sum().item()) if reads else None

    class Doubled(function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            read(ctx.saved_tensors[0])(gradient)
            w.data.add_(0)
            return gradient * 2

    y = Doubled.apply(a * w)
    y.register_hook(read(a))
    z = y * w + a
    z.register_hook(read(z))
    w.register_hook(read(w))
    a.register_hook(read(a))
    (z * z * a).sum().backward()
    return [a.grad.tolist(), w.grad.tolist(), a.tolist(), w.tolist(), seen]


@pytest.mark.parametrize("reads", [False, True])
def test_hooks_may_read_what_was_still_to_be_written(reads: bool) -> None:
    """Each write is carried out once, and the pass goes on with what is there then."""
    own = what_hooks_read(Tensor, ogive.autograd.Function, reads)
    assert own == what_hooks_read(torch.tensor, torch.autograd.Function, reads)


def test_a_hook_may_write_to_the_gradient() -> None:
    def gradients(make: Any) -> list[Any]:
        a = make([1.0, 2.0], requires_grad=True)
        y = a * 3
        y.register_hook(lambda gradient: (gradient.mul_(2), None)[1])
        (y * y).sum().backward()
        return list(a.grad.tolist())

    assert gradients(Tensor) == gradients(torch.tensor)


@pytest.mark.parametrize("asked", [False, True])
def test_a_hook_of_one_leaf_may_carry_out_what_gradients_of_others_read(asked: bool) -> None:
    def gradients(library: Any, make: Any) -> list[Any]:
        a, b = make([1.0, 2.0], requires_grad=True), make([3.0, 4.0], requires_grad=True)
        a.data.mul_(0.5)
        b.data.mul_(0.5)
        for leaf in (a, b):
            leaf.register_hook(lambda gradient: ((a * b).sum().item(), None)[1])
        loss = (a * a * b * b).sum()
        if asked:
            return [gradient.tolist() for gradient in library.autograd.grad(loss, [a, b])]
        loss.backward()
        return [a.grad.tolist(), b.grad.tolist()]

    assert gradients(ogive, Tensor) == gradients(torch, torch.tensor)
