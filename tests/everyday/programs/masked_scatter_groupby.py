"""Groups: sums, extremes, medians, and elements put where they belong."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(26)
    v = T.tensor(r.standard_normal(200), dtype=T.float32)
    g = T.tensor(r.integers(0, 12, 200))
    s = T.zeros(12).scatter_add_(0, g, v)
    c = T.zeros(12).index_add_(0, g, T.ones(200))
    mean = s / c
    mx = T.full((12,), -np.inf).scatter_reduce_(0, g, v, reduce="amax")
    pr = T.ones(12).scatter_reduce(0, g, v.abs() + 0.5, reduce="prod", include_self=True)
    centered = v - mean[g]
    var = T.zeros(12).scatter_add(0, g, centered**2) / c
    m = T.zeros(5, 10).masked_scatter_(T.tensor(r.random((5, 10)) > 0.5), v)
    order = T.argsort(g, stable=True)
    sizes = T.bincount(g, minlength=12)
    parts = T.split(v[order], sizes.tolist())
    med = T.stack([p.median() for p in parts])
    u, inv, cnt = T.unique(g, return_inverse=True, return_counts=True)
    p = T.index_put(T.zeros(12), (g,), v, accumulate=True)
    return {
        "mean": mean,
        "mx": mx,
        "pr": pr.log(),
        "var": var,
        "m": m,
        "med": med,
        "inv": inv,
        "p": p,
        "tk": T.take(v, g),
    }
