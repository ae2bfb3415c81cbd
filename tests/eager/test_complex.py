"""Complex numbers and Fourier transforms of small tensors are done at once, as PyTorch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch as torch
from ogive.errors import DtypeError
from tests.raising import raises

RANDOM = numpy.random.default_rng(5)


def draw(dtype: str) -> Any:
    return (RANDOM.normal(size=(3, 4)) + 1j * RANDOM.normal(size=(3, 4))).astype(dtype)


Z, W = draw("complex64"), draw("complex64")
X = RANDOM.normal(size=(3, 4)).astype("float32")


def add_in_place(z: Any, w: Any) -> Any:
    z = z.clone()
    z += w
    z[0, 0] = 3 + 1j
    z[1] = 2.0
    return z


def write_real_part(z: Any) -> Any:
    z = z.clone()
    z.real[0] = 5
    return z


CASES: list[tuple[str, Callable[..., Any]]] = [
    ("sum of two", lambda m, z, w, x: z + w),
    ("times a float", lambda m, z, w, x: x * z * 2.5),
    ("a real times 1j", lambda m, z, w, x: 2j - x),
    ("integers times 1j", lambda m, z, w, x: m.arange(3) * 1j),
    ("quotient", lambda m, z, w, x: 1 / z + z / w),
    ("powers", lambda m, z, w, x: z**3 + z**2 + z**0.5),
    ("parts", lambda m, z, w, x: z.real * z.imag + z.abs() + z.angle()),
    ("conjugate", lambda m, z, w, x: z.conj().exp().sqrt()),
    ("sums", lambda m, z, w, x: z.sum() + z.mean(0) + z.cumsum(1)),
    ("products", lambda m, z, w, x: z @ w.T),
    ("trace", lambda m, z, w, x: z.trace() + m.trace(w[:, 1:])),
    ("diagonals", lambda m, z, w, x: z.tril() + w.triu(1) + z[0].diag_embed()[:3]),
    ("einsum", lambda m, z, w, x: m.einsum("ij,kj->ik", z, w)),
    ("joined", lambda m, z, w, x: m.cat([x, w, m.complex(x, x * 2), m.polar(x.abs(), x)])),
    ("chosen", lambda m, z, w, x: m.where(x > 0, z, 0)),
    ("moved", lambda m, z, w, x: z.flip(0).roll(1, 1).reshape(-1)[::2]),
    ("compared", lambda m, z, w, x: (z == w) | z.isnan()),
    ("written", lambda m, z, w, x: add_in_place(z, w)),
    ("written through the real part", lambda m, z, w, x: write_real_part(z)),
    ("solved", lambda m, z, w, x: m.linalg.solve(z[:, :3], w)),
    ("cast", lambda m, z, w, x: z.to(m.complex128) + x.to(m.complex64)),
    ("as real", lambda m, z, w, x: m.view_as_real(z)),
    ("from numbers", lambda m, z, w, x: m.tensor([1 + 2j, 3]) + m.zeros(2, dtype=m.complex64)),
    ("fft", lambda m, z, w, x: m.fft.fft(x) + m.fft.ifft(z, dim=0)),
    ("fft of integers", lambda m, z, w, x: m.fft.fft(m.arange(5))),
    ("rfft", lambda m, z, w, x: m.fft.rfft(x, n=6, dim=1, norm="ortho")),
    ("irfft", lambda m, z, w, x: m.fft.irfft(z, n=5)),
    ("fft2", lambda m, z, w, x: m.fft.fftshift(m.fft.fft2(z)) + m.fft.ifftn(x)),
    ("frequencies", lambda m, z, w, x: m.fft.fftfreq(6) * m.hann_window(6)),
]


@pytest.mark.parametrize("compute", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_complex_numbers_are_pytorchs_and_eager(compute: Callable[..., Any]) -> None:
    expected = compute(pytorch, *map(pytorch.tensor, (Z, W, X))).resolve_conj().numpy()
    made = compute(torch, *map(torch.tensor, (Z, W, X)))
    assert made.is_eager
    found = made.numpy()
    assert found.dtype == expected.dtype
    numpy.testing.assert_allclose(found, expected, 1e-4, 1e-5, strict=True)


@pytest.mark.parametrize("name", ["sort", "max", "floor", "relu"])
def test_what_complex_numbers_do_not_have_is_refused(name: str) -> None:
    with raises(DtypeError, match="complex"):
        getattr(torch.tensor(Z), name)()


def write_parts(m: Any, x: Any, y: Any) -> Any:
    made = m.zeros(4, 6, dtype=m.complex128)
    made[:, :3] = m.complex(x, y)[:, :3] * 2
    made[0] = m.complex(y, x)[1]
    return made.abs()


def short_time(m: Any, x: Any) -> Any:
    window = m.hann_window(16, dtype=x.dtype)
    return m.stft(x.repeat(1, 10), 16, 4, window=window, return_complex=True)


def back(m: Any, spectrum: Any) -> Any:
    return m.istft(spectrum, 16, 4, window=m.hann_window(16, dtype=m.float64))


GRADIENTS: dict[str, Callable[..., Any]] = {
    "fft": lambda m, x, y, w: (m.fft.fft(x) * m.fft.ifft(y)).real,
    "fft of complex": lambda m, x, y, w: m.fft.fft(m.complex(x, y), dim=0, norm="forward").abs(),
    "rfft": lambda m, x, y, w: m.fft.rfft(x).abs() + m.fft.rfft(y, n=7, norm="ortho").real,
    "rfft, padded": lambda m, x, y, w: m.fft.rfft(x, n=9).abs(),
    "rfft, cut": lambda m, x, y, w: m.fft.rfft(x, n=4).angle() * m.fft.rfft(y, n=4).imag,
    "irfft": lambda m, x, y, w: m.fft.irfft(m.fft.rfft(x) * m.fft.rfft(y), n=6),
    "irfft, odd": lambda m, x, y, w: m.fft.irfft(m.fft.rfft(x, n=10), n=9, norm="ortho"),
    "fft2": lambda m, x, y, w: m.fft.ifft2(m.fft.fft2(x) * m.fft.fftshift(m.fft.fft2(y))).real,
    "stft": lambda m, x, y, w: short_time(m, x).abs(),
    "istft": lambda m, x, y, w: back(m, short_time(m, x) * 2j),
    "polar": lambda m, x, y, w: m.polar(x.abs(), y).real * m.polar(x * x, y).imag,
    "exp": lambda m, x, y, w: m.exp(1j * x).real + m.exp(m.complex(x, y)).imag,
    "quotient": lambda m, x, y, w: ((1 + m.complex(x, y)) / (2 - 1j * x)).real,
    "powers": lambda m, x, y, w: (m.complex(x, y) ** 3).imag + (m.complex(x, y) ** 2).abs(),
    "functions": lambda m, x, y, w: m.complex(x, y).sqrt().abs() + m.complex(x, y).sin().real
    + m.complex(x, y).reciprocal().imag + m.complex(x, y).log().imag,
    "views": lambda m, x, y, w: m.view_as_real(m.complex(x, y).conj() * m.complex(y, x))[..., 1]
    + m.view_as_complex(m.stack([x, y], -1)).log().real,
    "products": lambda m, x, y, w: (m.complex(x, y) @ m.complex(w, w * 2)).abs()
    + (m.complex(x, y) @ w.to(m.complex128)).real,
    "einsum": lambda m, x, y, w: m.einsum("ij,kj,jl->ikl", m.complex(x, y), m.complex(y, y),
        m.complex(w, w)).abs(),
    "sums": lambda m, x, y, w: m.complex(x, y).sum(0).abs() + m.complex(x, y).cumsum(1).abs().sum(),
    "real with complex": lambda m, x, y, w: (m.complex(x, y) * y + x).abs()
    + m.where(x > 0, m.complex(x, y), m.complex(y, y)).abs(),
    "joined": lambda m, x, y, w: m.cat([m.complex(x, y), m.complex(y, x)], 1).abs() ** 3,
    "parts": lambda m, x, y, w: m.complex(x, y)[1:, [0, 2]].abs().sum() * m.complex(x, y)[0].real
    + m.complex(x, y).split(3, 1)[1].abs().sum() * m.complex(x, y).unbind(0)[0].imag,
    "written": lambda m, x, y, w: write_parts(m, x, y),
    "inverses": lambda m, x, y, w: m.linalg.inv(m.complex(x[:, :4], y[:, :4])).abs()
    + m.linalg.det(m.complex(x[:, :4], y[:, :4])).abs(),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_flow_through_complex_numbers(name: str) -> None:
    random = numpy.random.default_rng(11)
    arrays = [random.uniform(-1.5, 1.5, shape) for shape in ((4, 6), (4, 6), (6, 3))]
    results: list[list[Any]] = []
    for module in (pytorch, torch):
        leaves = [module.tensor(array, requires_grad=True) for array in arrays]
        made = GRADIENTS[name](module, *leaves)
        weights = module.arange(made.numel(), dtype=module.float64).reshape(made.shape).cos()
        (made * weights).sum().backward()
        results.append([leaf.grad for leaf in leaves])
    assert made.is_eager
    for expected, found in zip(*results, strict=True):
        assert (expected is None) == (found is None)
        if expected is not None:
            assert found.is_eager
            numpy.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-8, 1e-10)


def test_complex_numbers_with_gradients_settle_to_the_same_gradients() -> None:
    found = []
    for settles in (False, True):
        x = torch.tensor(X, requires_grad=True)
        spectrum = torch.fft.fft(x) * (1 + 2j)
        if settles:
            spectrum.node  # noqa: B018
        (spectrum.abs() ** 2).sum().backward()
        found.append(x.grad.numpy())
    numpy.testing.assert_allclose(found[1], found[0], 1e-4, 1e-4)


def test_a_gradient_of_a_gradient_through_complex_numbers_is_pytorchs() -> None:
    found = []
    for module in (pytorch, torch):
        x = module.tensor(X, requires_grad=True)
        loss = (module.fft.rfft(x).abs() ** 3).sum()
        (first,) = module.autograd.grad(loss, x, create_graph=True)
        (second,) = module.autograd.grad((first * first).sum(), x)
        found.append(second.numpy())
    numpy.testing.assert_allclose(found[1], found[0], 1e-3, 1e-2)


def test_a_complex_leaf_gets_a_gradient() -> None:
    found = []
    for module in (pytorch, torch):
        z = module.tensor(Z, requires_grad=True)
        (z * z.conj()).real.sum().backward()
        found.append(z.grad.resolve_conj().numpy() if module is pytorch else z.grad.numpy())
    numpy.testing.assert_allclose(found[1], found[0], 1e-4, 1e-5)
