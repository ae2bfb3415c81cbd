"""Views share memory: what is written to one is seen in all, as in PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ogive
import ogive.torch
from ogive import Tensor
from ogive.compiler.live import history
from ogive.errors import GradientError, ShapeError
from tests.raising import raises

Library = Any

VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "element": lambda x: x[1, 2],
    "every other": lambda x: x[::2],
    "every third": lambda x: x[:, 1::3],
    "window": lambda x: x[1:3, 1:4],
    "ellipsis": lambda x: x[..., 1],
    "new axis": lambda x: x[:, None],
    "transposed": lambda x: x.T,
    "row of the transposed": lambda x: x.T[1],
    "flat": lambda x: x.view(-1),
    "flattened": lambda x: x.flatten(),
    "reshaped": lambda x: x.reshape(2, 12),
    "reshaped after a transposition": lambda x: x.T.reshape(-1),
    "joined rows of a window": lambda x: x[:, 1:3].reshape(-1),
    "split": lambda x: x.view(2, 2, 6)[:, 1],
    "unflattened": lambda x: x.unflatten(1, (2, 3))[:, :, 0],
    "permuted": lambda x: x.view(2, 2, 6).permute(2, 0, 1)[3],
    "narrowed": lambda x: x.narrow(1, 2, 3),
    "selected": lambda x: x.select(0, -1),
    "squeezed": lambda x: x.unsqueeze(0).squeeze(0),
    "moved": lambda x: x.view(2, 2, 6).movedim(0, -1)[0],
    "swapped": lambda x: x.swapaxes(0, 1)[2:4],
    "chunk": lambda x: x.chunk(2, 1)[1],
    "part of a split": lambda x: x.split([1, 3])[1],
    "unbound": lambda x: x.unbind(1)[3],
    "tensor_split": lambda x: x.tensor_split(3, 1)[2],
    "hsplit": lambda x: x.hsplit(2)[0],
    "diagonal": lambda x: x.diagonal(),
    "diagonal above": lambda x: x.diagonal(2),
    "diagonal of the transposed": lambda x: x.T.diagonal(-1),
    "reshaped diagonal": lambda x: x.diagonal(1, 1, 0).reshape(3, 1),
    "flattened diagonal": lambda x: x.diagonal().ravel(),
    "flattened column": lambda x: x[:, 1].ravel(),
    "axes that are one already": lambda x: x.flatten(0, 0),
    "detached": lambda x: x.detach(),
    "data": lambda x: x.data,
    "part of data": lambda x: x.data[2:],
    "contiguous": lambda x: x.contiguous(),
    "contiguous copy": lambda x: x.T.contiguous(),
    "same dtype": lambda x: x.to(x.dtype),
    "float": lambda x: x.float(),
    "expanded by nothing": lambda x: x.expand(4, 6),
    "expanded by axes of length 1": lambda x: x.expand(1, 1, 4, 6),
    "unfolded": lambda x: x.unfold(1, 2, 3),
    "unfolded without a rest": lambda x: x.unfold(0, 2, 2),
    "view as": lambda x: x.view_as(x.T.contiguous()),
    "ravel": lambda x: x.ravel(),
    "clone": lambda x: x.clone(),
    "flipped": lambda x: x.flip(0),
    "gathered": lambda x: x[[0, 2]],
    "iterated": lambda x: list(x)[2],
    "t": lambda x: x[:2].t()[0],
    "mT": lambda x: x.view(2, 2, 6).mT[1],
}

WRITES: dict[str, Callable[[Any], Any]] = {
    "fill_": lambda v: v.fill_(7),
    "add_": lambda v: v.add_(1),
    "*=": lambda v: v.__imul__(2),
    "copy_": lambda v: v.copy_(v * 3),
    "zero_": lambda v: v.zero_(),
    "setitem": lambda v: v.__setitem__(..., -1),
    "masked_fill_": lambda v: v.masked_fill_(v > 5, 0),
    "relu_": lambda v: v.sub_(9).relu_(),
}


def make(library: Library, lazy: bool) -> Any:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    if library is torch:
        x = torch.tensor(array)
    else:
        x = Tensor(array)
    return x * 1 if lazy else x


@pytest.mark.parametrize("lazy", [False, True], ids=["memory", "lazy"])
@pytest.mark.parametrize("view", VIEWS)
def test_writing_to_a_view_changes_what_pytorch_changes(view: str, lazy: bool) -> None:
    for name, write in WRITES.items():
        seen = []
        for library in (torch, ogive):
            x = make(library, lazy)
            other, before = x.view(-1), x + 0
            shown = VIEWS[view](x)
            write(shown)
            seen.append([each.tolist() for each in (x, other, shown, before)])
        assert seen[0] == seen[1], name


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_shows_what_is_written_to_what_it_is_a_view_of(view: str) -> None:
    seen = []
    for library in (torch, ogive):
        x = make(library, lazy=False)
        shown = VIEWS[view](x)
        first = shown.tolist()  # it may have been computed by itself
        x[1:, 1::2] = 100
        x += 1
        seen.append([first, shown.tolist(), x.tolist()])
    assert seen[0] == seen[1]


def test_two_views_of_a_tensor_that_is_gone_share_memory() -> None:
    def program(library: Library) -> Any:
        x = make(library, lazy=True)
        rows, columns = x[1:3], x[:, 2:4]
        rows.tolist(), columns.tolist()
        del x
        rows.zero_()
        columns.add_(1)
        return rows.tolist(), columns.tolist()

    assert program(torch) == program(ogive)


def test_readers_from_before_a_write_keep_the_old_values() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    row = x[0]
    doubled, total = row * 2, x.sum()
    row.fill_(9)
    assert doubled.tolist() == [2.0, 4.0]
    assert total.item() == 10.0
    assert x.tolist() == [[9.0, 9.0], [3.0, 4.0]]


def test_a_loop_over_rows_writes_through() -> None:
    def program(library: Library) -> Any:
        x = make(library, lazy=False)
        for number, row in enumerate(x):
            row.mul_(number)
            row[number] = -1
        return x.tolist()

    assert program(torch) == program(ogive)


def test_overlapping_views_are_written_in_order() -> None:
    def program(library: Library) -> Any:
        x = make(library, lazy=False).view(-1)
        x[1:].copy_(x[:-1].clone())
        x[2:10] += x[:8].clone()
        return x.tolist()

    assert program(torch) == program(ogive)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:1].expand(3, 6),
        lambda x: x.unfold(1, 3, 1),
        lambda x: x[0, 0].expand(4),
        lambda x: x.expand(2, 4, 6)[0],
    ],
)
def test_an_element_that_is_shown_twice_is_not_written(view: Callable[[Tensor], Tensor]) -> None:
    x = Tensor(np.arange(24, dtype=np.float32).reshape(4, 6))
    shown = view(x)
    with raises(ShapeError, match=r"write to a copy \(clone\(\)\)"):
        shown.add_(1)
    with raises(ShapeError, match="more than once"):
        shown[...] = 0
    assert x.sum().item() == 276
    x += 1
    assert shown.flatten()[0].item() == 1.0


@pytest.mark.parametrize("library", [ogive, ogive.torch], ids=["ogive", "torch"])
def test_an_element_that_is_shown_twice_is_not_written_when_nobody_else_shows_it(
    library: Library,
) -> None:
    shown = library.ones(4).expand(2, 4)  # whose tensor of four elements is gone
    with raises(ShapeError, match="more than once"):
        shown[1] = 5
    with raises(ShapeError, match="more than once"):
        shown.T.add_(1)
    assert shown.tolist() == [[1.0] * 4] * 2
    copied = library.ones(4).expand(2, 4).contiguous()
    copied[1] = 5
    assert copied.tolist() == [[1.0] * 4, [5.0] * 4]


@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_of_complex_numbers_are_shown_and_not_written(part: str) -> None:
    z = Tensor([1 + 2j, 3 + 4j])
    shown = getattr(z, part)
    with raises(ShapeError, match="computed from them"):
        shown.zero_()
    z[0] = 5 + 6j
    assert shown.tolist() == getattr(z, part).tolist()


def test_bits_are_written_through() -> None:
    def program(library: Library) -> Any:
        x = make(library, lazy=False)
        bits = x.view(library.int32)
        bits[1] = 1065353216
        bits.bitwise_and_(-(1 << 31) | 0x7FFFFFF0)
        return x.tolist()

    assert program(torch) == program(ogive)


def test_axes_changed_in_place_keep_the_memory() -> None:
    def program(library: Library) -> Any:
        x = make(library, lazy=False)
        y = x[1]
        y.unsqueeze_(0).t_()
        y.fill_(3)
        x.transpose_(0, 1)
        x[0] = 8
        return x.tolist(), y.tolist()

    assert program(torch) == program(ogive)


def test_setting_data_parts_from_the_views() -> None:
    def program(library: Library) -> Any:
        x = make(library, lazy=False)
        view = x[0]
        x.data = x * 2
        view.zero_()
        x[1] = 0
        return x.tolist(), view.tolist()

    assert program(torch) == program(ogive)


# Gradients


def gradients_of(program: Callable[[Library, Any], Any]) -> list[Any]:
    results = []
    for library in (torch, ogive):
        w = library.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
        program(library, w).backward()
        results.append(w.grad.tolist())
    return results


def _assign_row(library: Library, w: Any) -> Any:
    y = w * 2
    y[0].mul_(w[1])
    return (y * y).sum()


def _assign_detached(library: Library, w: Any) -> Any:
    y = w * 2
    y.detach().mul_(10)
    return y.sum() + (y.detach() * w).sum()


def _chain(library: Library, w: Any) -> Any:
    y = (w * w).exp() * 0.001
    column = y.T[1]
    column.add_(1)
    first = y[0]
    first.mul_(3)
    return (y * column.sum()).sum()


def _under_no_grad(library: Library, w: Any) -> Any:
    y = w * 2
    with library.no_grad():
        y[0].fill_(7)
    return (y * 3).sum()


def _strided(library: Library, w: Any) -> Any:
    y = w.softmax(-1) * 1
    y[..., ::2] += 0.5
    return (y * y).sum()


def _relu_in_place(library: Library, w: Any) -> Any:
    y = w - 3
    z = library.nn.functional.relu(y, inplace=True)
    return (y * 2 + z * z).sum()


@pytest.mark.parametrize(
    "program",
    [_assign_row, _assign_detached, _chain, _under_no_grad, _strided, _relu_in_place],
)
def test_gradients_flow_through_views_as_in_pytorch(program: Any) -> None:
    theirs, ours = gradients_of(program)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.add_(1),
        lambda w: w[0].add_(1),
        lambda w: w.T[0].fill_(1),
        lambda w: w.__setitem__(0, 1),
        lambda w: w.view(-1)[0:2].zero_(),
        lambda w: ogive.nn.functional.relu(w, inplace=True),
    ],
)
def test_a_leaf_is_not_written_through_a_view_while_gradients_flow(write: Any) -> None:
    w = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with raises(GradientError, match=r"requires gradients.*no_grad"):
        write(w)
    assert w.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with ogive.no_grad():
        write(w)
    assert w.requires_grad and w.is_leaf


def test_a_leaf_is_trained_after_it_was_written_through_a_view() -> None:
    def train(library: Library) -> Any:
        w = library.tensor([1.0, 2.0, 3.0], requires_grad=True)
        tail = w.data[1:]
        for _ in range(3):
            loss = (w * w).sum()
            loss.backward()
            tail.mul_(0.5)
            with library.no_grad():
                w -= 0.1 * w.grad
                w.grad.zero_()
        return w.tolist(), tail.tolist()

    for ours, theirs in zip(train(ogive), train(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_a_view_made_before_gradients_were_wanted_has_none() -> None:
    x = Tensor([1.0, 2.0])
    view = x[:1]
    x.requires_grad_()
    assert not view.requires_grad
    with ogive.no_grad():
        x.mul_(3)
    assert view.tolist() == [3.0]
    assert not view.requires_grad and x.is_leaf


# Captured functions


def test_a_tensor_whose_base_is_gone_is_laid_out_as_before() -> None:
    for library in (torch, ogive):
        x = make(library, False).T
        x[0] = 9
        copied, shown = x.reshape(-1), x[:, 1]
        assert not x.is_contiguous()
        x.zero_()
        assert copied.tolist()[:4] == [9, 9, 9, 9]
        assert shown.sum().item() == 0
        square = make(library, False).diagonal()
        square.add_(1)
        assert square.reshape(2, 2).zero_().tolist() == [[0, 0], [0, 0]]
        assert square.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("window", ["unfold", "imag"])
def test_windows_and_parts_show_what_is_written_and_keep_their_gradients(window: str) -> None:
    found = []
    for library in (torch, ogive):
        w = library.ones(4, 2).requires_grad_()
        shown = w.unfold(0, 3, 1) if window == "unfold" else library.view_as_complex(w).imag
        joined = shown.reshape(-1)
        with library.no_grad():
            w[1:3] = 2
        (shown * shown).sum().backward()
        found.append((joined.detach().tolist(), w.grad.tolist()))
    assert found[0] == found[1]


def test_memory_is_contiguous_as_it_is() -> None:
    w = ogive.ones(2, 3).requires_grad_()
    assert w.contiguous() is w
    with ogive.no_grad():
        w.add_(1)
    assert w.contiguous() is w
    assert w.flatten(1) is not None
    assert w.flatten(1, 1) is w


@pytest.mark.parametrize("value", [0, 2])
def test_what_is_overwritten_has_gradients_of_zero(value: int) -> None:
    for library in (torch, ogive):
        w = library.ones(3).requires_grad_()
        y = w * 2
        y.fill_(value)
        assert y.requires_grad
        (y * 3).sum().backward()
        assert w.grad.tolist() == [0, 0, 0]


DETACHED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add_": lambda w, h, old: old.add_(w * 2),
    "a part": lambda w, h, old: old[1:].mul_(w[1:]),
    "setitem": lambda w, h, old: old.__setitem__(0, w.sum()),
    "twice": lambda w, h, old: old.mul_(w).add_(1).mul_(w),
    "a view of it": lambda w, h, old: old.view(3, 1).copy_(w.view(3, 1) * w.view(3, 1)),
    "overwritten": lambda w, h, old: old.mul_(w).zero_(),
    "changed by the other": lambda w, h, old: (old.mul_(w), h.add_(5)),
    "detached once more": lambda w, h, old: old.detach().mul_(w),
}


@pytest.mark.parametrize("program", DETACHED.values(), ids=DETACHED.keys())
@pytest.mark.parametrize("lazy", [False, True], ids=["memory", "lazy"])
def test_what_is_written_through_detach_has_its_gradient_there_alone(
    program: Any, lazy: bool
) -> None:
    found = []
    for library in (torch, ogive):
        w = library.tensor([1.0, 2.0, 3.0]).requires_grad_()
        h = library.tensor([2.0, 1.0, 4.0])
        detached = h.detach()
        program(w, h, detached)
        if not lazy and library is ogive:
            Tensor.realize_batch([h, detached])
        gradients = None
        if detached.requires_grad:
            (detached * detached.detach()).sum().backward()
            gradients = w.grad.tolist()
        found.append((h.tolist(), detached.tolist(), h.requires_grad, gradients))
    assert found[0] == found[1]


def test_what_is_written_without_gradients_is_searched_for_leaves_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leaf = ogive.ones(2).requires_grad_()
    x = ogive.zeros(4).realize()
    part = x[1:]
    calls = []
    search = history.leads_to_leaf

    def counted(node: Any) -> bool:
        calls.append(node)
        return search(node)

    monkeypatch.setattr(history, "leads_to_leaf", counted)
    with ogive.no_grad():
        for _ in range(20):
            part.add_(1)
    assert len(calls) == 1
    assert x.tolist() == [0, 20, 20, 20]
    assert leaf.tolist() == [1, 1]


def test_a_captured_function_writes_through_views_of_its_arguments_and_of_what_it_finds() -> None:
    state = Tensor([1.0, 2.0, 3.0, 4.0])
    half = state[2:]

    def step(x: Tensor) -> Tensor:
        x[0].add_(1)
        half.mul_(x.sum())
        state.T[0] = 9
        return state.sum() + half.sum()

    def totals(function: Callable[[Tensor], Tensor]) -> list[float]:
        found = []
        state.assign(Tensor([1.0, 2.0, 3.0, 4.0]))
        for number in range(3):
            x = Tensor([[1.0, number], [0.5, 0.25]])
            column = x[:, 0]
            found.append(function(x).item())
            assert column.tolist() == [2.0, 0.5]
            assert half.tolist() == state.tolist()[2:]
        return found

    captured = ogive.jit(step)
    assert totals(captured) == totals(step)
    assert captured.cache_info().traces == 1


def test_a_captured_function_runs_as_it_is_for_arguments_that_share_memory() -> None:
    @ogive.jit
    def shift(x: Tensor, y: Tensor) -> Tensor:
        x += 1
        return x.sum() + y.sum()

    x, y = Tensor([1.0, 2.0]), Tensor([5.0])
    assert shift(x, y).item() == 10.0
    assert shift(x, x[1:]).item() == 3.0 + 4.0 + 4.0
    assert x.tolist() == [3.0, 4.0]


def test_a_captured_step_updates_the_views_of_parameters() -> None:
    layer = ogive.nn.Linear(2, 2)
    state = layer.state_dict()
    row = layer.weight.data[0]

    @ogive.jit
    def step(x: Tensor) -> None:
        with ogive.no_grad():
            layer.weight.add_(x)

    for _ in range(3):
        before = layer.weight.numpy()
        step(Tensor(np.ones((2, 2), np.float32)))
        np.testing.assert_allclose(layer.weight.numpy(), before + 1)
        np.testing.assert_array_equal(state["weight"].numpy(), layer.weight.numpy())
        np.testing.assert_array_equal(row.numpy(), layer.weight.numpy()[0])
    state["weight"].zero_()
    assert layer.weight.abs().sum().item() == 0


def test_a_copy_by_copy_copy_shares_memory_and_one_of_a_leaf_does_not() -> None:
    x = Tensor([1.0, 2.0])
    copy.copy(x).zero_()
    assert x.tolist() == [0.0, 0.0]
    leaf = Tensor([1.0, 2.0], requires_grad=True)
    other = copy.copy(leaf)
    with ogive.no_grad():
        other.zero_()
    assert other.requires_grad
    assert leaf.tolist() == [1.0, 2.0]


def test_plus_x_is_x() -> None:
    x = Tensor([1.0, 2.0])
    assert +x is x


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.topk(1)[0],
        lambda x: x.kthvalue(1)[0],
        lambda x: x.median(0)[0],
        lambda x: x.mode(0)[0],
        lambda x: x.sort(0)[0],
        lambda x: x.logcumsumexp(0),
        lambda x: x.cumsum(0),
        lambda x: x.reshape(1, 1).matrix_power(1),
    ],
)
def test_the_result_of_a_function_of_one_element_is_no_view(function: Callable[[Any], Any]) -> None:
    def program(library: Library) -> Any:
        x = make(library, lazy=False)[1, 1].clone()
        y = function(x)
        before = y.tolist()
        y.fill_(5)
        return [before, y.tolist(), x.tolist()]

    assert program(torch) == program(ogive)


def test_a_view_of_the_same_dtype_is_another_tensor() -> None:
    def program(library: Library) -> Any:
        x = make(library, lazy=False)
        y = x.view(x.dtype)
        x.unsqueeze_(0)
        x += 1
        return [tuple(y.shape), y.tolist()]

    assert program(torch) == program(ogive)
