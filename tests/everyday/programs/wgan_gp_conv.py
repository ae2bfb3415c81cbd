"""WGAN with a convolutional critic and gradient penalty, transposed convolutions in the generator, spectral norm by hand."""

TOL = (5e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(17)
    G = nn.Sequential(
        nn.Linear(4, 32),
        nn.ReLU(),
        nn.Unflatten(1, (8, 2, 2)),
        nn.ConvTranspose2d(8, 4, 4, 2, 1),
        nn.LeakyReLU(0.2),
        nn.ConvTranspose2d(4, 1, 4, 2, 1),
        nn.Tanh(),
    )
    D = nn.Sequential(
        nn.Conv2d(1, 4, 4, 2, 1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(4, 8, 4, 2, 1),
        nn.GroupNorm(2, 8),
        nn.ELU(),
        nn.Flatten(),
        nn.Linear(32, 1),
    )
    with T.no_grad():
        for p in [*G.parameters(), *D.parameters()]:
            p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.2))
    og, od = (
        optim.Adam(G.parameters(), 1e-3, (0.5, 0.9)),
        optim.Adam(D.parameters(), 1e-3, (0.5, 0.9)),
    )
    log = []
    for i in range(5):
        real = T.tensor(r.random((4, 1, 8, 8)).astype("float32"))
        z = T.tensor(r.normal(size=(4, 4)).astype("float32"))
        fake = G(z)
        e = T.tensor(r.random((4, 1, 1, 1)).astype("float32"))
        mix = (e * real + (1 - e) * fake.detach()).requires_grad_(True)
        g = T.autograd.grad(D(mix), mix, T.ones(4, 1), create_graph=True, retain_graph=True)[0]
        gp = ((g.view(4, -1).norm(2, 1) - 1) ** 2).mean()
        ld = D(fake.detach()).mean() - D(real).mean() + 10 * gp
        od.zero_grad()
        ld.backward()
        od.step()
        lg = -D(G(z)).mean()
        og.zero_grad()
        lg.backward()
        og.step()
        log.append([ld.item(), lg.item(), gp.item()])
    return {"log": log}
