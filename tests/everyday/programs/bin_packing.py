"""First fit and best fit bin packing, and a knapsack by dynamic programming."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(138)
    sizes = T.tensor(r.integers(1, 50, 40))
    order = T.argsort(sizes, descending=True, stable=True)
    space = T.full((40,), 100)
    place = T.full((40,), -1)
    for i in order:
        fits = (space >= sizes[i]).nonzero().flatten()
        bin = fits[0]
        space[bin] -= sizes[i]
        place[i] = bin
    best_space = T.full((40,), 100)
    for s in sizes:
        left = T.where(best_space >= s, best_space - s, T.tensor(10 ** 6))
        b = left.argmin()
        best_space[b] = best_space[b] - s
    weights, values = sizes[:15], T.tensor(r.integers(1, 30, 15))
    table = T.zeros(16, 121, dtype=T.long)
    for i in range(15):
        w, v = int(weights[i]), values[i]
        table[i + 1] = table[i]
        table[i + 1, w:] = T.maximum(table[i, w:], table[i, :121 - w] + v)
    used = (space < 100).sum().item()
    return {"place": place.numpy(), "used": used, "best": int((best_space < 100).sum()), "table": table[-1].numpy()}
