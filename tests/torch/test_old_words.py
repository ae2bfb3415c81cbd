"""Words and ways of older programs: `size_average`, lists of lists as indices."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch as torch
from tests.raising import raises

X, Y = numpy.random.default_rng(1).random((2, 4, 3)).astype("float32")
OPTIONS: list[dict[str, bool]] = [
    {"size_average": False}, {"size_average": True}, {"reduce": False}, {"reduce": True},
    {"size_average": False, "reduce": False}, {"size_average": False, "reduce": True},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "binary_cross_entropy", "kl_div"])
def test_losses_take_size_average_and_reduce(name: str, options: dict[str, bool]) -> None:
    def compute(library: Any) -> Any:
        loss = getattr(library.nn.functional, name)
        return loss(library.tensor(X), library.tensor(Y), **options).numpy()

    numpy.testing.assert_allclose(compute(torch), compute(pytorch), rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ["MSELoss", "NLLLoss", "CrossEntropyLoss", "TripletMarginLoss"])
def test_modules_of_losses_take_them_too(name: str, options: dict[str, bool]) -> None:
    own, other = (getattr(library.nn, name)(**options) for library in (torch, pytorch))
    assert own.reduction == other.reduction


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("width", [4, 30000])
@pytest.mark.parametrize(
    "index", [[[0, 1], [1, 2]], [[0, 2, 1]], [0, 2], [slice(1, 3), 0], [None, 1], [..., 0]]
)
def test_a_list_of_lists_has_an_entry_for_each_axis(index: Any, width: int) -> None:
    array = numpy.arange(3 * width).reshape(3, width)
    own, other = torch.tensor(array), pytorch.tensor(array)
    assert own[index].tolist() == other[index].tolist()
    own[index] = other[index] = -1
    assert own.tolist() == other.tolist()


def test_tensors_of_one_element_are_numbers_in_lists() -> None:
    listed = [[[1.0], [2.0]], [[3.0], [4.0]]]

    def compute(library: Any) -> Any:
        return library.tensor([[library.tensor(each) for each in row] for row in listed])

    assert compute(torch).tolist() == compute(pytorch).tolist()


ENTRIES = ["float64", "float16", "bfloat16", "int64", "int8", "uint8", "bool", 1, 1.5, True]


@pytest.mark.parametrize("first", ENTRIES)
@pytest.mark.parametrize("second", ENTRIES)
def test_a_list_of_tensors_has_the_dtype_that_all_fit_in(first: Any, second: Any) -> None:
    def compute(library: Any) -> str:
        entries = [
            library.tensor(1, dtype=getattr(library, each)) if isinstance(each, str) else each
            for each in (first, second)
        ]
        assert library.tensor(entries).tolist() == [
            1.5 if each == 1.5 else 1 for each in (first, second)
        ]
        return str(library.tensor([entries, entries[::-1]]).dtype)

    assert compute(torch) == compute(pytorch)


@pytest.mark.parametrize("make", ["as_tensor", "asarray"])
def test_a_small_array_is_shared(make: str) -> None:
    array = numpy.zeros(3, "float32")
    x = getattr(torch, make)(array)
    array[0] = 5
    x[1] = 6
    assert x.tolist() == array.tolist() == [5, 6, 0]
    cast = torch.as_tensor(array, dtype=torch.float64)
    array[2] = 7
    assert cast.tolist() == [5, 6, 0]


@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize("name", ["einsum", "cdist", "solve", "tensordot"])
def test_functions_refuse_tensors_of_several_dtypes(name: str, size: int) -> None:
    a, b = torch.ones(size, size), torch.ones(size, size, dtype=torch.float64)
    calls: dict[str, Any] = {
        "einsum": lambda: torch.einsum("ij,jk->ik", a, b), "cdist": lambda: torch.cdist(a, b),
        "solve": lambda: torch.linalg.solve(a, b), "tensordot": lambda: torch.tensordot(a, b),
    }  # fmt: skip
    with raises(RuntimeError, match="must have one dtype"):
        calls[name]()


@pytest.mark.parametrize("size", [3, 300])
def test_the_loss_of_logits_takes_two_dtypes(size: int) -> None:
    def compute(library: Any) -> Any:
        x, y = library.ones(size, size), library.ones(size, size, dtype=library.float64)
        return library.nn.functional.binary_cross_entropy_with_logits(x, y)

    own, other = compute(torch), compute(pytorch)
    assert str(own.dtype) == str(other.dtype)
    assert own.item() == pytest.approx(other.item(), rel=1e-6)


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, about its old order
@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.ones(2).add(2, t.ones(2)),
        lambda t: t.ones(2).add_(2, t.ones(2)),
        lambda t: t.add(t.ones(2), 2, t.ones(2)),
        lambda t: t.ones(2).sub_(2, t.ones(2)),
        lambda t: t.ones(2).addcmul_(2, t.ones(2), t.ones(2)),
        lambda t: t.addcdiv(t.ones(2), 2, t.ones(2), t.ones(2)),
        lambda t: t.div(2.0, t.ones(2)),
        lambda t: t.mul(0.1, t.ones(2).double()),
        lambda t: t.sub(2, t.ones(2).half()),
        lambda t: t.add(2.5, t.ones(2).long(), alpha=3),
        lambda t: t.pow(0.1, t.ones(2).double()),
        lambda t: t.floor_divide(7, t.tensor([2, 3])),
        lambda t: t.ones(2, dtype=t.float64).new([1, 2]),
        lambda t: t.ones(2, dtype=t.int32).new(3, 0),
        lambda t: t.ones(2).new(),
        lambda t: t.randint_like(t.ones(2), high=1),
        lambda t: t.randint_like(t.ones(2), low=3, high=4),
    ],
)
def test_old_orders_and_numbers_first_are_taken(program: Any) -> None:
    found, wanted = program(torch), program(pytorch)
    assert found.tolist() == wanted.tolist()
    assert str(found.dtype) == str(wanted.dtype)
    assert found.shape == wanted.shape
