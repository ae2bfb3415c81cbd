"""Hypernetwork by functional linear layers, FiLM, conditional batch norm, weight decay by hand; einsum with ellipsis."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(12)
    hyper = nn.Sequential(nn.Linear(3, 16), nn.ELU(), nn.Linear(16, 4 * 6 + 6 + 6 + 1))
    film = nn.Linear(3, 12)
    for p in [*hyper.parameters(), *film.parameters()]:
        p.data = T.tensor(r.normal(size=tuple(p.shape)).astype("float32")) * 0.2
    opt = optim.Adam(
        [*hyper.parameters(), *film.parameters()], lr=5e-3, weight_decay=1e-3, amsgrad=True
    )
    z = T.tensor(r.normal(size=(5, 3)).astype("float32"))
    x = T.tensor(r.normal(size=(5, 10, 4)).astype("float32"))
    y = (x * z[:, :1, None]).sum(-1)
    log = []
    for i in range(10):
        w = hyper(z)
        w1, b1, w2, b2 = w.split([24, 6, 6, 1], 1)
        h = T.einsum("...ni,...io->...no", x, w1.view(5, 4, 6)) + b1[:, None]
        g, b = film(z).chunk(2, -1)
        h = T.tanh(h * (1 + g[:, None]) + b[:, None])
        o = T.baddbmm(b2[:, :, None], h, w2[..., None]).squeeze(-1)
        loss = F.mse_loss(o, y) + 1e-3 * sum(p.square().sum() for p in film.parameters())
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return {"log": log, "o": o.detach()[:, :2].numpy()}
