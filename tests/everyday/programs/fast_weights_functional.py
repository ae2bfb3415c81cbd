"""torch.func style: vmap, grad, jacrev, hessian, functional_call, per-sample gradients, an influence of points, Newton's method."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(38)
    net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
    for p in net.parameters():
        p.data = T.tensor(r.normal(size=p.shape) * 0.4).float()
    X, y = T.tensor(r.normal(size=(10, 3))).float(), T.tensor(r.normal(size=(10, 1))).float()
    params = {k: v.detach() for k, v in net.named_parameters()}

    def loss(params, x, t):
        return ((T.func.functional_call(net, params, (x,)) - t) ** 2).mean()

    per_sample = T.func.vmap(T.func.grad(loss), in_dims=(None, 0, 0))(params, X, y)
    norms = T.stack([g.flatten(1).norm(dim=1) for g in per_sample.values()]).norm(dim=0)
    w = T.zeros(3)

    def logistic(w):
        z = X @ w
        t = (y.squeeze() > 0).float()
        return F.softplus(z).mean() - (t * z).mean() + 0.05 * w.dot(w)

    path = []
    for _ in range(4):
        g, H = T.func.grad(logistic)(w), T.func.hessian(logistic)(w)
        w = w - T.linalg.solve(H, g)
        path.append(logistic(w).item())
    J = T.func.jacrev(lambda x: T.stack([x[0] * x[1], x[2].sin(), x.prod()]))(
        T.tensor([1.0, 2.0, 0.5])
    )
    batched = T.vmap(T.dot)(X, X * 2)
    hv = T.autograd.functional.hvp(logistic, T.zeros(3), T.ones(3))[1]
    return {
        "norms": norms.numpy(),
        "w": w.numpy(),
        "path": path,
        "J": J.numpy(),
        "batched": batched.numpy(),
        "hv": hv.numpy(),
    }
