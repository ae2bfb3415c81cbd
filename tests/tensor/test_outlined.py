"""Calls of the library's functions are one node, and stand for what the functions make."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

import ogive
from ogive import Tensor, nn
from ogive.compiler.ir.calls import Expansions, is_gradient
from ogive.compiler.ir.ops import Op
from ogive.errors import IndexRangeError, ShapeError
from ogive.tensor.outlined import in_earnest
from tests.raising import raises

F = nn.functional


def rows(count: int = 4, length: int = 6) -> Tensor:
    return Tensor(numpy.random.default_rng(count).normal(size=(count, length)).astype("float32"))


def calls_in(tensor: Tensor) -> list[str]:
    return [node.callee.split(".")[-1] for node in tensor.node.walk() if node.op is Op.CALL]


def test_a_call_is_one_node() -> None:
    assert calls_in((rows() @ rows(6, 3)).softmax(-1)) == ["matmul", "softmax"]


def test_the_same_call_is_the_same_node() -> None:
    x = rows()
    assert x.softmax(-1).node is x.softmax(-1).node
    assert x.softmax(-1).node is not x.softmax(0).node


def test_arguments_that_are_equal_but_of_another_kind_are_told_apart() -> None:
    x = rows()
    assert x.leaky_relu(0.0).node is not x.leaky_relu(-0.0).node
    assert x.sum(0, True).shape == (1, 6)
    assert x.sum(0, False).shape == (6,)
    assert x.sum(1).node is not x.sum((1,)).node or x.sum(1).shape == (4,)


def test_values_are_those_of_the_function_itself() -> None:
    x, w = rows(), rows(6, 3)
    outlined = (x @ w).softmax(-1).sum(0)
    with in_earnest():
        plain = (x @ w).softmax(-1).sum(0)
    assert calls_in(outlined) and not calls_in(plain)
    assert (outlined.numpy() == plain.numpy()).all()


def test_errors_are_raised_where_the_call_is() -> None:
    rows() @ rows(6, 3)
    with raises(ShapeError, match="matmul: shapes", quoting="rows\\(\\) @ rows\\(5, 3\\)"):
        rows() @ rows(5, 3)


def test_what_a_call_stands_for_faults_at_the_line_of_the_call() -> None:
    table = rows()
    positions = Tensor([0, 9])
    found = F.embedding(positions, table)  # the line
    with raises(IndexRangeError, match="outside the tensor it selects from", quoting="# the line"):
        found.numpy()


def test_a_traced_function_makes_the_nodes_themselves() -> None:
    seen: list[list[str]] = []

    @ogive.jit
    def function(x: Tensor) -> Tensor:
        y = x.softmax(-1)
        seen.append(calls_in(y))
        return y

    function(rows()).numpy()
    assert seen == [[]]


def test_a_function_that_gives_its_operand_is_no_call() -> None:
    x = Tensor([[1.0]])
    assert not calls_in(x.sum(0, keepdim=True))


@pytest.mark.parametrize("call", [lambda x: x.norm(0), lambda x: x.norm(3), lambda x: x.std(-1)])
def test_what_a_call_stands_for_is_the_same_each_time(call: Callable[[Tensor], Tensor]) -> None:
    leaf = weights()  # gradients are kept track of where there are leaves
    node = call(rows()).node
    assert node.op is Op.CALL
    assert Expansions().of(node) is Expansions().of(node)
    assert leaf.requires_grad


def test_vmap_looks_into_calls() -> None:
    x = rows()
    batched = ogive.vmap(lambda row: row.softmax(-1).sum())(x)
    numpy.testing.assert_allclose(batched.numpy(), numpy.ones(4), rtol=1e-6)


# Gradients


def weights() -> Tensor:
    return rows(6, 3).requires_grad_()


def test_a_backward_pass_is_a_call() -> None:
    w = weights()
    (rows() @ w).softmax(-1)[:, 0].sum().backward()
    assert w.grad is not None
    assert any(map(is_gradient, w.grad.node.walk()))


def gradient_of(late: bool, first: str = "") -> numpy.ndarray:
    """A gradient, worked out late or at once; the loss, or what it is made of, is read first."""
    w = weights()
    hidden = (rows() @ w).tanh()
    loss = (hidden * hidden.softmax(-1)).mean()
    if late:
        loss.backward()
    else:
        (w.grad,) = ogive.autograd.grad(loss, [w], create_graph=True)
    for name in first.split():
        {"loss": loss, "hidden": hidden}[name].numpy()
    assert w.grad is not None
    return w.grad.detach().numpy()


@pytest.mark.parametrize("first", ["", "loss", "hidden", "hidden loss"])
def test_what_is_read_before_a_gradient_changes_nothing(first: str) -> None:
    numpy.testing.assert_allclose(gradient_of(True, first), gradient_of(False), rtol=1e-5)


def test_a_gradient_sees_the_weights_as_they_were() -> None:
    w = weights()
    ((rows() @ w) ** 2).sum().backward()
    assert w.grad is not None
    with ogive.no_grad():
        w.mul_(0.0)
    w.numpy()
    assert numpy.abs(w.grad.numpy()).max() > 0.1


def test_what_is_detached_twice_gets_no_gradient() -> None:
    w = weights()
    with ogive.no_grad():
        fixed = (rows() @ w).softmax(-1).log()
    ((rows() @ w).softmax(-1) * fixed).sum().backward()
    assert w.grad is not None
    other = weights()
    value = Tensor(fixed.numpy())
    ((rows() @ other).softmax(-1) * value).sum().backward()
    assert other.grad is not None
    numpy.testing.assert_allclose(w.grad.numpy(), other.grad.numpy(), rtol=1e-5, atol=1e-7)


def test_weights_that_were_just_assigned_have_gradients() -> None:
    w = weights()
    with ogive.no_grad():
        w.copy_(rows(6, 3) * 2)
    loss = (rows() @ w).sum()
    loss.backward()
    loss.item()
    assert w.grad is not None
    expected = rows().numpy().sum(0)[:, None].repeat(3, 1)
    numpy.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-5)


def test_gradients_are_computed_with_what_they_are_gradients_of() -> None:
    w = weights()
    loss = (rows() @ w).softmax(-1)[:, 0].sum()
    loss.backward()
    loss.item()
    assert w.grad is not None and w.grad.is_realized


def test_a_gradient_is_worked_out_as_it_was_meant_after_its_leaf_is_gone() -> None:
    def slope(at: list[float]) -> Tensor:
        x = Tensor(at, requires_grad=True)
        F.silu(x).sum().backward()
        assert x.grad is not None
        return x.grad

    assert slope([-1000.0, 0.0, 1000.0]).tolist() == [0.0, 0.5, 1.0]


def test_a_call_that_gives_its_operand_is_no_call_whatever_that_is() -> None:
    alone = (Tensor(2.0) + Tensor(1.0)).reshape(1, 1, 1, 1, 1).sum((1, 3))
    assert alone.node.op is not Op.CALL and alone.item() == 3.0
    memory = Tensor([[[[[5.0]]]]])
    for _ in range(4):
        total = memory.sum((1, 3))
        assert total.node.op is not Op.CALL
        assert total.realize().item() == 5.0


def test_a_convolutional_network_in_training_is_made_of_calls() -> None:
    model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(3, 2, padding=1))
    images = Tensor(numpy.random.default_rng(3).normal(size=(3, 2, 8, 8)).astype("float32"))
    made = model(images)
    assert {"_normalize", "max_pool2d"} <= set(calls_in(made))
    assert not any(node.op in (Op.GRADIENT, Op.RSQRT) for node in made.node.walk())
    made.square().mean().backward()
    gradient = next(model.parameters()).grad
    assert gradient is not None and is_gradient(gradient.node.operand)
