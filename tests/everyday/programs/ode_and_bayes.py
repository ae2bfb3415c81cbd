"""Metropolis-Hastings, Hamiltonian Monte Carlo with autograd, Gibbs, Langevin; Lotka-Volterra fitted by gradients through Euler."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(36)
    prec = T.tensor([[2.0, 0.8], [0.8, 1.0]], dtype=T.float64)

    def logp(q):
        return -0.5 * q @ prec @ q

    def grad(q):
        q = q.detach().requires_grad_()
        return T.autograd.grad(logp(q), q)[0]

    q = T.zeros(2, dtype=T.float64)
    samples, accepted = [], 0
    for s in range(15):
        p = T.tensor(r.normal(size=2))
        old = logp(q) - 0.5 * p.dot(p)
        new, mom = q.clone(), p + 0.1 * grad(q)
        for k in range(4):
            new = new + 0.2 * mom
            mom = mom + (0.2 if k < 3 else 0.1) * grad(new)
        if r.random() < T.exp(logp(new) - 0.5 * mom @ mom - old).clamp(max=1):
            q, accepted = new, accepted + 1
        samples.append(q)
    x, chain = T.tensor(0.0), []
    for s in range(100):
        y = x + T.tensor(r.normal(), dtype=T.float32)
        ratio = (-((y - 1) ** 4) + (x - 1) ** 4).exp()
        if T.tensor(r.random()) < ratio:
            x = y
        chain.append(x.item())
    a, b, g = T.tensor(0.0), T.tensor(0.0), []
    for s in range(60):
        a = 0.6 * b + 0.8 * float(r.normal())
        b = 0.6 * a + 0.8 * float(r.normal())
        g.append(T.stack((a, b)))
    theta = nn.Parameter(T.tensor([0.9, 0.5, 0.4, 0.8]))
    opt = optim.Adam([theta], lr=0.02)

    def simulate(th):
        u = T.tensor([1.0, 0.8])
        path = [u]
        for k in range(25):
            x, y = u[0], u[1]
            du = T.stack([th[0] * x - th[1] * x * y, th[2] * x * y - th[3] * y])
            u = u + 0.1 * du
            path.append(u)
        return T.stack(path)

    target = simulate(T.tensor([1.1, 0.4, 0.3, 0.9])).detach()
    losses = []
    for it in range(4):
        opt.zero_grad()
        loss = ((simulate(theta) - target) ** 2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return {
        "samples": T.stack(samples).numpy(),
        "accepted": accepted,
        "chain": chain[::10],
        "gibbs": T.stack(g).mean(0).numpy(),
        "losses": losses,
        "theta": theta.detach().numpy(),
    }
