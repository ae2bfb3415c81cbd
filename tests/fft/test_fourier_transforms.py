"""Transforms against NumPy's: lengths, arguments, gradients, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, ArgumentTypeError, AxisError, DtypeError, ShapeError
from ogive.fft.product_stages import prime_factors, stage_lengths
from tests.raising import raises

RNG = numpy.random.default_rng(11)
X = RNG.normal(size=(2, 5, 6))
Z = X + 1j * RNG.normal(size=X.shape)
LENGTHS = [1, 2, 3, 5, 8, 17, 31, 32, 33, 49, 61, 64, 67, 97, 210, 243, 509, 1000, 1024, 4099]


def close(found: Tensor, expected: Any, tolerance: float = 1e-12) -> None:
    array = found.numpy()
    assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
    numpy.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize(("dtype", "bound"), [("complex64", 3e-7), ("complex128", 2e-15)])
def test_every_length_is_nearly_as_exact_as_numpys(n: int, dtype: str, bound: float) -> None:
    values = (RNG.normal(size=n) + 1j * RNG.normal(size=n)).astype(dtype)
    exact = numpy.fft.fft(values.astype(numpy.clongdouble))
    found = ogive.fft.fft(Tensor(values))
    assert found.dtype.name == dtype
    error = numpy.linalg.norm(found.numpy() - exact) / numpy.linalg.norm(exact)
    assert error < bound


@pytest.mark.parametrize("n", [6, 67, 100])
def test_the_inverse_gives_the_numbers_back(n: int) -> None:
    values = RNG.normal(size=n)
    close(ogive.fft.ifft(ogive.fft.fft(Tensor(values))).real, values)
    close(ogive.fft.irfft(ogive.fft.rfft(Tensor(values)), n), values)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft"])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize(("n", "axis"), [(None, -1), (4, 1), (7, 2), (3, 0)])
def test_arguments_mean_what_they_mean_in_numpy(
    name: str, norm: str | None, n: int | None, axis: int
) -> None:
    expected = getattr(numpy.fft, name)(X, n=n, axis=axis, norm=norm)
    close(getattr(ogive.fft, name)(Tensor(X), n=n, axis=axis, norm=norm), expected)


@pytest.mark.parametrize("name", ["irfft", "hfft"])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("n", "axis"), [(None, -1), (7, 1), (12, 2), (1, 0)])
def test_halves_stand_for_the_whole(name: str, norm: str, n: int | None, axis: int) -> None:
    expected = getattr(numpy.fft, name)(Z, n=n, axis=axis, norm=norm)
    close(getattr(ogive.fft, name)(Tensor(Z), n=n, axis=axis, norm=norm), expected)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize(
    "options",
    [{}, {"axes": (0, 2)}, {"s": (3, 4), "axes": (2, 1)}, {"axes": (-1, 0), "norm": "ortho"}],
)
def test_several_axes_are_done_one_after_the_other(name: str, options: dict[str, Any]) -> None:
    given = Z if name in ("ifftn", "irfftn") else X
    close(getattr(ogive.fft, name)(Tensor(given), **options),
          getattr(numpy.fft, name)(given, **options))  # fmt: skip


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies_are_numpys(n: int) -> None:
    for name in ("fftfreq", "rfftfreq"):
        expected = getattr(numpy.fft, name)(n, d=0.3)
        close(getattr(ogive.fft, name)(n, d=0.3, dtype=ogive.float64), expected)
    assert ogive.fft.fftfreq(n).dtype is ogive.float32


def test_shifts_are_numpys() -> None:
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 1, (0, 2)):
            expected = getattr(numpy.fft, name)(X, axes=axes)
            close(getattr(ogive.fft, name)(Tensor(X), axes=axes), expected)


@pytest.mark.parametrize("dtype", ["int32", "bool", "float16", "float32"])
def test_other_dtypes_are_transformed_in_complex64(dtype: str) -> None:
    values = Tensor([1, 0, 1, 1, 0], dtype=dtype)
    assert ogive.fft.fft(values).dtype is ogive.complex64
    numpy.testing.assert_allclose(
        ogive.fft.fft(values).numpy(), numpy.fft.fft([1, 0, 1, 1, 0]), atol=1e-6
    )


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    result = ogive.fft.fft(Tensor(X))
    assert not result.is_realized


def test_captured_functions_transform() -> None:
    @ogive.jit
    def power(x: Tensor) -> Tensor:
        return ogive.fft.rfft(x).abs().square()

    for values in (X, X * 2):
        close(power(Tensor(values)), abs(numpy.fft.rfft(values)) ** 2)


def test_dim_is_another_name_for_the_axis() -> None:
    close(ogive.fft.fft(Tensor(X), dim=1), numpy.fft.fft(X, axis=1))
    close(ogive.fft.fftn(Tensor(X), dim=(0, 1)), numpy.fft.fftn(X, axes=(0, 1)))


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    lambda fft, z: (fft.fft(z) * (1 + 2j)).imag.square().sum(),
    lambda fft, z: fft.ifft(z, norm="ortho").abs().sum(),
    lambda fft, z: fft.rfft(z.real, n=7).abs().square().sum(),
    lambda fft, z: fft.irfft(z, n=9).square().sum(),
    lambda fft, z: fft.fftn(z, dim=(1, 2)).real.exp().sum() * 1e-6,
    lambda fft, z: fft.fft(z, n=67).abs().sum(),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_gradients_are_pytorchs(number: int) -> None:
    theirs = torch.tensor(Z, requires_grad=True)
    PROGRAMS[number](torch.fft, theirs).backward()
    ours = Tensor(Z, requires_grad=True)
    PROGRAMS[number](ogive.fft, ours).backward()
    assert ours.grad is not None and theirs.grad is not None
    numpy.testing.assert_allclose(
        ours.grad.numpy(), theirs.grad.resolve_conj().numpy(), rtol=1e-9, atol=1e-11
    )


def test_stages_multiply_to_the_length() -> None:
    for n in range(1, 400):
        assert numpy.prod(stage_lengths(n)) == numpy.prod(prime_factors(n)) == n


@pytest.mark.parametrize(
    ("program", "error", "words"),
    [
        (lambda: ogive.fft.fft(ogive.zeros(0)), ShapeError, "axis must have at least 1"),
        (lambda: ogive.fft.fft(Tensor([1.0]), n=0), ShapeError, "axis must have at least 1"),
        (lambda: ogive.fft.irfft(Tensor([1.0])), ShapeError, "irfft: an axis must have at"),
        (lambda: ogive.fft.fft(Tensor([1.0]), norm="both"), ArgumentError, "not 'both'"),
        (lambda: ogive.fft.hfft(Tensor([1.0, 2.0]), norm="both"), ArgumentError, "not 'both'"),
        (lambda: ogive.fft.fft(Tensor(1.0)), AxisError, "has no axis -1"),
        (lambda: ogive.fft.fft([1.0]), ArgumentTypeError, "fft takes a tensor, not list"),
        (lambda: ogive.fft.rfft(Tensor([1j])), DtypeError, "rfft takes real numbers"),
        (lambda: ogive.fft.fftn(Tensor([[1.0]]), s=(1,), axes=(0, 1)), ArgumentError, "1 lengths"),
        (lambda: ogive.fft.fftn(Tensor([[1.0]]), axes=()), ArgumentError, "no axis to transform"),
        (lambda: ogive.fft.fftfreq(0), ArgumentError, "n must be at least 1 and d not 0, got n=0"),
        (lambda: ogive.fft.rfftfreq(3, d=0), ArgumentError, "d=0"),
        (lambda: ogive.fft.fft(ogive.zeros(2, dtype="float8_e4m3")), DtypeError, "float8_e4m3"),
    ],
)
def test_what_has_no_transform_is_refused(
    program: Callable[[], Any], error: type[Exception], words: str
) -> None:
    with raises(error, match=words):
        program()
