"""Windows and spectra of short times, where PyTorch's own samples do not reach."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, ShapeError
from tests.raising import raises


@pytest.mark.parametrize("settings", [
    {}, {"hop_length": 3}, {"center": False}, {"normalized": True}, {"onesided": False},
    {"win_length": 7},
])  # fmt: skip
def test_a_signal_comes_back_from_its_spectra(settings: dict[str, Any]) -> None:
    signal = numpy.random.default_rng(1).normal(size=(2, 50))
    length = int(settings.get("win_length", 10))
    window = numpy.hanning(length + 2)[1:-1]
    shared: dict[str, Any] = {"n_fft": 10, **settings}
    spectra = ogive.stft(Tensor(signal), window=Tensor(window), **shared)
    theirs = torch.stft(
        torch.tensor(signal), window=torch.tensor(window), return_complex=True, **shared
    )
    numpy.testing.assert_allclose(spectra.numpy(), theirs.numpy(), atol=1e-12)
    back = ogive.istft(spectra, window=Tensor(window), **shared).numpy()
    inner = slice(10, back.shape[1] - 10)
    numpy.testing.assert_allclose(back[:, inner], signal[:, inner], atol=1e-10)


def test_gradients_go_through_spectra() -> None:
    signal = numpy.random.default_rng(2).normal(size=40)
    x, y = Tensor(signal, requires_grad=True), torch.tensor(signal, requires_grad=True)
    ogive.stft(x, 8).abs().square().sum().backward()
    torch.stft(y, 8, return_complex=True).abs().square().sum().backward()
    assert x.grad is not None and y.grad is not None
    numpy.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), atol=1e-10)


def test_what_has_no_spectra_is_refused() -> None:
    with raises(ShapeError, match="fewer than a piece"):
        ogive.stft(ogive.ones(3), 8, center=False)
    with raises(ArgumentError, match="win_length"):
        ogive.stft(ogive.ones(30), 8, win_length=9)
    with raises(ShapeError, match="frequencies"):
        ogive.istft(ogive.ones(4, 3) + 0j, 8)


def test_windows_have_as_many_elements_as_asked_for() -> None:
    windows = ogive.signal.windows
    assert [windows.hann(count).tolist() for count in (0, 1)] == [[], [1.0]]
    assert windows.kaiser(5, dtype="float64").dtype is ogive.float64
    with raises(ArgumentError, match="M=-1"):
        windows.hann(-1)
    with raises(ArgumentError, match="std"):
        windows.gaussian(3, std=0.0)
