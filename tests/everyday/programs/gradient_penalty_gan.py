"""A tiny WGAN with a gradient penalty: a gradient of a gradient through a network."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(152)
    G = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
    D = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    for p in [*G.parameters(), *D.parameters()]:
        p.data = T.tensor((r.normal(size=tuple(p.shape)) * 0.5).astype("float32"))
    og = optim.Adam(G.parameters(), lr=0.01, betas=(0.5, 0.9))
    od = optim.Adam(D.parameters(), lr=0.01, betas=(0.5, 0.9))
    log = []
    for step in range(5):
        real = T.tensor((r.normal(size=(16, 2)) + 2).astype("float32"))
        fake = G(T.tensor(r.normal(size=(16, 2)).astype("float32"))).detach()
        eps = T.tensor(r.random((16, 1)).astype("float32"))
        mid = (eps * real + (1 - eps) * fake).requires_grad_(True)
        g = T.autograd.grad(D(mid).sum(), mid, create_graph=True)[0]
        penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
        loss_d = D(fake).mean() - D(real).mean() + 10 * penalty
        od.zero_grad()
        loss_d.backward()
        od.step()
        loss_g = -D(G(T.tensor(r.normal(size=(16, 2)).astype("float32")))).mean()
        og.zero_grad()
        loss_g.backward()
        og.step()
        log.append([loss_d.item(), loss_g.item(), penalty.item()])
    return {"log": log, "w": G[2].weight.detach().numpy()}
