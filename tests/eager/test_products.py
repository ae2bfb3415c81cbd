"""Products, sums of products and decompositions of eager tensors, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.errors
import ogive.torch as ours
from tests.eager.both_libraries import compare, numbers

DTYPES = ["float32", "float64", "int64"]

MATMUL = [
    ((3, 4), (4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4, 2)),
    ((2, 3, 4), (4,)), ((2, 3, 4), (2, 4, 5)), ((1, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)),
    ((5, 1, 3, 4), (2, 4, 5)), ((4,), (2, 4, 5)), ((0, 4), (4, 2)), ((3, 0), (0, 2)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("first", "second"), MATMUL)
def test_matmul(first: tuple[int, ...], second: tuple[int, ...], dtype: str) -> None:
    x, y = numbers(*first, dtype=dtype), numbers(*second, dtype=dtype, seed=1)
    compare(lambda library, x, y: x @ y, x, y)


NAMED: list[tuple[str, list[tuple[int, ...]], dict[str, Any]]] = [
    ("mm", [(3, 4), (4, 2)], {}), ("bmm", [(2, 3, 4), (2, 4, 5)], {}), ("mv", [(3, 4), (4,)], {}),
    ("dot", [(4,), (4,)], {}), ("vdot", [(4,), (4,)], {}), ("outer", [(3,), (4,)], {}),
    ("inner", [(3, 4), (4,)], {}), ("inner", [(2, 3, 4), (5, 4)], {}), ("inner", [(4,), (4,)], {}),
    ("addmm", [(3, 2), (3, 4), (4, 2)], {}), ("addmm", [(2,), (3, 4), (4, 2)], {}),
    ("addmm", [(1, 2), (3, 4), (4, 2)], {"beta": 2, "alpha": 3}),
    ("addmm", [(), (3, 4), (4, 2)], {}),
    ("addmv", [(3,), (3, 4), (4,)], {}), ("addmv", [(), (3, 4), (4,)], {"alpha": 2}),
    ("baddbmm", [(2, 3, 5), (2, 3, 4), (2, 4, 5)], {}),
    ("baddbmm", [(5,), (2, 3, 4), (2, 4, 5)], {"beta": 3}),
    ("cross", [(4, 3), (4, 3)], {"dim": 1}), ("cross", [(3, 5), (3, 1)], {"dim": 0}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "shapes", "options"), NAMED)
def test_products_by_name(
    name: str, shapes: list[tuple[int, ...]], options: dict[str, Any], dtype: str
) -> None:
    operands = [numbers(*shape, dtype=dtype, seed=n) for n, shape in enumerate(shapes)]
    compare(lambda library, *given: getattr(library, name)(*given, **options), *operands)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5, 4), (4,), (2, 3, 4), (0, 4)])
def test_linear(shape: tuple[int, ...], dtype: str, biased: bool) -> None:
    operands = [numbers(*shape, dtype=dtype), numbers(3, 4, dtype=dtype), numbers(3, dtype=dtype)]
    compare(
        lambda library, *given: library.nn.functional.linear(*given),
        *operands[: 2 + biased],
        tolerance=1e-4,
    )


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("batch", [(5,), (2, 3), ()])
def test_bilinear(batch: tuple[int, ...], biased: bool) -> None:
    if not batch and not biased:
        batch = (1,)
    operands = [numbers(*batch, 4), numbers(*batch, 3), numbers(2, 4, 3), numbers(2)]
    compare(lambda library, *given: library.nn.functional.bilinear(*given), *operands[: 3 + biased])


def test_products_of_views() -> None:
    compare(lambda library, x, y: x[::2].mm(y[:, 1:]), numbers(5, 4), numbers(4, 3))


EINSUM: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(3, 4), (4, 2)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("ij,kj->ki", [(3, 4), (2, 4)]), ("i,i->", [(4,), (4,)]), ("i,j->ij", [(4,), (3,)]),
    ("ij,ij->i", [(3, 4), (3, 4)]), ("ij,jk", [(3, 4), (4, 2)]), ("ij->j", [(3, 4)]),
    ("ijk->ki", [(2, 3, 4)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("ij,k->k", [(3, 4), (2,)]), ("bhqd, bhkd -> bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ("i,,j->ji", [(2,), (), (3,)]), ("ij,ik->jk", [(5, 2), (5, 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "shapes"), EINSUM)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    operands = [numbers(*shape, seed=n) for n, shape in enumerate(shapes)]
    compare(lambda library, *given: library.einsum(equation, *given), *operands)


@pytest.mark.parametrize("equation", ["ij->ji", "ii->i", "...j->...", "ii"])
def test_equations_that_are_not_done_at_once_are_right(equation: str) -> None:
    x = numbers(3, 3)
    expected = numpy.einsum(equation, x)
    numpy.testing.assert_allclose(ours.einsum(equation, ours.tensor(x)).numpy(), expected, 1e-5)


DOTS: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
    ((3, 4), (4, 2), 1), ((2, 3, 4), (3, 4, 5), 2), ((3,), (2,), 0),
    ((2, 3, 4), (4, 5, 2), ([0, -1], [2, 0])), ((3, 4), (4, 3), ((0,), (1,))),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "axes"), DOTS)
def test_tensordot(first: tuple[int, ...], second: tuple[int, ...], axes: Any) -> None:
    compare(
        lambda library, x, y: library.tensordot(x, y, dims=axes), numbers(*first), numbers(*second)
    )


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_distances(batch: tuple[int, ...], p: float) -> None:
    x, y = numbers(*batch, 3, 4), numbers(*batch, 5, 4, seed=1)
    x[..., 0, :] = y[..., 1, :]  # equal rows are 0 apart, and have no gradient
    compare(lambda library, x, y: library.cdist(x, y, p), x, y, tolerance=1e-4)


def _matrices(*batch: int) -> Any:
    return numbers(*batch, 3, 3, dtype="float64") + 3 * numpy.eye(3)


def _symmetric(*batch: int) -> Any:
    matrix = _matrices(*batch)
    return matrix @ matrix.swapaxes(-1, -2)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_matrices_are_inverted(batch: tuple[int, ...]) -> None:
    compare(lambda library, a: library.linalg.inv(a), _matrices(*batch))
    compare(lambda library, a: a.inverse(), _matrices(*batch))
    compare(lambda library, a: library.linalg.det(a), _matrices(*batch))


@pytest.mark.parametrize("right", [(3,), (3, 2), (2, 3, 2), (2, 3)])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_equations_are_solved(batch: tuple[int, ...], right: tuple[int, ...]) -> None:
    if right == (2, 3) and not batch:
        right = (3, 1)
    goal = numbers(*right, dtype="float64")
    compare(lambda library, a, b: library.linalg.solve(a, b), _matrices(*batch), goal)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_triangles_of_positive_matrices(batch: tuple[int, ...]) -> None:
    compare(lambda library, a: library.linalg.cholesky(a), _symmetric(*batch))


@pytest.mark.parametrize("batch", [(), (2,)])
def test_matrices_are_decomposed(batch: tuple[int, ...]) -> None:
    def absolute(library: Any, parts: Any) -> Any:
        """The signs of vectors are nobody's to say."""
        return tuple([library.tensor(abs(numpy.array(part))) for part in parts])

    tall = numbers(*batch, 4, 3, dtype="float64")
    for a, name in ((_symmetric(*batch), "eigh"), (tall, "qr"), (tall, "svd")):
        compare(
            lambda library, a, name=name: absolute(library, getattr(library.linalg, name)(a)),
            a, tracked=False,
        )  # fmt: skip
    for name in ("eigh", "qr", "svd"):
        parts = getattr(ours.linalg, name)(ours.tensor(_symmetric(*batch)))
        assert all(part.is_eager for part in parts)


