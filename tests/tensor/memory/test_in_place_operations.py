"""Operations that write to the tensor itself: values, identity, and what they refuse."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import numpy as np
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.errors import ArgumentTypeError, DeviceError, DtypeError, ShapeError
from ogive.tensor.late_methods import load_methods
from tests.raising import raises

load_methods(Tensor)
NAMES = sorted(
    name
    for name, value in vars(Tensor).items()
    if inspect.isfunction(value) and value.__name__ == name and name[-1] == "_" != name[0]
    and value.__module__ in ("ogive.tensor.tensor", "ogive.tensor.memory.in_place_operations")
)
VALUES = [[0.25, 0.5, 0.75], [0.125, 0.625, 0.875]]


def arguments(name: str, one: Any) -> tuple[Any, ...]:
    """What to call an operation with, beside a matrix `one` of either library."""
    if name.startswith("bitwise"):
        return () if name == "bitwise_not_" else (one % 2 + 1,)
    batch, row, first = one.unsqueeze(0), one[0], (one * 0).long()
    square = one.T @ one
    special: dict[str, tuple[Any, ...]] = {
        "addcmul_": (one, one), "addcdiv_": (one, one), "addr_": (one[:, 0], row),
        "addmm_": (one, square), "clamp_": (0.3, 0.7), "hardtanh_": (0.3, 0.7),
        "lerp_": (one * 2, 0.5), "masked_fill_": (one > 0.5, 7), "mvlgamma_": (1,),
        "polygamma_": (2,), "threshold_": (0.5, 9), "copy_": (row,), "fill_": (7,),
        "addmv_": (one, row), "addbmm_": (batch, square.unsqueeze(0)),
        "baddbmm_": (batch, square.unsqueeze(0)), "zero_": (), "fill_diagonal_": (7,),
        "cumsum_": (1,), "cumprod_": (1,), "masked_scatter_": (one > 0.5, one),
        "scatter_": (1, first[:, :1], one), "scatter_add_": (1, first, one),
        "scatter_reduce_": (1, first, one, "amax"), "put_": (first[0, :1], one[0, 1:2]),
        "index_add_": (0, first[0, :2], one), "index_copy_": (0, first[0, :1], one[1:]),
        "index_fill_": (0, first[0], 7), "index_put_": ((first[0, :1],), one[1]),
        "index_reduce_": (0, first[0, :2], one, "amax"),
        "renorm_": (2, 0, 0.5), "transpose_": (0, 1), "unsqueeze_": (1,), "squeeze_": (1,),
    }  # fmt: skip
    if name in special:
        return special[name]
    parameters = inspect.signature(getattr(Tensor, name.removesuffix("_"))).parameters.values()
    required = [entry for entry in parameters if entry.default is inspect.Parameter.empty]
    return (one * 0.5 + 0.25,) if len(required) > 1 else ()


def start(name: str, one: Any) -> Any:
    """The tensor that is written to."""
    changed = {
        "acosh_": one + 1, "baddbmm_": one.unsqueeze(0), "addmv_": one[:, 0],
        "squeeze_": one[:, :1],
    }  # fmt: skip
    return changed.get(name, one)


def peer(name: str) -> Any:
    """PyTorch's function, which for some activations is not in place."""
    for place in (torch.Tensor, torch.nn.functional):
        if hasattr(place, name):
            return getattr(place, name)
    return getattr(torch.nn.functional, name.removesuffix("_"))


@pytest.mark.parametrize("name", NAMES)
def test_in_place_operations_write_what_torch_writes(name: str) -> None:
    values = [[1, 2, 3], [4, 5, 6]] if name.startswith("bitwise") else VALUES
    one, other = Tensor(np.array(values)), torch.from_numpy(np.array(values))
    x = start(name, one).contiguous().realize()
    before = x * 1
    kept = before.tolist()
    expected = peer(name)(start(name, other).clone(), *arguments(name, other))
    assert getattr(x, name)(*arguments(name, one)) is x
    np.testing.assert_allclose(x.numpy(), expected.numpy(), rtol=1e-12, atol=1e-13)
    assert before.tolist() == kept


