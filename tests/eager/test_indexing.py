"""Reading and writing small tensors at positions, done at once."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.errors
import ogive.torch
from tests.eager.agreement import Case, arrays, check

POSITIONS: dict[str, Case] = {
    "gather": lambda t, x: x.gather(1, t.tensor([[[0, 2, 1]], [[2, 2, 0]]])),
    "gather along the first": lambda t, x: t.gather(x, 0, t.tensor([[[1, 0, 1, 1]]])),
    "take": lambda t, x: x.take(t.tensor([[3, -1], [0, 3]])),
    "take_along_dim": lambda t, x: x.take_along_dim(t.tensor([[[2], [0], [2]]]), 2),
    "index_select": lambda t, x: x.index_select(1, t.tensor([2, 0, 2])),
    "scatter": lambda t, x: x.scatter(2, t.tensor([[[0], [1], [3]]]), x[:1, :, 1:2]),
    "scatter a number": lambda t, x: x.scatter(1, t.tensor([[[0, 2]]]), 5),
    "scatter_add": lambda t, x: x.scatter_add(2, t.tensor([[[0, 0], [1, 0]]]), x[:1, :2, :2]),
    "index_add": lambda t, x: x.index_add(1, t.tensor([0, 0]), x[:, :2]),
    "index_add of a multiple": lambda t, x: x.index_add(0, t.tensor([1, 1]), x, alpha=2),
    "index_copy": lambda t, x: x.index_copy(1, t.tensor([2, 0]), x[:, :2]),
    "index_fill": lambda t, x: x.index_fill(2, t.tensor([0, 3]), 2),
    "index_put": lambda t, x: x.index_put((t.tensor([0, 1]), t.tensor([2, -1])), x[0, :2]),
    "index_put and add": lambda t, x: x.index_put((t.tensor([1, 1]),), x, accumulate=True),
    "masked_select": lambda t, x: x.masked_select(t.tensor([True, False, True, True])),
    "masked_scatter": lambda t, x: x.masked_scatter(t.tensor([True, False, True, False]), x),
    "a position": lambda t, x: x[1],
    "positions": lambda t, x: x[0, -1, 2],
    "slices": lambda t, x: x[:, 1:, ::2],
    "a slice from the back": lambda t, x: x[..., -2:],
    "a new axis": lambda t, x: x[None, 1, ..., None],
    "a list": lambda t, x: x[[1, 0, 1]],
    "a range": lambda t, x: x[:, range(2)],
    "a tensor": lambda t, x: x[:, t.tensor([2, 0, 0])],
    "two tensors": lambda t, x: x[t.tensor([[0], [1]]), t.tensor([0, 2])],
    "a scalar tensor": lambda t, x: x[t.tensor(1)],
    "bounds that are scalar tensors": lambda t, x: x[:, t.tensor(1) : t.tensor(3)],
    "bounds of NumPy's": lambda t, x: x[:, numpy.int64(1) : numpy.int64(3)],
    "a position of NumPy's": lambda t, x: x[numpy.int64(1)],
    "a mask": lambda t, x: x[t.tensor([True, False])],
    "a mask of several axes": lambda t, x: x[:, t.tensor([[True, False, True, True]] * 3)],
    "an empty list": lambda t, x: x[[]],
    "positions beside an integer": lambda t, x: x[0, :, [1, 2]],
    "positions before an integer": lambda t, x: x[[1, 0], 2],
    "a mask beside an integer": lambda t, x: x[1, t.tensor([True, False, True])],
    "positions beside a new axis": lambda t, x: x[:, None, [1, 2]],
    "positions apart": lambda t, x: x[[0, 1], :, [1, 2]],
}


@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_positions_give_what_pytorch_gives(name: str, dtype: str) -> None:
    check(POSITIONS[name], arrays((2, 3, 4), dtype=dtype))


@pytest.mark.parametrize("name", POSITIONS)
def test_gradient_flows_back_through_positions(name: str) -> None:
    check(POSITIONS[name], arrays((2, 3, 4)), tracked=True)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_scatter_reduce_combines_as_in_pytorch(reduce: str, include_self: bool, dtype: str) -> None:
    index = numpy.array([[0, 0, 1, 0], [2, 1, 1, 0]])
    x, source = arrays((3, 4), (2, 4))
    if dtype == "int64":  # floats with ties and zeros
        x, source = [abs(each * 2).round() for each in (x, source)]
        if reduce == "prod" or not include_self:
            pytest.skip("PyTorch's gradients of ties differ by version")
    check(
        lambda t, x, source: x.scatter_reduce(
            0, t.tensor(index), source, reduce, include_self=include_self
        ),
        [x, source],
        tracked=True,
    )


TABLES: dict[str, Case] = {
    "embedding": lambda t, w: t.nn.functional.embedding(t.tensor([[1, 0], [1, 4]]), w),
    "embedding with padding": lambda t, w: t.nn.functional.embedding(
        t.tensor([1, 0, 1]), w, padding_idx=1
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_a_table_are_those_of_pytorch(name: str) -> None:
    check(TABLES[name], arrays((5, 3)), tracked=True)


ON_ALL: dict[str, Case] = {
    "nonzero": lambda t, x: x.nonzero(),
    "nonzero as a tuple": lambda t, x: x.nonzero(as_tuple=True),
    "argwhere": lambda t, x: t.argwhere(x),
    "where": lambda t, x: t.where(x),
}


@pytest.mark.parametrize("name", ON_ALL)
@pytest.mark.parametrize("shape", [(2, 3, 4), (5,), (), (0, 3)])
def test_positions_of_what_is_not_zero_are_those_of_pytorch(
    name: str, shape: tuple[int, ...]
) -> None:
    check(ON_ALL[name], arrays(shape, dtype="int64"))


def test_one_hot_is_as_in_pytorch() -> None:
    check(lambda t, x: t.nn.functional.one_hot(x, 5), [numpy.array([[3, 0], [1, 4]])])
    check(lambda t, x: t.nn.functional.one_hot(x), [numpy.array([3, 0])])


def _written(t: Any, x: Any, how: Any) -> Any:
    y = x.clone()
    how(t, y)
    return y


def _put(index: Any, value: Any) -> Any:
    def write(t: Any, y: Any) -> None:
        y[index(t, y)] = value(t, y)

    return write


def _add(index: Any, value: Any) -> Any:
    def write(t: Any, y: Any) -> None:
        y[index(t, y)] += value(t, y)

    return write


WRITES: dict[str, Any] = {
    "a number at a place": _put(lambda t, y: (0, 1, 2), lambda t, y: 7),
    "a number in a row": _put(lambda t, y: (slice(None), 1), lambda t, y: 7),
    "a tensor in a part": _put(lambda t, y: (slice(None), slice(0, 2)), lambda t, y: y[:, 1:]),
    "a tensor that broadcasts": _put(lambda t, y: 1, lambda t, y: y[0, 0]),
    "a scalar tensor": _put(lambda t, y: (1, 1, 1), lambda t, y: y[0, 0, 0]),
    "a mask": _put(lambda t, y: t.tensor([[True, False, True]] * 2), lambda t, y: 3),
    "a list": _put(lambda t, y: [1, 0], lambda t, y: y[0].clone()),
    "a tensor of positions": _put(lambda t, y: t.tensor([1]), lambda t, y: y[0].clone()),
    "positions beside an integer": _put(lambda t, y: (0, slice(None), [1, 2]), lambda t, y: 5),
    "a range": _put(lambda t, y: range(1), lambda t, y: 4),
    "everything": _put(lambda t, y: ..., lambda t, y: 4),
    "a row that is added to": _add(lambda t, y: 1, lambda t, y: 7),
    "an element that is added to": _add(lambda t, y: (1, 1, 1), lambda t, y: 7),
    "positions that are added to": _add(lambda t, y: [1, 0], lambda t, y: y[1].clone()),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_what_is_written_is_what_pytorch_has(name: str, dtype: str) -> None:
    check(lambda t, x: _written(t, x, WRITES[name]), arrays((2, 3, 4), dtype=dtype))


REFUSED: dict[str, Case] = {
    "gather": lambda t, x: x.gather(0, t.tensor([[5]])),
    "gather from the back": lambda t, x: x.gather(0, t.tensor([[-1]])),
    "take": lambda t, x: x.take(t.tensor([12])),
    "index_select": lambda t, x: x.index_select(1, t.tensor([3])),
    "scatter": lambda t, x: x.scatter(0, t.tensor([[2]]), 1.0),
    "scatter_add": lambda t, x: x.scatter_add(0, t.tensor([[2]]), x),
    "index_add": lambda t, x: x.index_add(0, t.tensor([2]), x[:1]),
    "embedding": lambda t, x: t.nn.functional.embedding(t.tensor([2]), x),
    "one_hot": lambda t, x: t.nn.functional.one_hot(t.tensor([4]), 3),
    "a position": lambda t, x: x[2],
    "positions in a tensor": lambda t, x: x[t.tensor([2])],
    "a mask of another length": lambda t, x: x[t.tensor([True, False, True])],
}


@pytest.mark.parametrize("name", REFUSED)
def test_position_out_of_range_raises_at_once(name: str) -> None:
    with pytest.raises(ogive.errors.IndexRangeError):
        REFUSED[name](ogive.torch, ogive.torch.tensor(arrays((2, 3))[0]))


@pytest.mark.parametrize("position", [[2], [-3], [0, 5]])
def test_writing_out_of_range_raises_at_once_and_writes_nothing(position: list[int]) -> None:
    x = ogive.torch.zeros(2)
    with pytest.raises(IndexError):
        x[ogive.torch.tensor(position)] = 1.0
    assert x.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("write", [lambda x: x.add_(1.0), lambda x: x.fill_(7.0)])
def test_writing_to_repeated_elements_does_not_reach_a_form(write: Any) -> None:
    results: list[Any] = []
    for settles in (False, True):
        x = ogive.torch.tensor(arrays((1, 2))[0])
        if settles:
            x.node  # noqa: B018
        shown = x.expand(3, 2)
        assert shown.is_eager is not settles
        try:
            results.append(numpy.asarray(write(shown)))
        except ogive.errors.OgiveError as error:
            results.append(type(error))
    assert str(results[0]) == str(results[1])


def test_view_that_is_written_to_leaves_a_record_as_it_was() -> None:
    for module in (ogive.torch, torch):
        w = module.tensor([2.0, 3.0], requires_grad=True)
        x = module.tensor([[1.0, 2.0], [3.0, 4.0]])
        taken = x[0].clone()
        total = (w + taken).sum()
        x[0] = 9.0
        total.backward()
        assert w.grad.tolist() == [1.0, 1.0]
        assert taken.tolist() == [1.0, 2.0]


def test_positions_that_are_written_to_leave_a_record_as_it_was() -> None:
    w = ogive.torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
    places = ogive.torch.tensor([0, 0, 1])
    total = w[places].sum()
    places[1] = 2
    total.backward()
    assert w.grad.tolist() == [2.0, 1.0, 0.0]


@pytest.mark.parametrize("number", [0, 1])
def test_positions_around_an_ellipsis_that_stands_for_nothing_lie_together(number: int) -> None:
    array = numpy.arange(20.0).reshape(5, 2, 1, 2)
    found = []
    for library in (torch, ogive.torch):
        x: Any = library.tensor(array)
        rows: Any = library.tensor([[0], [-1]])
        first: Any = number or [0, 1]
        index = (None, first, rows, ..., [0], [1])
        part = x[index]
        x[index] = part * 2
        found.append((part.numpy(), x.numpy()))
    (part, x), (other, y) = found
    assert part.shape == other.shape
    assert (part == other).all() and (x == y).all()