def test_a_singular_matrix_raises() -> None:
    with pytest.raises(ogive.errors.LinearAlgebraError):
        ours.linalg.inv(ours.tensor([[1.0, 1.0], [1.0, 1.0]])).tolist()


@pytest.mark.parametrize("name", ["matmul", "mm"])
def test_operands_that_do_not_fit_raise(name: str) -> None:
    with pytest.raises(ogive.errors.ShapeError):
        getattr(ours, name)(ours.tensor([[1.0, 2.0]]), ours.tensor([[1.0, 2.0]]))


def test_an_addend_does_not_widen_a_product() -> None:
    x = ours.tensor([[1.0]])
    with pytest.raises(ogive.errors.ShapeError):
        ours.addmm(ours.tensor([1.0, 2.0]), x, x)


DECOMPOSITIONS: dict[str, Any] = {
    "svd": lambda m, x: tuple(m.linalg.svd(x, full_matrices=False)),
    "left vectors": lambda m, x: (m.linalg.svd(x, full_matrices=False)[0],),
    "right vectors": lambda m, x: (m.linalg.svd(x)[2][..., :2, :],),
    "qr": lambda m, x: tuple(m.linalg.qr(x)),
    "q": lambda m, x: (m.linalg.qr(x)[0],),
    "r": lambda m, x: (m.linalg.qr(x)[1],),
    "pinv": lambda m, x: (m.linalg.pinv(x),),
}
OF_SQUARES: dict[str, Any] = {
    "eigh": lambda m, x: tuple(m.linalg.eigh((x + x.mT) / 2)),
    "eigenvectors": lambda m, x: (m.linalg.eigh((x + x.mT) / 2)[1],),
    "slogdet": lambda m, x: tuple(m.linalg.slogdet(x)),
    "matrix_exp": lambda m, x: (m.linalg.matrix_exp(x),),
}
CASES = [
    *[(call, shape) for call in DECOMPOSITIONS.values() for shape in ((4, 4), (6, 3), (2, 3, 5))],
    *[(call, shape) for call in OF_SQUARES.values() for shape in ((4, 4), (2, 3, 3))],
]


@pytest.mark.parametrize(("call", "shape"), CASES)
def test_gradients_of_decompositions_are_those_of_pytorch(call: Any, shape: Any) -> None:
    array, found = numpy.random.default_rng(3).normal(size=shape), []
    for module in (torch, ours):
        x = module.tensor(array, requires_grad=True)
        weighted = [
            (part**2 * module.arange(part.numel(), dtype=x.dtype).reshape(part.shape).cos()).sum()
            for part in call(module, x)
        ]
        sum(weighted).backward()
        found.append(x.grad)
    assert found[1].is_eager
    numpy.testing.assert_allclose(found[1].numpy(), found[0].numpy(), 1e-8, 1e-8)


def test_a_decomposition_with_gradients_settles_to_the_same_gradients() -> None:
    array, found = numpy.random.default_rng(4).normal(size=(3, 3)), []
    for settles in (False, True):
        x = ours.tensor(array, requires_grad=True)
        _, _, right = ours.linalg.svd(x)
        if settles:
            right.node  # noqa: B018
        (right[0] ** 2 * ours.tensor([1.0, 2.0, 3.0])).sum().backward()
        found.append(x.grad.numpy())
    numpy.testing.assert_allclose(found[1], found[0], 1e-5, 1e-6)
