"""Speech: framed spectra on a mel scale, a recurrent net over frames, the CTC loss."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 2e-3


def mel_filters(mels, bins, rate=8000):
    top = 2595 * math.log10(1 + rate / 2 / 700)
    hertz = 700 * (10 ** (torch.linspace(0, top, mels + 2) / 2595) - 1)
    freqs = torch.linspace(0, rate / 2, bins)
    slopes = hertz.unsqueeze(0) - freqs.unsqueeze(1)
    width = hertz[1:] - hertz[:-1]
    down, up = -slopes[:, :-2] / width[:-1], slopes[:, 2:] / width[1:]
    return torch.clamp(torch.min(down, up), min=0.0)


def main(capture=lambda step: step):
    draws = Draws()
    wave = torch.sin(torch.arange(400) * 0.3).repeat(2, 1) + 0.1 * draws.normal(2, 400)
    spectrum = torch.stft(wave, 64, 32, window=torch.hann_window(64), return_complex=True)
    power = spectrum.abs().pow(2)
    mel = torch.log(torch.matmul(power.transpose(1, 2), mel_filters(6, 33)) + 1e-6)
    mel = (mel - mel.mean(dim=1, keepdim=True)) / (mel.std(dim=1, keepdim=True) + 1e-5)
    rnn = draws.fill(nn.GRU(6, 5, batch_first=True, bidirectional=True))
    head = draws.fill(nn.Linear(10, 4))
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-2)
    targets = torch.tensor([[1, 2, 3], [3, 1, 0]])
    lengths, sizes = torch.full((2,), mel.shape[1], dtype=torch.long), torch.tensor([3, 2])
    for _ in range(2):
        log_probs = F.log_softmax(head(rnn(mel)[0]), dim=-1).transpose(0, 1)
        loss = F.ctc_loss(log_probs, targets, lengths, sizes, blank=0, zero_infinity=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    path = log_probs.argmax(-1)[:, 0]
    said = [k for k in torch.unique_consecutive(path).tolist() if k != 0]
    return {"loss": loss, "mel": mel, "said": len(said)}


if __name__ == "__main__":
    show(main())
