"""Rays marched to spheres, shaded by normals."""

TOL = (1e-2, 1e-2)


def main(T, nn, F, optim, np):
    ys, xs = T.meshgrid(T.linspace(-1, 1, 40), T.linspace(-1, 1, 40), indexing="ij")
    d = F.normalize(T.stack([xs, ys, T.full_like(xs, 1.5)], -1), dim=-1)
    p = T.zeros_like(d) + T.tensor([0.0, 0.0, -3.0])
    t = T.zeros(40, 40)
    hit = T.zeros(40, 40, dtype=T.bool)

    def sdf(q):
        a = q.norm(dim=-1) - 1
        b = (q - T.tensor([0.8, 0.3, -0.5])).norm(dim=-1) - 0.5
        return T.minimum(a, b)

    for _ in range(20):
        dist = sdf(p)
        hit = hit | (dist < 1e-3)
        step = T.where(hit, T.zeros_like(dist), dist)
        p = p + d * step[..., None]
        t += step
    e = 1e-3
    n = T.stack(
        [sdf(p + T.tensor(v)) - sdf(p - T.tensor(v)) for v in ([e, 0, 0], [0, e, 0], [0, 0, e])], -1
    )
    n = F.normalize(n, dim=-1)
    shade = (n @ F.normalize(T.tensor([1.0, -1.0, -1.0]), dim=0)).clamp(min=0) * hit
    return {"shade": shade, "depth": t.clamp(max=10), "hits": hit.sum()}
