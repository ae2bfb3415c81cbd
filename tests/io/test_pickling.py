"""PyTorch checkpoints that we write: PyTorch reads them without running anything, and so do we."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn, optim
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.io.pytorch_checkpoint import DTYPES
from tests.raising import raises


def read(path: Path, value: Any) -> Any:
    ogive.save(value, path)
    return torch.load(path, weights_only=True)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_goes_out(name: str, tmp_path: Path) -> None:
    ours = Tensor(numpy.arange(15).reshape(3, 5) % 7).to(DTYPES[name])
    theirs = read(tmp_path / "x.pt", ours)
    assert str(theirs.dtype) == f"torch.{name}" and tuple(theirs.shape) == (3, 5)
    assert theirs.contiguous().view(torch.uint8).numpy().tobytes() == ours.numpy().tobytes()
    assert ogive.load(tmp_path / "x.pt").numpy().tobytes() == ours.numpy().tobytes()


PLAIN = {
    "numbers": [0, -1, 2**31, -(2**70), 1.5, float("inf"), True, False, None],
    "text": ["", "naïve 世界", b"\x00\xff"],
    7: (1, (), [[]], {}, {"a": (2,)}),
    "ordered": OrderedDict(b=1, a=2),
    "scalar": numpy.float32(0.5),
}


def test_plain_data_goes_out_as_it_is(tmp_path: Path) -> None:
    assert read(tmp_path / "x.pt", PLAIN) == PLAIN
    assert ogive.load(tmp_path / "x.pt") == PLAIN
    assert list(read(tmp_path / "x.pt", PLAIN)["ordered"]) == ["b", "a"]


def test_half_a_character_comes_back(tmp_path: Path) -> None:
    assert read(tmp_path / "x.pt", ["\ud800"]) == ["\ud800"]
    assert ogive.load(tmp_path / "x.pt") == ["\ud800"]


def test_views_scalars_and_empty_tensors_go_out(tmp_path: Path) -> None:
    x = ogive.arange(12).reshape(3, 4)
    given = [x.T, x[1, 2], x[:, :0], x[::2, 1:], (x * 2).sum(0)]
    for mine, other in zip(given, read(tmp_path / "x.pt", given), strict=True):
        numpy.testing.assert_array_equal(mine.numpy(), other.numpy())


def test_a_tensor_that_is_there_twice_is_shared(tmp_path: Path) -> None:
    weight = nn.Parameter(ogive.ones(2, 3))
    first, second = read(tmp_path / "x.pt", (weight, [weight]))
    assert first.requires_grad and first.data_ptr() == second[0].data_ptr()
    first, second = read(tmp_path / "x.pt", [ogive.zeros(3), ogive.zeros(3)])
    assert first.data_ptr() != second.data_ptr()


def test_training_goes_on_from_a_file_in_either_library(tmp_path: Path) -> None:
    def models(library: Any) -> tuple[Any, Any]:
        model = library.nn.Sequential(library.nn.BatchNorm1d(3), library.nn.Linear(3, 4))
        return model, library.optim.AdamW(model.parameters(), lr=0.1)

    def train(library: Any, model: Any, optimizer: Any) -> None:
        x = library.tensor(numpy.linspace(-1, 1, 15, dtype=numpy.float32).reshape(5, 3))
        optimizer.zero_grad()
        (model(x) - 1).square().mean().backward()
        optimizer.step()

    ours, optimizer = models(ogive)
    train(ogive, ours, optimizer)
    state = {"model": ours.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1}
    loaded = read(tmp_path / "x.pt", state)
    theirs, their_optimizer = models(torch)
    again, other_optimizer = models(ogive)
    theirs.load_state_dict(loaded["model"])
    mine = ogive.load(tmp_path / "x.pt")
    assert mine["epoch"] == 1
    again.load_state_dict(mine["model"])
    other_optimizer.load_state_dict(mine["optimizer"])
    their_optimizer.load_state_dict(
        {**loaded["optimizer"], "param_groups": [
            {**their_optimizer.state_dict()["param_groups"][0], "lr": 0.1}
        ]}
    )  # fmt: skip
    for library, model, each in (
        (ogive, ours, optimizer), (ogive, again, other_optimizer), (torch, theirs, their_optimizer)
    ):  # fmt: skip
        train(library, model, each)
    wanted = {name: value.numpy() for name, value in ours.state_dict().items()}
    for name, value in wanted.items():
        numpy.testing.assert_array_equal(again.state_dict()[name].numpy(), value)
        other = theirs.state_dict()[name].numpy()
        numpy.testing.assert_allclose(other, value, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_written_is_named_with_its_place(tmp_path: Path) -> None:
    words = r"\['model'\]\[1\] is of type object; tensors, dictionaries"
    with raises(ArgumentTypeError, match=words):
        ogive.save({"model": [1, object()]}, tmp_path / "x.pt")
    endless: list[Any] = []
    endless.append(endless)
    with raises(ArgumentError, match=r"\[0\] contains itself"):
        ogive.save(endless, tmp_path / "x.pt")
    assert not list(tmp_path.iterdir())
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    with raises(ArgumentError, match="nested more than 200 deep"):
        ogive.save({"a": deep}, tmp_path / "x.pt")


def test_a_model_is_saved_by_its_state(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    with raises(ArgumentTypeError, match="the object is of type Linear"):
        ogive.save(model, tmp_path / "model.pt")
    assert optim.SGD(model.parameters(), lr=0.1).state_dict()["param_groups"][0]["lr"] == 0.1
