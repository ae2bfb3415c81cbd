"""Optimal transport by Sinkhorn's iteration in log space, with gradients to the points."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(126)
    x = T.tensor(r.normal(size=(15, 2)).astype("float32"), requires_grad=True)
    y = T.tensor((r.normal(size=(20, 2)) + 2).astype("float32"))
    loga = T.full((15,), 1 / 15).log()
    logb = T.full((20,), 1 / 20).log()
    eps, costs = 0.5, []
    for outer in range(3):
        C = ((x[:, None] - y[None]) ** 2).sum(-1)
        f, g = T.zeros(15), T.zeros(20)
        for it in range(15):
            f = eps * (loga - T.logsumexp((g[None, :] - C) / eps, dim=1))
            g = eps * (logb - T.logsumexp((f[:, None] - C) / eps, dim=0))
        plan = T.exp((f[:, None] + g[None, :] - C) / eps)
        cost = (plan * C).sum()
        x.grad = None
        cost.backward()
        with T.no_grad():
            x -= 2.0 * x.grad
        costs.append(cost.item())
    return {"costs": costs, "rows": plan.sum(1).detach().numpy(), "x": x.detach().numpy()}
