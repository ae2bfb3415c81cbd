"""Haar wavelets, complex exponentials, convolution theorem, Hilbert transform, quaternion and rotation matrices."""

import math


def main(T, nn, F, optim, np):
    r = np.random.default_rng(46)
    x = T.tensor(r.normal(size=64))
    co, cur = [], x
    while len(cur) > 1:
        a, d = (cur[::2] + cur[1::2]) / math.sqrt(2), (cur[::2] - cur[1::2]) / math.sqrt(2)
        co.append(d)
        cur = a
    rec = cur
    for d in reversed(co):
        rec = T.stack([(rec + d), (rec - d)], 1).flatten() / math.sqrt(2)
    X = T.fft.fft(x)
    h = T.zeros(64, dtype=T.float64)
    h[0] = h[32] = 1
    h[1:32] = 2
    an = T.fft.ifft(X * h)
    env = an.abs()
    k = T.exp(-T.arange(9.0, dtype=T.float64))
    conv = T.fft.irfft(T.fft.rfft(x, 72) * T.fft.rfft(k, 72), 72)
    w = T.exp(2j * math.pi * T.arange(8) / 8)
    dft = w ** T.arange(8)[:, None]
    z = T.polar(T.ones(3), T.tensor([0.1, 1.0, 2.0]))
    vr = T.view_as_real(z)
    zz = T.complex(vr[:, 0], -vr[:, 1])
    im = T.tensor(r.normal(size=(8, 8)))
    F2 = T.fft.fftshift(T.fft.fft2(im))
    ps = F2.abs() ** 2
    q = T.tensor([0.5, 0.5, 0.5, 0.5])
    a, b, c, d = q.unbind()
    R = T.stack(
        [
            1 - 2 * (c * c + d * d),
            2 * (b * c - a * d),
            2 * (b * d + a * c),
            2 * (b * c + a * d),
            1 - 2 * (b * b + d * d),
            2 * (c * d - a * b),
            2 * (b * d - a * c),
            2 * (c * d + a * b),
            1 - 2 * (b * b + c * c),
        ]
    ).view(3, 3)
    ex = T.matrix_exp(T.tensor([[0.0, -1.0], [1.0, 0.0]]))
    return {
        "rec": rec.numpy(),
        "env": env.numpy(),
        "conv": conv.numpy(),
        "dft": dft.real.numpy(),
        "zz": (z * zz).real.numpy(),
        "ps": ps.numpy(),
        "R": R.numpy(),
        "ex": ex.numpy(),
        "det": T.linalg.det(R).item(),
        "ang": z.angle().numpy(),
        "e": T.vander(T.tensor([1.0, 2, 3])).numpy(),
    }
