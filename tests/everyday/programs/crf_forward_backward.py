"""A conditional random field: its loss, gradients and best path, step by step."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(45)
    em = T.tensor(r.standard_normal((12, 5)), dtype=T.float32, requires_grad=True)
    tr = T.tensor(r.standard_normal((5, 5)), dtype=T.float32, requires_grad=True)
    tags = T.tensor(r.integers(0, 5, 12))
    a = em[0]
    for t in range(1, 12):
        a = T.logsumexp(a[:, None] + tr, 0) + em[t]
    z = a.logsumexp(0)
    score = em[T.arange(12), tags].sum() + tr[tags[:-1], tags[1:]].sum()
    nll = z - score
    g = T.autograd.grad(nll, [em, tr])
    with T.no_grad():
        d, back = em[0], []
        for t in range(1, 12):
            m, ix = (d.unsqueeze(1) + tr).max(0)
            d = m + em[t]
            back.append(ix)
        path = [d.argmax().item()]
        for ix in reversed(back):
            path.append(ix[path[-1]].item())
    return {"nll": nll.detach(), "g0": g[0], "g1": g[1], "path": np.array(path[::-1])}
