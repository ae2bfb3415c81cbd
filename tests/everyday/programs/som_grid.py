"""A self-organizing map."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(7)
    data = T.tensor(r.random((150, 3)), dtype=T.float32)
    W = T.tensor(r.random((6, 6, 3)), dtype=T.float32)
    gx, gy = T.meshgrid(T.arange(6), T.arange(6), indexing="ij")
    grid = T.stack([gx, gy], -1).float()
    for t, v in enumerate(data):
        d = (W - v).pow(2).sum(-1)
        i = divmod(int(d.argmin()), 6)
        sigma = 3 * (1 - t / 150) + 0.5
        h = T.exp(-(grid - T.tensor(i, dtype=T.float32)).pow(2).sum(-1) / (2 * sigma**2))
        W += 0.3 * (1 - t / 150) * h.unsqueeze(-1) * (v - W)
    u = F.unfold(W.permute(2, 0, 1)[None], 3, padding=1)
    return {"W": W, "umean": u.mean(1), "q": T.cdist(data, W.view(-1, 3)).min(1).values.mean()}
