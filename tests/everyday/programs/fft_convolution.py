"""Convolution by FFT against conv1d, an autocorrelation, a low-pass filter, a spectrum's peaks."""
TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(13)
    x = T.tensor(r.normal(size=500), dtype=T.float32)
    k = T.tensor(np.hanning(31), dtype=T.float32)
    n = 500 + 31 - 1
    by_fft = T.fft.irfft(T.fft.rfft(x, n) * T.fft.rfft(k, n), n)
    direct = F.conv1d(x.view(1, 1, -1), k.flip(0).view(1, 1, -1), padding=30).view(-1)
    spec = T.fft.fft(x)
    power = spec.real ** 2 + spec.imag ** 2
    auto = T.fft.ifft(power.to(T.complex64)).real
    freq = T.fft.fftfreq(500)
    low = T.fft.ifft(spec * (freq.abs() < 0.1)).real
    shifted = T.fft.fftshift(power)
    return {"close": bool(T.allclose(by_fft, direct, atol=1e-3)), "fft": by_fft.numpy(), "auto": auto[:10].numpy(),
            "low": low.numpy(), "peak": int(shifted.argmax()), "parseval": (power.sum() / 500 - (x ** 2).sum()).abs().item() < 0.1}
