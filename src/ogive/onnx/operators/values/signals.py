"""Signals: Fourier transforms and windows."""

from __future__ import annotations

import numpy

from ogive.fft.fourier_transforms import fft, ifft, irfft
from ogive.onnx.call import Call, index_tensor
from ogive.onnx.elements import Array, find_dtype
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.elementwise.complex_numbers import complex as make_complex
from ogive.tensor.elementwise.complex_numbers import view_as_real
from ogive.tensor.tensor import Tensor


def _to_complex(x: Tensor) -> Tensor:
    """Parts along the last axis as numbers: real ones where there is one part."""
    return x[..., 0] if int(x.shape[-1]) == 1 else make_complex(x[..., 0], x[..., 1])


@operator("DFT")
def fourier(c: Call) -> Value:
    x = c.tensor(0)
    axis = (int(c.number(2)) if c.has(2) else -2) if c.version >= 20 else c.get("axis", 1)
    axis %= x.ndim
    length = int(c.number(1)) if c.has(1) else None
    one_sided = c.flag("onesided")
    signal = _to_complex(x)
    if c.flag("inverse") and one_sided:
        return irfft(signal, length, axis).unsqueeze(-1).cast(x.dtype)
    spectrum = ifft(signal, length, axis) if c.flag("inverse") else fft(signal, length, axis)
    if one_sided:
        spectrum = spectrum.narrow(axis, 0, shape_of(spectrum)[axis] // 2 + 1)
    return view_as_real(spectrum).cast(x.dtype)


@operator("STFT")
def short_time_fourier(c: Call) -> Value:
    x, step = c.tensor(0), int(c.number(1))
    window = c.optional(2)
    length = int(c.number(3)) if c.has(3) else shape_of(window if window is not None else x)[-1]
    if window is None and not c.has(3):
        length = shape_of(x)[1]
    signal = _to_complex(x if x.ndim == 3 else x.unsqueeze(-1))
    count = 1 + (shape_of(signal)[1] - length) // step
    places = numpy.arange(count)[:, None] * step + numpy.arange(length)
    frames = signal.index_select(1, index_tensor(places.reshape(-1)))
    frames = frames.reshape(shape_of(signal)[0], count, length)
    spectrum = fft(frames if window is None else frames * window)
    if c.flag("onesided", 1):
        spectrum = spectrum.narrow(2, 0, length // 2 + 1)
    return view_as_real(spectrum).cast(x.dtype)


def _window(c: Call, *factors: float) -> Array:
    """Σ factor[k]·cos(2πk·n/N), known."""
    size = int(c.number(0))
    period = size if c.flag("periodic", 1) else size - 1
    angles = 2 * numpy.pi * numpy.arange(size) / period
    window = sum(factor * numpy.cos(place * angles) for place, factor in enumerate(factors))
    return numpy.asarray(window).astype(find_dtype(c.get("output_datatype", 1)).numpy)


@operator("HannWindow", known=True)
def hann_window(c: Call) -> Value:
    return _window(c, 0.5, -0.5)


@operator("HammingWindow", known=True)
def hamming_window(c: Call) -> Value:
    return _window(c, 25 / 46, -21 / 46)


@operator("BlackmanWindow", known=True)
def blackman_window(c: Call) -> Value:
    return _window(c, 0.42, -0.5, 0.08)


@operator("MelWeightMatrix", known=True)
def mel_weights(c: Call) -> Value:
    bins, length, rate = (int(c.number(place)) for place in range(3))
    low, high = (2595 * numpy.log10(1 + c.number(place) / 700) for place in (3, 4))
    mels = numpy.arange(bins + 2) * ((high - low) / (bins + 2)) + low
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = ((length + 1) * hertz // rate).astype(int)
    weights = numpy.zeros((length // 2 + 1, bins))
    for place in range(bins):
        left, center, right = edges[place : place + 3]
        if left == center:
            weights[center, place] = 1
        else:
            rising = numpy.arange(left, center + 1)
            weights[rising, place] = (rising - left) / (center - left)
        falling = numpy.arange(center, right)
        weights[falling, place] = (right - falling) / max(right - center, 1)
    return weights.astype(find_dtype(c.get("output_datatype", 1)).numpy)
