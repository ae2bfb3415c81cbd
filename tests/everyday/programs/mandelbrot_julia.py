"""Fractals, by complex numbers and by pairs of real ones."""


def main(T, nn, F, optim, np):
    x = T.linspace(-2, 1, 60)
    y = T.linspace(-1.5, 1.5, 50)
    c = T.complex(x[None, :].expand(50, 60).contiguous(), y[:, None].expand(50, 60).contiguous())
    z = T.zeros_like(c)
    count = T.zeros(50, 60, dtype=T.int32)
    for _ in range(25):
        m = z.abs() <= 2
        z = T.where(m, z * z + c, z)
        count += m.int()
    zr, zi = T.meshgrid(x, y, indexing="xy")
    n = T.zeros(50, 60)
    for k in range(15):
        zr, zi = (zr * zr - zi * zi - 0.4).clamp(-4, 4), (2 * zr * zi + 0.6).clamp(-4, 4)
        n = T.where((zr**2 + zi**2 > 4) & (n == 0), float(k + 1), n)
    return {"count": count, "hist": T.bincount(count.flatten().long()), "julia": n}
