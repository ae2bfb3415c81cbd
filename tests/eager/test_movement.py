"""Movements, joins, cuts and pads of small tensors, done at once."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.errors
import ogive.torch
from tests.eager.agreement import Case, arrays, check

MOVEMENTS: dict[str, Case] = {
    "reshape": lambda t, x: x.reshape(4, 6),
    "reshape to a list": lambda t, x: x.reshape([-1, 3]),
    "reshape of a view": lambda t, x: x.transpose(0, 2).reshape(-1, 2),
    "view": lambda t, x: x.view(6, -1),
    "view of a size": lambda t, x: x.view(x.size()),
    "view_as": lambda t, x: x.view_as(x.reshape(6, 4)),
    "flatten": lambda t, x: x.flatten(),
    "flatten two": lambda t, x: x.flatten(1, -1),
    "ravel": lambda t, x: x.ravel(),
    "unflatten": lambda t, x: x.unflatten(-1, (2, -1)),
    "squeeze": lambda t, x: x.reshape(1, 24, 1).squeeze(),
    "squeeze one": lambda t, x: x.reshape(1, 24, 1).squeeze(-1),
    "squeeze several": lambda t, x: x.reshape(1, 24, 1).squeeze((0, 1)),
    "unsqueeze": lambda t, x: x.unsqueeze(-2),
    "permute": lambda t, x: x.permute(2, 0, 1),
    "permute a list": lambda t, x: t.permute(x, [1, -1, 0]),
    "transpose": lambda t, x: x.transpose(0, -1),
    "swapaxes": lambda t, x: x.swapaxes(1, 2),
    "T": lambda t, x: x[0].T,
    "t": lambda t, x: x[1].t(),
    "mT": lambda t, x: x.mT,
    "movedim": lambda t, x: x.movedim(0, -1),
    "expand": lambda t, x: x[:, :1].expand(2, 5, -1),
    "expand in front": lambda t, x: x.expand(2, -1, -1, -1),
    "expand_as": lambda t, x: x[0, 0].expand_as(x),
    "broadcast_to": lambda t, x: t.broadcast_to(x[0, 0], (3, 4)),
    "narrow": lambda t, x: x.narrow(1, 1, 2),
    "narrow from the back": lambda t, x: x.narrow(-1, -3, 2),
    "select": lambda t, x: x.select(2, -1),
    "unfold": lambda t, x: x.unfold(2, 3, 1),
    "unfold with gaps": lambda t, x: x.unfold(1, 2, 1),
    "flip": lambda t, x: x.flip(0, -1),
    "flip a list": lambda t, x: t.flip(x, [1]),
    "fliplr": lambda t, x: x.fliplr(),
    "rot90": lambda t, x: x.rot90(1, (0, 1)),
    "diagonal": lambda t, x: x.diagonal(1, 1, 2),
    "diag of a matrix": lambda t, x: x[0].diag(-1),
    "diag of a vector": lambda t, x: x[0, 0].diag(1),
    "diag_embed": lambda t, x: x.diag_embed(-1, 0, 2),
    "trace": lambda t, x: x[0].trace(),
    "tril": lambda t, x: x.tril(-1),
    "triu": lambda t, x: x.triu(1),
    "repeat": lambda t, x: x.repeat(2, 1, 3),
    "repeat in front": lambda t, x: x[0, 0].repeat(2, 2),
    "tile": lambda t, x: x.tile((2,)),
    "repeat_interleave": lambda t, x: x.repeat_interleave(2, 1),
    "repeat_interleave flat": lambda t, x: t.repeat_interleave(x, 3),
    "repeat_interleave by a tensor": lambda t, x: x.repeat_interleave(t.tensor([0, 2, 1]), 1),
    "roll": lambda t, x: x.roll(2),
    "roll along an axis": lambda t, x: x.roll(-1, 2),
    "roll along two": lambda t, x: x.roll((1, 2), (0, 1)),
    "pad": lambda t, x: t.nn.functional.pad(x, (1, 2)),
    "pad two axes": lambda t, x: t.nn.functional.pad(x, (1, 0, 0, 2)),
    "pad and cut": lambda t, x: t.nn.functional.pad(x, (-1, 1)),
    "split": lambda t, x: x.split(3, 2),
    "split into sizes": lambda t, x: t.split(x, [1, 3], dim=2),
    "chunk": lambda t, x: x.chunk(2, -1),
    "unbind": lambda t, x: x.unbind(1),
    "tensor_split": lambda t, x: x.tensor_split(3, 2),
    "cat": lambda t, x: t.cat([x, x[:, :1]], 1),
    "cat with an empty one": lambda t, x: t.cat([x.reshape(-1)[:0], x], -1),
    "stack": lambda t, x: t.stack([x, x], 1),
    "stack behind": lambda t, x: t.stack((x[0], x[1]), dim=-1),
    "hstack": lambda t, x: t.hstack([x[0], x[1]]),
    "vstack": lambda t, x: t.vstack([x[0, 0], x[0, 1]]),
    "meshgrid": lambda t, x: t.meshgrid(x[0, 0], x[0, :, 0], indexing="ij"),
    "broadcast_tensors": lambda t, x: t.broadcast_tensors(x[0, 0], x),
}

ON_FLOATS: dict[str, Case] = {
    "pad with a value": lambda t, x: t.nn.functional.pad(x, (1, 2), value=1.5),
    "pad reflected": lambda t, x: t.nn.functional.pad(x, (2, 1), mode="reflect"),
    "pad replicated": lambda t, x: t.nn.functional.pad(x, (1, 3), mode="replicate"),
    "pad circular": lambda t, x: t.nn.functional.pad(x, (1, 2), mode="circular"),
}


@pytest.mark.parametrize("name", MOVEMENTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "uint8"])
def test_movement_gives_what_pytorch_gives(name: str, dtype: str) -> None:
    if name == "trace" and dtype == "bool":
        pytest.skip("PyTorch has no trace of truth values")
    check(MOVEMENTS[name], arrays((2, 3, 4), dtype=dtype))


@pytest.mark.parametrize("name", [*MOVEMENTS, *ON_FLOATS])
def test_gradient_flows_back_through_a_movement(name: str) -> None:
    check((MOVEMENTS | ON_FLOATS)[name], arrays((2, 3, 4)), tracked=True)


SCALARS: dict[str, Case] = {
    "reshape": lambda t, x: x.reshape(1, 1),
    "flatten": lambda t, x: x.flatten(),
    "unsqueeze": lambda t, x: x.unsqueeze(0),
    "squeeze": lambda t, x: x.squeeze(0),
    "expand": lambda t, x: x.expand(2, 3),
    "stack": lambda t, x: t.stack([x, x]),
    "repeat": lambda t, x: x.repeat(3),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalar_moves_as_in_pytorch(name: str) -> None:
    check(SCALARS[name], arrays(()), tracked=True)


EMPTY: dict[str, Case] = {
    "reshape": lambda t, x: x.reshape(3, 0),
    "flatten": lambda t, x: x.flatten(),
    "T": lambda t, x: x.t(),
    "cat": lambda t, x: t.cat([x, x], 1),
    "stack": lambda t, x: t.stack([x, x]),
    "flip": lambda t, x: x.flip(0),
    "split": lambda t, x: x.split(2, 1),
}


@pytest.mark.parametrize("name", EMPTY)
def test_no_elements_move_as_in_pytorch(name: str) -> None:
    check(EMPTY[name], arrays((0, 3)))


def test_cat_meets_in_one_dtype() -> None:
    integers, floats = arrays((2,), dtype="int64")[0], arrays((3,))[0]
    check(lambda t, x, y: t.cat([x, y]), [integers, floats])


VIEWS: dict[str, Case] = {
    name: MOVEMENTS[name]
    for name in (
        "reshape", "view", "flatten", "permute", "transpose", "T", "mT", "narrow", "select",
        "diagonal", "split", "chunk", "unbind", "unsqueeze", "movedim", "ravel", "unflatten",
    )
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_written_to_a_view_is_seen_in_the_tensor(name: str) -> None:
    results = []
    for module in (ogive.torch, torch):
        x = module.tensor(arrays((2, 3, 4))[0])
        shown = VIEWS[name](module, x)
        part = shown[0] if isinstance(shown, tuple) else shown
        part.fill_(7.0)
        results.append(numpy.asarray(x))
        assert module is torch or x.is_eager
    numpy.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("name", VIEWS)
def test_view_stays_a_view_when_it_settles(name: str) -> None:
    x = ogive.torch.tensor(arrays((2, 3, 4))[0])
    shown: Any = VIEWS[name](ogive.torch, x)
    part = shown[0] if isinstance(shown, tuple) else shown
    expected = numpy.asarray(part)
    part.node  # noqa: B018  (it settles)
    assert not x.is_eager
    numpy.testing.assert_array_equal(numpy.asarray(part), expected)
    x.fill_(7.0)
    assert (numpy.asarray(part) == 7).all()


def test_reshape_of_what_is_not_contiguous_is_a_copy() -> None:
    x = ogive.torch.tensor(arrays((2, 3))[0])
    copied = x.T.reshape(-1)
    copied.fill_(7.0)
    assert not (numpy.asarray(x) == 7).any()


REFUSED: dict[str, tuple[Case, type[Exception]]] = {
    "reshape to other sizes": (lambda t, x: x.reshape(5), ogive.errors.ShapeError),
    "reshape to a negative length": (lambda t, x: x.reshape(-2, 3), ogive.errors.ShapeError),
    "an axis that is not there": (lambda t, x: x.unsqueeze(5), ogive.errors.AxisError),
    "permute twice the same": (lambda t, x: x.permute(0, 0), ogive.errors.AxisError),
    "expand another length": (lambda t, x: x.expand(4, 4), ogive.errors.ShapeError),
    "narrow too far": (lambda t, x: x.narrow(0, 1, 5), ogive.errors.IndexRangeError),
    "select too far": (lambda t, x: x.select(0, 2), ogive.errors.IndexRangeError),
    "split into too much": (lambda t, x: x.split([1, 2]), ogive.errors.ShapeError),
    "cat of others": (lambda t, x: t.cat([x, x[:, :1]], 0), ogive.errors.ShapeError),
    "stack of others": (lambda t, x: t.stack([x, x[:1]]), ogive.errors.ShapeError),
    "cat of a tensor": (lambda t, x: t.cat(x), ogive.errors.ArgumentTypeError),
    "pad too many": (lambda t, x: t.nn.functional.pad(x, (1,) * 6), ogive.errors.ShapeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_form_refuses_raises_our_error(name: str) -> None:
    case, error = REFUSED[name]
    with pytest.raises(error):
        case(ogive.torch, ogive.torch.tensor(arrays((2, 3))[0]))
