"""Evolution: OpenAI-ES on Rosenbrock, a genetic algorithm with bit strings, differential evolution, particle swarm."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(11)

    def rosen(x):
        return (100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2).sum(-1)

    w = T.zeros(5, dtype=T.float64)
    for g in range(30):
        e = T.from_numpy(r.normal(size=(20, 5)))
        f = -rosen(w + 0.1 * e)
        ranks = f.argsort().argsort().double() / 19 - 0.5
        w = w + 0.05 * (ranks @ e) / 20 / 0.1
    pop = T.from_numpy(r.integers(0, 2, (24, 30)))
    for g in range(20):
        fit = pop.sum(1)
        order = T.argsort(fit, descending=True, stable=True)
        parents = pop[order[:12]]
        cut = T.from_numpy(r.integers(1, 29, 12))
        mask = T.arange(30)[None] < cut[:, None]
        children = T.where(mask, parents, parents.roll(1, 0))
        flip = T.from_numpy(r.random(children.shape) < 0.02)
        children = children ^ flip.long()
        pop = T.cat([parents, children])
    x = T.from_numpy(r.uniform(-2, 2, (15, 4)))
    v = T.zeros_like(x)
    best, bestf = x.clone(), rosen(x)
    for g in range(30):
        lead = best[bestf.argmin()]
        v = (
            0.7 * v
            + 1.4 * T.from_numpy(r.random(x.shape)) * (best - x)
            + 1.4 * T.from_numpy(r.random(x.shape)) * (lead - x)
        )
        x = x + v
        f = rosen(x)
        better = f < bestf
        best[better] = x[better]
        bestf = T.where(better, f, bestf)
    d = T.from_numpy(r.uniform(-2, 2, (12, 4)))
    for g in range(15):
        for i in range(12):
            a, b, c = r.choice(12, 3, replace=False)
            trial = d[a] + 0.8 * (d[b] - d[c])
            cross = T.from_numpy(r.random(4) < 0.9)
            trial = T.where(cross, trial, d[i])
            if rosen(trial) < rosen(d[i]):
                d[i] = trial
    return {
        "w": w.numpy(),
        "fit": pop.sum(1).max().item(),
        "pso": bestf.min().item(),
        "lead": lead.numpy(),
        "de": d.numpy(),
    }
