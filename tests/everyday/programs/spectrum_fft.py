"""Spectra of a signal: rfft, filters, convolution by FFT, and complex arithmetic by hand."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(151)
    t = T.linspace(0, 1, 128)
    x = T.sin(2 * T.pi * 5 * t) + 0.5 * T.sin(2 * T.pi * 20 * t) + 0.1 * T.tensor(r.normal(size=128).astype("float32"))
    X = T.fft.rfft(x)
    power = X.abs() ** 2
    peaks = power.topk(2).indices.sort().values
    freqs = T.fft.rfftfreq(128, d=1 / 128)
    low = T.fft.irfft(X * (freqs < 10), n=128)
    kernel = T.zeros(128)
    kernel[:5] = 0.2
    round_conv = T.fft.ifft(T.fft.fft(x) * T.fft.fft(kernel)).real
    c, z = T.complex(T.tensor(-0.4), T.tensor(0.6)), T.zeros(10, 10, dtype=T.complex64)
    ys, xs = T.meshgrid(T.linspace(-1, 1, 10), T.linspace(-1, 1, 10), indexing="ij")
    z = T.complex(xs, ys)
    count = T.zeros(10, 10, dtype=T.int32)
    for _ in range(6):
        inside = z.abs() < 2
        count += inside.int()
        z = T.where(inside, z * z + c, z)
    return {"power": power.numpy(), "peaks": peaks.numpy(), "low": low.numpy(), "conv": round_conv.numpy(), "count": count.numpy()}
