"""Programs that view, write and copy at random, with tensors that settle in between."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive.torch

VIEWS: list[Callable[..., Any]] = [
    lambda x: x.T if x.ndim == 2 else x[...],
    lambda x: x[0] if x.ndim and len(x) else x.unsqueeze(0),
    lambda x: x[1:] if x.ndim else x[...],
    lambda x: x[..., ::2] if x.ndim else x[None],
    lambda x: x.unsqueeze(-1) if x.ndim < 3 else x.squeeze(),
    lambda x: x.reshape(-1),
    lambda x: x.flatten(),
    lambda x: x.transpose(0, -1) if x.ndim else x.detach(),
    lambda x: x.detach(),
    lambda x: x.split(1)[-1] if x.ndim and len(x) else x.detach(),
    lambda x: x.narrow(0, 0, len(x) - 1) if x.ndim and len(x) else x.view(x.shape),
    lambda x: x.diagonal() if x.ndim == 2 else x.unsqueeze(0),
]

# Of what is flat: copies of other tensors may lie in memory in another order than PyTorch's do.
COPIES: list[Callable[..., Any]] = [
    lambda x: x.flatten().clone(),
    lambda x: x.flatten() + 1.0,
    lambda x: x.flatten()[[0, -1]] if x.numel() else x.flatten().clone(),
    lambda x: x.flatten().flip(0),
]


def _set(x: Any, index: Any, value: float) -> None:
    x[index] = value


def _add(x: Any, index: Any, value: float) -> None:
    x[index] += value


WRITES: list[Callable[..., Any]] = [
    lambda x, v: x.fill_(v),
    lambda x, v: x.add_(v),
    lambda x, v: _set(x, 0 if x.ndim and len(x) else ..., v),
    lambda x, v: _add(x, 0 if x.ndim and len(x) else ..., v),
    lambda x, v: _set(x, [0] if x.ndim and len(x) else ..., v),
    lambda x, v: _set(x, ..., v),
    lambda x, v: x.copy_(x.clone() + v),
]


@pytest.mark.parametrize("seed", range(40))
def test_program_of_views_and_writes_gives_what_pytorch_gives(seed: int) -> None:
    draw = random.Random(seed)
    start = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    ours: list[Any] = [ogive.torch.tensor(start)]
    theirs: list[Any] = [torch.tensor(start)]
    for _ in range(25):
        place = draw.randrange(len(ours))
        kind = draw.random()
        if kind < 0.4:
            step = draw.choice(VIEWS)
            ours.append(step(ours[place]))
            theirs.append(step(theirs[place]))
        elif kind < 0.5:
            step = draw.choice(COPIES)
            ours.append(step(ours[place]))
            theirs.append(step(theirs[place]))
        elif kind < 0.92:
            step, value = draw.choice(WRITES), float(draw.randrange(100))
            step(ours[place], value)
            step(theirs[place], value)
        elif kind < 0.96 and len(ours) > 1:
            del ours[place], theirs[place]
        else:
            ours[place].node  # noqa: B018  (it settles)
        for one, other in zip(ours, theirs, strict=True):
            assert tuple(one.shape) == tuple(other.shape)
            if one.is_eager:  # what is read of others is computed, which is for the end
                numpy.testing.assert_array_equal(numpy.asarray(one), other.numpy())
    for one, other in zip(ours, theirs, strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(one), other.numpy())


SETTLED: dict[str, Callable[..., Any]] = {
    "a view": lambda t, x: x.transpose(0, 1).reshape(-1),
    "a part": lambda t, x: x[1:, [0, 2]],
    "one of several parts": lambda t, x: x.split(2, 1)[0],
    "several joined": lambda t, x: t.cat([x, x[:1]]),
    "the first of two results": lambda t, x: x.max(1),
    "positions": lambda t, x: x.gather(1, t.tensor([[0, 0], [1, 3], [2, 2]])),
}


@pytest.mark.parametrize("name", SETTLED)
def test_gradient_flows_through_what_settled(name: str) -> None:
    given: list[list[float]] = []
    start = numpy.random.default_rng(5).standard_normal((3, 4)).astype(numpy.float32)
    for module in (ogive.torch, torch):
        x: Any = module.tensor(start).requires_grad_()
        made = SETTLED[name](module, x)
        first = made[0] if isinstance(made, tuple) else made
        if module is ogive.torch:
            assert first.is_eager
            first.node  # noqa: B018  (it settles)
        first.backward(module.tensor(first.detach().tolist()))
        given.append(x.grad.tolist())
    numpy.testing.assert_allclose(given[0], given[1], rtol=1e-6)


@pytest.mark.parametrize("name", ["copy_", "add_"])
def test_what_is_written_lies_in_memory_as_what_was_there(name: str) -> None:
    row = ogive.torch.arange(4.0)
    for given in (row[:, None], ogive.torch.arange(16.0).reshape(4, 4).T):
        x = ogive.torch.zeros(4, 4)
        getattr(x, name)(given)
        assert x.is_eager
        x.reshape(-1)[1] = 50.0
        assert x[0, 1].item() == 50.0


def test_what_is_written_with_gradients_lies_in_memory_as_what_was_there() -> None:
    leaf = ogive.torch.ones(3, 4, requires_grad=True)
    x = ogive.torch.zeros(4, 3)
    x += leaf.T
    flat = x.reshape(-1)
    with ogive.torch.no_grad():
        flat[1] = 50.0
    assert x[0, 1].item() == 50.0


@pytest.mark.parametrize("count", [4, 1 << 17])
@pytest.mark.usefixtures("no_allowance")
def test_a_clone_of_memory_of_numpys_is_a_copy(count: int) -> None:
    array = numpy.arange(count, dtype="float32").reshape(2, -1)
    x = ogive.torch.from_numpy(array)
    whole, first = x.clone(), x[0].clone()
    x[0] = 9.0
    array[1] = 8.0
    assert whole[0, 1].item() == first[1].item() == 1.0
    assert whole[1, 1].item() == count // 2 + 1


def test_rows_of_memory_of_numpys_are_exchanged_after_settling() -> None:
    array = numpy.arange(4, dtype="float32").reshape(2, 2)
    x = ogive.torch.from_numpy(array)
    x.node  # noqa: B018  (it settles)
    x[0], x[1] = x[1].clone(), x[0].clone()
    assert array.tolist() == x.tolist() == [[2.0, 3.0], [0.0, 1.0]]


def test_a_leaf_that_shows_lent_memory_in_another_order_settles() -> None:
    x = ogive.torch.arange(6.0).reshape(2, 3)
    array = x.numpy()
    leaf = x.T.requires_grad_()
    leaf.node  # noqa: B018  (it settles)
    (leaf * leaf).sum().backward()
    assert leaf.grad.tolist() == (array.T * 2).tolist()


@pytest.mark.parametrize(
    "function",
    [lambda T, x: x.softmax(1), lambda T, x: x.log_softmax(0), lambda T, x: x.cumsum(0),
     lambda T, x: x.cumprod(1), lambda T, x: x.logcumsumexp(0), lambda T, x: x.cummax(0)[0],
     lambda T, x: T.cat([x, x]), lambda T, x: T.stack([x, x]), lambda T, x: x.roll(1, 0),
     lambda T, x: x.masked_fill(x > 1, 0.0), lambda T, x: x.tril(), lambda T, x: x.triu(1),
     lambda T, x: T.nn.functional.layer_norm(x, x.shape[-1:])],
)  # fmt: skip
def test_what_lies_in_rows_whatever_it_is_of_is_written_through_flatten(
    function: Callable[..., Any],
) -> None:
    def case(T: Any) -> Any:
        x = T.tensor(numpy.arange(24.0, dtype="float32").reshape(2, 3, 4)).permute(2, 0, 1)
        made = function(T, x)
        made.flatten()[1::2] = 5.0
        return numpy.array(made.tolist())

    numpy.testing.assert_allclose(case(ogive.torch), case(torch), rtol=1e-5, atol=1e-6)


def test_a_clone_lies_in_memory_as_what_it_is_of() -> None:
    results = []
    for library in (torch, ogive.torch):
        x = library.arange(6.0).reshape(2, 3)
        kept, dense = x.T.clone(), x.T.clone(memory_format=library.contiguous_format)
        made = x.T.contiguous()
        for each in (kept, dense, made):
            each.reshape(-1)[1] = 50.0
        results.append([kept.tolist(), dense.tolist(), made.tolist(), x.tolist()])
    assert results[0] == results[1]


@pytest.mark.parametrize("settles", [False, True])
@pytest.mark.parametrize("view", range(len(VIEWS)))
def test_a_view_that_is_given_other_data_leaves_the_memory_that_an_array_has_too(
    view: int, settles: bool
) -> None:
    found = []
    for library in (torch, ogive.torch):
        x = library.tensor([[1.0, 2.0], [3.0, 4.0]])
        array = x.detach().numpy()
        y = VIEWS[view](x)
        if settles and library is ogive.torch:
            assert y.node is not None
        y.data = y.clone()
        y.mul_(3)
        x.add_(1)
        found.append((x.tolist(), y.tolist(), array.tolist()))
    assert found[0] == found[1]


MOVED: dict[str, Callable[..., Any]] = {
    "flip": lambda x: x.flip(0),
    "ravel": lambda x: x.T.ravel(),
    "reshape": lambda x: x.T.reshape(-1),
    "repeat": lambda x: x.repeat(2, 1),
    "expand and reshape": lambda x: x.expand(2, 2, 3).reshape(-1),
    "part of a copy": lambda x: x.flip(0)[1:],
    "a sum": lambda x: x + 1,
    "a view": lambda x: x.T,
}


@pytest.mark.parametrize("borrows", [False, True])
@pytest.mark.parametrize("name", MOVED)
def test_copies_keep_what_memory_that_an_array_has_too_held(name: str, borrows: bool) -> None:
    found = []
    for library in (torch, ogive.torch):
        array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        x = library.from_numpy(array) if borrows else library.tensor(array)
        array = array if borrows else x.detach().numpy()
        if library is ogive.torch:
            assert x.node is not None  # by the compiler, as large ones are
        y = MOVED[name](x)
        part = y[0]
        x.add_(1)
        part.mul_(2)
        found.append((x.tolist(), y.tolist(), part.tolist(), array.tolist()))
    assert found[0] == found[1]


def test_tensors_without_elements_are_written_to_and_given_out() -> None:
    for library in (torch, ogive.torch):
        x = library.zeros(0, 5)
        array = x.detach().numpy()
        x.expand(1, 0, 5).add_(2)
        y = x[None].expand(2, 0, 5).reshape(-1, 5)[:, 3:]
        assert y.numpy().shape == (0, 2) and array.shape == (0, 5)


def test_ravel_copies_a_column_and_shows_a_row() -> None:
    found = []
    for library in (torch, ogive.torch):
        x = library.tensor([[1.0, 2.0], [3.0, 4.0]])
        column, row = x[:, 0].ravel(), x[0].ravel()
        x.mul_(2)
        found.append((column.tolist(), row.tolist()))
    assert found[0] == found[1]


def test_what_others_show_is_written_with_gradients() -> None:
    def case(T: Any) -> Any:
        x = T.tensor([[1.0, -2.0], [3.0, -4.0]], requires_grad=True)
        y = x * 2
        kept, array = y.detach(), (x * 3).detach().numpy()
        before = y + 1
        y.relu_()
        if T is ogive.torch:
            assert y.is_eager and kept.is_eager
        (y * y + before).sum().backward()
        kept[0, 0] = 5.0
        return [each.tolist() for each in (y, kept, x.grad, array)]

    assert case(ogive.torch) == case(torch)


@pytest.mark.parametrize("name", ["slice", "flat", "deep", "detached"])
@pytest.mark.parametrize("write", ["item", "add"])
def test_views_made_before_a_write_with_gradients_have_them(name: str, write: str) -> None:
    def case(T: Any) -> Any:
        x, y = T.zeros(4, 2), T.tensor([1.0, 2.0], requires_grad=True)
        views = {"slice": x[1:], "flat": x.view(-1), "deep": x.T[:, 1:][0]}
        view = views.get(name, x.detach()[1:])
        if write == "item":
            x[2] = y * 3
        else:
            x += y
        if view.requires_grad:
            (view * view).sum().backward()
        return view.requires_grad, view.tolist(), None if y.grad is None else y.grad.tolist()

    assert case(ogive.torch) == case(torch)


def test_memory_in_any_order_of_axes_is_shown_as_an_array_and_written() -> None:
    def case(T: Any) -> Any:
        x = T.tensor(numpy.arange(48.0).reshape(2, 3, 8, 1)).permute(2, 0, 1, 3) * 2
        shown = x.expand(1, *x.shape)
        array = shown.expand_as(shown).numpy().copy()
        x.add_(1)
        return array.tolist(), shown.tolist()

    assert case(ogive.torch) == case(torch)


def test_what_an_array_has_too_is_written_with_gradients() -> None:
    def case(T: Any) -> Any:
        x = T.tensor([1.0, -2.0], requires_grad=True)
        y = x * 3
        array = y.detach().numpy()
        y.mul_(x)
        y.sum().backward()
        return array.tolist(), x.grad.tolist()

    assert case(ogive.torch) == case(torch)


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize(
    ("name", "args"),
    [("t_", ()), ("unsqueeze_", (0,)), ("squeeze_", ()), ("transpose_", (0, 1)),
     ("swapaxes_", (0, 1)), ("unsqueeze_", (-1,))],
)  # fmt: skip
def test_a_tensor_that_shows_its_memory_otherwise_stays_eager(
    name: str, args: tuple[int, ...], tracked: bool
) -> None:
    array = numpy.arange(3.0, dtype="float32").reshape(1, 3)

    def case(T: Any) -> Any:
        x = T.tensor(array, requires_grad=tracked)
        y = x * 2
        before = y * 1
        assert getattr(y, name)(*args) is y
        if T is ogive.torch:
            assert y.is_eager
        y.mul_(3)
        y += 1
        if tracked:
            y.sum().backward()
        return y.shape, y.tolist(), before.tolist(), x.grad.tolist() if tracked else None

    assert case(ogive.torch) == case(torch)


def test_views_see_what_is_written_to_a_tensor_that_was_turned() -> None:
    def case(T: Any) -> Any:
        x = T.arange(6.0).reshape(2, 3).clone()
        row = x[0]
        x.t_()
        x[1, 0] = 9.0
        x.unsqueeze_(0)
        return x.tolist(), row.tolist()

    assert case(ogive.torch) == case(torch)


def test_memory_in_another_order_of_axes_than_c_is_lent_after_it_was_saved() -> None:
    x = ogive.torch.tensor(numpy.arange(24.0).reshape(2, 3, 4) / 24, requires_grad=True)
    made = x.transpose(1, 2).exp()
    total = (made * made).sum()
    array = made.detach().numpy()
    numpy.testing.assert_allclose(array, numpy.exp(x.detach().numpy().transpose(0, 2, 1)))
    array[0, 0, 0] = 5.0
    assert made[0, 0, 0].item() == 5.0
    total.backward()
    numpy.testing.assert_allclose(x.grad.numpy(), 2 * numpy.exp(2 * x.detach().numpy()))