def test_augmented_assignment_keeps_the_object_and_changes_every_name_of_it() -> None:
    x = y = Tensor([6, 7, 8])
    x += 2
    x -= 1
    x *= 3
    x //= 2
    x %= 7
    x **= 2
    x <<= 2
    x >>= 1
    x |= 1
    x &= 0xFF
    x ^= 3
    peer = np.array([6, 7, 8])
    peer = ((((((peer + 2 - 1) * 3 // 2 % 7) ** 2) << 2) >> 1) | 1) & 0xFF ^ 3
    assert x is y
    assert y.tolist() == [int(v) for v in peer]
    z = Tensor([1.0, 2.0])
    z /= 4
    assert z.tolist() == [0.25, 0.5]


def test_augmented_assignment_to_a_part_changes_the_whole() -> None:
    for realized in (False, True):
        x = Tensor([[1, 2], [3, 4]])
        if realized:
            x.realize()
        x[0] += 10
        x[:, 1] *= 2
        x[:] -= 1
        assert x.tolist() == [[10, 23], [2, 7]]


def test_a_value_made_before_keeps_what_it_was() -> None:
    x = Tensor([1.0, 2.0]).realize()
    doubled, copy = x * 2, x.clone()
    x.add_(1).mul_(10)
    assert (x.tolist(), doubled.tolist(), copy.tolist()) == ([20, 30], [2, 4], [1, 2])


def test_an_integer_tensor_takes_no_floats() -> None:
    x = Tensor([1, 2])
    with raises(DtypeError, match="div_: the result is of float32, which a tensor of int64"):
        x /= 2
    with raises(DtypeError, match="exp_: the result is of float32"):
        x.exp_()
    with raises(DtypeError, match="add_: the result is of int64, which a tensor of bool"):
        Tensor([True]).add_(Tensor([2]))
    assert x.tolist() == [1, 2]
    assert x.half().add_(Tensor([0.5], dtype="float64")).dtype is ogive.float16


def test_a_result_of_another_shape_is_refused() -> None:
    x = Tensor([1, 2])
    with raises(
        ShapeError, match=r"add_: the result has the shape \(3, 2\), and the tensor"
    ):
        x += ogive.ones(3, 2, dtype="int64")
    with raises(ShapeError, match="does not broadcast"):
        x.copy_(Tensor([1, 2, 3]))
    with raises(ArgumentTypeError, match=r"fill_ takes a number or a scalar, not the shape"):
        x.fill_(Tensor([1, 2]))
    assert x.fill_(Tensor(5)).tolist() == [5, 5]


def test_a_file_is_not_written_to(tmp_path: Any) -> None:
    np.arange(3).tofile(tmp_path / "values")
    x = Tensor.from_file(tmp_path / "values", (3,), "int64")
    with raises(DeviceError, match="cannot be assigned to"):
        x += 1


def test_threads_that_write_to_one_tensor_lose_nothing() -> None:
    counter = Tensor([0, 0])

    def work() -> None:
        for _ in range(100):
            counter.add_(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.tolist() == [400, 400]


@pytest.mark.parametrize(("shape", "wrap"), [((3, 3, 3), False), ((7, 3), True), ((3, 7), True)])
def test_fill_diagonal_of_several_axes_and_of_tall_matrices(
    shape: tuple[int, ...], wrap: bool
) -> None:
    x, peer = Tensor(np.zeros(shape)), torch.zeros(shape)
    assert x.fill_diagonal_(2, wrap=wrap) is x
    assert x.tolist() == peer.fill_diagonal_(2, wrap=wrap).tolist()


def test_fill_diagonal_refuses_axes_of_several_lengths() -> None:
    with raises(ShapeError, match="all of one length"):
        Tensor(np.zeros((2, 2, 3))).fill_diagonal_(1)


def test_sums_and_products_along_an_axis_in_place() -> None:
    x, peer = Tensor(VALUES), torch.tensor(VALUES)
    x[:, 1:].cumsum_(1)
    peer[:, 1:].cumsum_(1)
    x.cumprod_(0)
    peer.cumprod_(0)
    np.testing.assert_allclose(x.numpy(), peer.numpy(), rtol=1e-6)


def test_index_fill_counts_negative_positions_from_the_back() -> None:
    assert Tensor([1, 2, 3]).index_fill_(0, Tensor([-1, 0]), 9).tolist() == [9, 2, 9]
