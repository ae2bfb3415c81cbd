"""What `torch.load` gives is in memory as it was when it was saved: shared, leaves, parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch as pytorch

import ogive.torch as torch
from ogive.errors import FileError
from tests.io.crafted import view
from tests.io.pickles import checkpoint, integer, listed, storage, tensor, tupled
from tests.raising import raises


@pytest.fixture(params=[4, 70_000], ids=["small", "large"])
def loaded(request: Any, tmp_path: Path) -> Any:
    """Tensors of PyTorch's that share memory, read by us once their file is gone."""
    x = pytorch.arange(float(request.param))
    path = tmp_path / "saved.pt"
    pytorch.save(
        {
            "x": x, "again": [x, (x,)], "part": x[1:3], "turned": pytorch.arange(6).view(2, 3).T,
            "parameter": pytorch.nn.Parameter(x + 1), "leaf": (x + 2).requires_grad_(),
            "frozen": pytorch.nn.Parameter(x + 3, requires_grad=False),
        },
        path,
    )  # fmt: skip
    found = torch.load(path)
    path.unlink()
    return found


def test_a_tensor_that_was_saved_twice_is_one_tensor(loaded: Any) -> None:
    assert loaded["again"][0] is loaded["x"] and loaded["again"][1][0] is loaded["x"]
    loaded["again"][0][0] = 9
    assert loaded["x"][0].item() == 9


def test_views_that_were_saved_together_share_memory(loaded: Any) -> None:
    loaded["part"][0] = 7
    assert loaded["x"][:4].tolist() == [0, 7, 2, 3]
    loaded["x"][2] = 8
    assert loaded["part"].tolist() == [7, 8]
    assert loaded["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_leaves_and_parameters_are_such(loaded: Any) -> None:
    assert isinstance(loaded["parameter"], torch.nn.Parameter)
    assert loaded["parameter"].requires_grad and loaded["leaf"].requires_grad
    assert isinstance(loaded["frozen"], torch.nn.Parameter)
    assert not loaded["frozen"].requires_grad and not loaded["x"].requires_grad
    (loaded["parameter"] * 2 + loaded["leaf"] * 3).sum().backward()
    assert loaded["parameter"].grad[0].item() == 2 and loaded["leaf"].grad[0].item() == 3
    torch.optim.SGD([loaded["parameter"]], lr=0.5).step()
    assert loaded["parameter"][:2].tolist() == [0, 1]


def test_small_tensors_that_are_alone_are_eager(tmp_path: Path) -> None:
    pytorch.save([pytorch.ones(2), pytorch.arange(3)], tmp_path / "small.pt")
    assert all(tensor.is_eager for tensor in torch.load(tmp_path / "small.pt"))


def test_one_storage_is_not_read_in_every_dtype(tmp_path: Path) -> None:
    path = tmp_path / "dtypes.pt"
    kinds = ("Float", "Int", "Char", "Byte", "Half", "BFloat16", "Short", "Bool", "Double")
    path.write_bytes(
        checkpoint(
            listed(
                *[
                    tensor(
                        storage(f"{kind}Storage", count=integer(1000)), b"K\x00",
                        tupled(integer(1000)), tupled(b"K\x01"),
                    )
                    for kind in kinds
                ]
            )
            + b".",
            {"0": bytes(4 << 20)},
        )
    )  # fmt: skip
    with raises(FileError, match="takes more than"):
        torch.load(path)


def test_views_of_a_storage_that_is_longer_than_they_say_are_read(tmp_path: Path) -> None:
    path = tmp_path / "views.pt"
    values = pytorch.arange(8, dtype=pytorch.float32).numpy().tobytes()
    path.write_bytes(checkpoint(listed(view(1, 3), view(2, 4)) + b".", {"0": values}))
    first, second = torch.load(path)
    second[0] = 10
    assert first.tolist() == [1, 10, 3] and second.tolist() == [10, 3, 4, 5]
