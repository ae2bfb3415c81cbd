"""Phases found for magnitudes: frames, transforms, overlap-add in place, polar numbers."""

TOL = (1e-2, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(40)
    n, hop = 64, 16
    x = T.tensor(r.standard_normal(800), dtype=T.float32)
    w = T.hann_window(n)

    def stft(s):
        frames = s.unfold(0, n, hop) * w
        return T.fft.rfft(frames)

    def istft(S, length):
        out, norm = T.zeros(length), T.zeros(length)
        for i, f in enumerate(T.fft.irfft(S, n=n)):
            out[i * hop : i * hop + n] += f * w
            norm[i * hop : i * hop + n] += w**2
        return out / norm.clamp(min=1e-3)

    mag = stft(x).abs()
    phase = T.tensor(r.uniform(-3, 3, tuple(mag.shape)), dtype=T.float32)
    for _ in range(5):
        y = istft(T.polar(mag, phase), 800)
        phase = T.angle(stft(y))
    return {"err": (stft(y).abs() - mag).norm() / mag.norm(), "mag": mag}
