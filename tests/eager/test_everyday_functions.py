"""Functions that everyday programs ask for now and then, beside PyTorch's."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import numpy
import pytest
import torch

import ogive.torch as ours
from tests.eager.agreement import arrays, check


def nn_of(module: Any) -> Any:
    return importlib.import_module(module.__name__ + ".nn")


# Statistics and orders


@pytest.mark.parametrize("q", [0.3, 0, 1])
@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint"])
def test_quantile(q: float, dim: int | None, interpolation: str) -> None:
    def case(T: Any, x: Any) -> Any:
        return T.quantile(x, q, dim=dim, interpolation=interpolation)

    check(case, arrays((7, 4)))
    check(lambda T, x: x.quantile(q, dim, keepdim=True), arrays((7, 4), dtype="float64"))


def test_several_quantiles() -> None:
    check(lambda T, x: T.quantile(x, T.tensor([0.1, 0.5]), dim=1), arrays((7, 4)))


def test_a_quantile_of_nan_is_nan() -> None:
    given = arrays((7, 4))
    given[0][2, 1] = numpy.nan
    check(lambda T, x: x.quantile(0.5, 0), given)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_covariances(dtype: str) -> None:
    check(lambda T, x: x.cov(), arrays((3, 8), dtype=dtype), tracked=dtype == "float32")
    check(lambda T, x: T.corrcoef(x), arrays((3, 8), dtype=dtype), tracked=dtype == "float32")
    check(lambda T, x: T.cov(x, correction=0), arrays((8,), dtype=dtype))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_lines_once(dtype: str) -> None:
    given = arrays((9, 2), dtype=dtype)
    check(lambda T, x: T.unique(x, dim=0, return_inverse=True, return_counts=True), given)
    check(lambda T, x: T.unique(x, dim=1), given)


@pytest.mark.parametrize("dim", [None, 0, -1])
def test_runs_once(dim: int | None) -> None:
    given = [numpy.array([[1, 1, 2], [1, 1, 2], [3, 3, 3]])]

    def case(T: Any, x: Any) -> Any:
        return T.unique_consecutive(x, return_inverse=True, return_counts=True, dim=dim)

    check(case, given)


@pytest.mark.parametrize("dim", [1, -1, 0])
def test_cosine_similarity(dim: int) -> None:
    def case(T: Any, x: Any, y: Any) -> Any:
        return T.cosine_similarity(x, y, dim=dim)

    check(case, arrays((4, 3), (1, 3)), tracked=True)


@pytest.mark.parametrize("name", ["triu_indices", "tril_indices"])
def test_triangles(name: str) -> None:
    check(lambda T, x: getattr(T, name)(4, 3, offset=1), arrays((1,)))


# Matrices


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logarithms_of_determinants(dtype: str) -> None:
    (x,) = arrays((2, 3, 3), dtype=dtype)
    given = [x @ x.swapaxes(-1, -2) + numpy.eye(3, dtype=dtype)]
    check(lambda T, x: T.logdet(x), given, tracked=dtype == "float64")
    check(lambda T, x: T.linalg.slogdet(x), given)


def test_the_logarithm_of_a_negative_determinant_is_nan() -> None:
    given = [numpy.array([[-2.0]])]
    check(lambda T, x: T.logdet(x), given, eager=False)


def test_matrix_exp() -> None:
    check(lambda T, x: T.linalg.matrix_exp(x), arrays((2, 3, 3), dtype="float64"))


@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 3)])
def test_singular_values_and_pseudo_inverses(shape: tuple[int, ...]) -> None:
    check(lambda T, x: T.linalg.svdvals(x), arrays(shape, dtype="float64"), tracked=True)
    check(lambda T, x: T.linalg.pinv(x), arrays(shape, dtype="float64"))
    check(lambda T, x: T.linalg.matrix_rank(x), arrays(shape, dtype="float64"))


def test_eigenvalues_of_symmetric_matrices() -> None:
    (x,) = arrays((2, 3, 3), dtype="float64")
    check(lambda T, x: T.linalg.eigvalsh(x), [x + x.swapaxes(-1, -2)], tracked=True)


def test_least_squares() -> None:
    def case(T: Any, x: Any, y: Any) -> Any:
        return T.linalg.lstsq(x, y).solution

    check(case, arrays((6, 3), (6, 2), dtype="float64"))


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors(name: str) -> None:
    def case(T: Any, x: Any, y: Any) -> Any:
        return getattr(T, name)(x * 6, y * 4)

    check(case, arrays((4, 3), (3,), dtype="int64"))


# Layers and their copies


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("enforce_sorted", [True, False])
def test_packed_sequences_go_through_recurrent_layers_at_once(
    kind: str, enforce_sorted: bool
) -> None:
    lengths = [5, 3, 1] if enforce_sorted else [3, 1, 5]
    random = numpy.random.default_rng(0)
    data = random.standard_normal((3, 5, 4)).astype("float32")
    results = []
    values: list[Any] = []
    for T in (torch, ours):
        nn = nn_of(T)
        layer = getattr(nn, kind)(4, 3, num_layers=2, bidirectional=True, batch_first=True)
        if not values:
            values = [random.standard_normal(tuple(p.shape)) for p in layer.parameters()]
        with T.no_grad():
            for parameter, value in zip(layer.parameters(), values, strict=True):
                parameter.copy_(T.tensor(value))
        x = T.tensor(data, requires_grad=True)
        utils = nn.utils.rnn
        packed = utils.pack_padded_sequence(x, lengths, True, enforce_sorted)
        out, state = layer(packed)
        out, counts = utils.pad_packed_sequence(out, batch_first=True)
        last = state[0] * state[1] if kind == "LSTM" else state
        ((out**2).sum() + last.sum()).backward()
        if T is ours:
            assert out.is_eager and last.is_eager and x.is_eager
        found = [out, last, x.grad, *[p.grad for p in layer.parameters()]]
        results.append([counts.tolist(), [each.detach().numpy() for each in found]])
    assert results[0][0] == results[1][0]
    for one, other in zip(results[0][1], results[1][1], strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_a_copied_state_dict_is_eager_and_apart() -> None:
    nn = nn_of(ours)
    layer = nn.Linear(2, 2)
    with ours.no_grad():
        layer.weight.copy_(ours.tensor([[1.0, 2.0], [3.0, 4.0]]))
    kept = copy.deepcopy(layer.state_dict())
    assert kept["weight"].is_eager and layer.weight.is_eager
    with ours.no_grad():
        layer.weight.zero_()
    assert kept["weight"].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_copies_share_memory_where_the_tensors_did() -> None:
    for T in (torch, ours):
        x = T.tensor([1.0, 2.0])
        same, part = x.detach(), x[:1]
        copied, again = copy.deepcopy([x, same])
        copied[0] = 7.0
        assert again.tolist() == [7.0, 2.0]
        assert (x.tolist(), part.tolist()) == ([1.0, 2.0], [1.0])


def test_activations_in_place_have_gradients() -> None:
    def case(T: Any, x: Any) -> Any:
        layer = nn_of(T).ReLU(inplace=True)
        y = x * 2
        z = layer(y)
        assert z is y
        return z * z + y

    check(case, arrays((3, 4)), tracked=True)


def test_distances_between_many_rows_are_computed_by_products() -> None:
    random = numpy.random.default_rng(8)
    arrays = [random.normal(size=(rows, 5)).astype("float32") for rows in (40, 30)]
    found = []
    for library in (torch, ours):
        x, y = [library.tensor(array, requires_grad=True) for array in arrays]
        apart = library.cdist(x, y)
        (apart * apart.detach().sin()).sum().backward()
        found.append([apart.detach().numpy(), x.grad.numpy(), y.grad.numpy()])
    for expected, own in zip(*found, strict=True):
        numpy.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("largest", [True, False])
def test_a_few_of_many_elements_are_those_of_pytorch(largest: bool) -> None:
    array = numpy.random.default_rng(9).normal(size=(4, 300))
    expected = torch.tensor(array).topk(5, largest=largest)
    found = ours.tensor(array).topk(5, largest=largest)
    assert found.values.tolist() == expected.values.tolist()
    assert found.indices.tolist() == expected.indices.tolist()


def test_derivatives_of_functions_are_found_row_by_row() -> None:
    found = []
    for library in (torch, ours):
        functional = library.autograd.functional
        x, y = library.tensor([0.5, 1.5, 2.5]), library.tensor([1.0, -1.0])
        rows = functional.jacobian(lambda a: a.outer(a.sin()), x)
        pair = functional.jacobian(lambda a, b: a[:2] * b, (x, y))
        curves = functional.hessian(lambda a: (a**3).prod(), x)
        mixed = functional.hessian(lambda a, b: (a[:2] * b).exp().sum(), (x, y))
        found.append([rows, *pair, curves, *mixed[0], *mixed[1]])
    for expected, own in zip(*found, strict=True):
        numpy.testing.assert_allclose(own.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_a_diagonal_is_filled_where_gradients_flow() -> None:
    found = []
    for library in (torch, ours):
        x = library.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
        y = x * x
        y.fill_diagonal_(-1.0)
        y.sum().backward()
        found.append((y.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "data",
    [
        [numpy.float32(1.5), 2, True], (numpy.int64(3), 2.5), [1.5, numpy.float64(2)], [[0.5], [1]],
        [numpy.float64(1)], [numpy.zeros(2), numpy.ones(2)], [[numpy.float32(1)], [0.5]], [],
    ],
)  # fmt: skip
def test_lists_of_numbers_have_the_dtype_of_pytorchs(data: Any) -> None:
    assert str(ours.tensor(data).dtype) == str(torch.tensor(data).dtype)
