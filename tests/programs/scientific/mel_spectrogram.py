"""Sound as energies of bands, as coefficients, and back again."""

import math

import numpy
import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-3


def mel_filters(bins, bands, rate):
    top = 2595.0 * numpy.log10(1.0 + rate / 2 / 700.0)
    edges = 700.0 * (10.0 ** (torch.linspace(0, float(top), bands + 2) / 2595.0) - 1.0)
    frequencies = torch.linspace(0, rate / 2, bins)
    slopes = edges.unsqueeze(0) - frequencies.unsqueeze(1)
    widths = edges[1:] - edges[:-1]
    down, up = -slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]
    return torch.max(torch.zeros(1), torch.min(down, up))


def main():
    sound = Draws().normal(2, 400).requires_grad_()
    window = torch.hann_window(64)
    spectrum = torch.stft(sound, 64, 16, window=window, return_complex=True)
    power = spectrum.abs() ** 2
    mel = torch.matmul(power.transpose(-1, -2), mel_filters(33, 8, 16000)).transpose(-1, -2)
    loud = torch.log10(torch.clamp(mel, min=1e-5))
    loud = torch.maximum(loud, loud.max() - 8.0)
    turns = (torch.arange(8) + 0.5) * torch.arange(8).unsqueeze(1)
    coefficients = torch.matmul(torch.cos(math.pi / 8 * turns), loud)
    coefficients.pow(2).mean().backward()
    again = torch.istft(spectrum.detach(), 64, 16, window=window, length=400)
    echo = torch.fft.irfft(torch.fft.rfft(sound.detach()).abs() ** 2, n=400)
    return {
        "coefficients": coefficients, "gradient": sound.grad, "again": again, "echo": echo,
    }  # fmt: skip


if __name__ == "__main__":
    show(main())
