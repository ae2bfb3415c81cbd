"""Mandelbrot counts and Newton fractals with complex tensors."""


def main(T, nn, F, optim, np):
    re, im = T.linspace(-2, 0.6, 40), T.linspace(-1.2, 1.2, 30)
    c = T.complex(re[None, :].expand(30, 40).contiguous(), im[:, None].expand(30, 40).contiguous())
    z = T.zeros_like(c)
    counts = T.zeros(30, 40, dtype=T.int32)
    for _ in range(25):
        inside = z.abs() <= 2
        counts += inside.int()
        z = T.where(inside, z * z + c, z)
    w = c.clone() + 0.01
    for _ in range(12):
        w = w - (w ** 3 - 1) / (3 * w ** 2)
    roots = T.exp(2j * np.pi * T.arange(3) / 3)
    which = (w.unsqueeze(-1) - roots).abs().argmin(-1)
    return {"counts": counts.numpy(), "which": which.numpy(), "real": roots.real.numpy(), "imag": roots.imag.numpy()}
