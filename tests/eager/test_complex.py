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


def test_gradients_flow_through_complex_numbers() -> None:
    found = []
    for module in (pytorch, torch):
        x = module.tensor(X, requires_grad=True)
        spectrum = module.fft.fft(x)
        (spectrum.abs() ** 2).sum().backward()
        found.append(x.grad.numpy())
    numpy.testing.assert_allclose(found[1], found[0], 1e-3, 1e-3)


def test_a_complex_leaf_gets_a_gradient() -> None:
    found = []
    for module in (pytorch, torch):
        z = module.tensor(Z, requires_grad=True)
        (z * z.conj()).real.sum().backward()
        found.append(z.grad.resolve_conj().numpy() if module is pytorch else z.grad.numpy())
    numpy.testing.assert_allclose(found[1], found[0], 1e-4, 1e-5)
