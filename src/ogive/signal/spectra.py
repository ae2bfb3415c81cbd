"""The short-time Fourier transform of a signal, and its inverse."""

from __future__ import annotations

from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.fft import fft, ifft, irfft, rfft
from ogive.named import NamedTuple
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device, to_integer
from ogive.tensor.creation.constructors import ones
from ogive.tensor.elementwise.complex_numbers import complex, view_as_real
from ogive.tensor.tensor import Tensor


class Pieces(NamedTuple):
    """The length of the pieces of a signal, their distance, and their window."""

    length: int
    step: int
    window: Tensor


@widened
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool = True,
) -> Tensor:
    """Compute the short-time Fourier transform: that of each piece of a signal, times a window.

    Shapes: (length,) or (batch, length) → (..., frequencies, pieces). There are n_fft // 2 + 1
    frequencies for real signals; n_fft for complex ones, and without `onesided`. Pieces are `n_fft`
    long and `hop_length` apart, n_fft // 4 by default. With `center` the signal is padded by half a
    piece on both sides, by `pad_mode`, so that piece t is centred at element t · hop_length.
    `normalized` divides by √n_fft. Without `return_complex`, the real and imaginary parts are along
    a last axis.

    >>> ogive.stft(ogive.ones(8), 4, center=False).shape
    (3, 5)

    Raises `ShapeError` for a signal shorter than a piece, and `ArgumentError` for lengths that do
    not fit.
    """
    pieces = _to_pieces(n_fft, hop_length, win_length, window, input, "stft")
    if input.ndim not in (1, 2):
        raise ShapeError(f"stft: input has the shape {input.shape}; expected (batch, length)")
    x = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        half = pieces.length // 2
        x = x.unsqueeze(1).pad((half, half), pad_mode).squeeze(1)
    if x.shape[1] < pieces.length:
        raise ShapeError(f"stft: {x.shape[1]} elements are fewer than a piece, n_fft={n_fft}")
    frames = x.unfold(1, pieces.length, pieces.step) * pieces.window
    is_half = not frames.dtype.is_complex if onesided is None else onesided
    if is_half and frames.dtype.is_complex:
        raise ArgumentError("stft: onesided=True goes with real numbers")
    norm = "ortho" if normalized else None
    transforms = (rfft if is_half else fft)(frames, norm=norm).transpose(1, 2)
    transforms = transforms if input.ndim == 2 else transforms.squeeze(0)
    return transforms if return_complex else view_as_real(transforms)


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Invert `stft`: overlap and add the pieces, and divide by the sum of their squared windows.

    Shapes: (frequencies, pieces) or (batch, frequencies, pieces), complex → (..., length). The
    default length is that which the pieces cover, without the padding of `center`.

    >>> spectra = ogive.stft(Tensor([1.0, 2.0, 3.0, 4.0]), 4)
    >>> ogive.istft(spectra, 4).round().tolist()
    [1.0, 2.0, 3.0, 4.0]

    Raises `ShapeError` if `input` does not fit `n_fft`, and `ArgumentError` for a complex signal
    with half of the frequencies.
    """
    pieces = _to_pieces(n_fft, hop_length, win_length, window, input, "istft")
    if input.ndim not in (2, 3) or not input.dtype.is_complex:
        raise ShapeError(
            f"istft: input is {input.dtype.name} of shape {input.shape}; expected complex numbers "
            "(batch, frequencies, pieces)"
        )
    x = input if input.ndim == 3 else input.unsqueeze(0)
    is_half = x.shape[1] != pieces.length if onesided is None else onesided
    if x.shape[1] != (pieces.length // 2 + 1 if is_half else pieces.length):
        raise ShapeError(f"istft: {x.shape[1]} frequencies do not fit n_fft={n_fft}")
    norm = "ortho" if normalized else None
    lines = x.transpose(1, 2)
    if return_complex and is_half:
        raise ArgumentError("istft: a complex signal needs all frequencies, onesided=False")
    # One half of the spectrum of a real signal determines the other.
    half = lines[..., : pieces.length // 2 + 1]
    whole = ifft(lines, norm=norm) if return_complex else irfft(half, pieces.length, norm=norm)
    total = _overlaid(whole * pieces.window, pieces.step)
    squares = pieces.window.square().expand(1, x.shape[2], pieces.length)
    weight = _overlaid(squares, pieces.step)
    begin = pieces.length // 2 if center else 0
    end = total.shape[1] - begin if length is None else begin + length
    signal = total[:, begin:end] / weight[:, begin:end]
    missing = end - begin - signal.shape[1]
    signal = signal.pad((0, missing)) if missing > 0 else signal
    return signal if input.ndim == 3 else signal.squeeze(0)


def _to_pieces(
    n_fft: int, hop: int | None, width: int | None, window: Tensor | None, x: Tensor, name: str
) -> Pieces:
    size = to_integer(n_fft, f"{name}: n_fft")
    step = size // 4 if hop is None else to_integer(hop, f"{name}: hop_length")
    length = size if width is None else to_integer(width, f"{name}: win_length")
    if size < 1 or step < 1 or not 0 < length <= size:
        raise ArgumentError(
            f"{name}: n_fft={size} and hop_length={step} must be positive, and win_length={length} "
            "at most n_fft"
        )
    factor = window
    if factor is None:
        factor = ones(length, dtype=x.dtype.part, device=memory_device(x))
    if factor.shape != (length,):
        raise ShapeError(f"{name}: window has the shape {factor.shape}; expected ({length},)")
    before = (size - length) // 2
    if length < size:
        factor = factor.pad((before, size - length - before))
    return Pieces(size, step, factor)


def _overlaid(frames: Tensor, step: int) -> Tensor:
    """Overlap and add pieces. Shapes: (batch, pieces, length) → (batch, n)."""
    if frames.dtype.is_complex:
        return complex(_overlaid(frames.real, step), _overlaid(frames.imag, step))
    _, count, length = frames.shape
    total = (count - 1) * step + length
    columns = frames.transpose(1, 2)
    folded: Any = columns.fold_windows((1, total), (1, length), stride=(1, step))
    overlaid: Tensor = folded.reshape(frames.shape[0], total)
    return overlaid
