"""PageRank on a sparse graph by index_add and by a dense matrix; connected components by label spreading."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(22)
    n = 50
    src, dst = T.tensor(r.integers(0, n, (2, 200)))
    out = T.bincount(src, minlength=n)
    rank = T.full((n,), 1.0 / n)
    for it in range(60):
        flow = rank / out.clamp(min=1)
        new = T.zeros(n).index_add_(0, dst, flow[src])
        new = 0.85 * (new + rank[out == 0].sum() / n) + 0.15 / n
        delta = (new - rank).abs().sum()
        rank = new
        if delta < 1e-6:
            break
    A = T.zeros(n, n)
    A[dst, src] = 1.0
    labels = T.arange(n)
    while True:
        new = T.minimum(labels, labels.clone().scatter_reduce(0, dst, labels[src], "amin"))
        new = new.scatter_reduce(0, src, new[dst], "amin")
        if T.equal(new, labels):
            break
        labels = new
    return {"rank": rank.numpy(), "iterations": it, "labels": labels.numpy(), "order": rank.argsort(descending=True)[:10].numpy(),
            "trace": T.linalg.matrix_power(A, 3).trace().item()}
