"""An ensemble by stacked parameters and vmap; per-sample gradients; Jacobians of a network; randomness off."""


def main(T, nn, F, optim, np):
    from importlib import import_module

    fn = import_module(T.__name__ + ".func")
    r = np.random.default_rng(5)

    def make():
        m = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
        with T.no_grad():
            for p in m.parameters():
                p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.5))
        return m

    models = [make() for _ in range(4)]
    params, buffers = fn.stack_module_state(models)
    base = models[0]
    x = T.tensor(r.normal(size=(6, 3)).astype("float32"))
    y = T.tensor(r.integers(0, 2, 6))
    out = fn.vmap(lambda p, b, v: fn.functional_call(base, (p, b), (v,)), in_dims=(0, 0, None))(
        params, buffers, x
    )
    p0 = {k: v.detach() for k, v in base.named_parameters()}

    def loss(p, a, b):
        return F.cross_entropy(fn.functional_call(base, p, (a.unsqueeze(0),)), b.unsqueeze(0))

    per = fn.vmap(fn.grad(loss), in_dims=(None, 0, 0))(p0, x, y)
    log = []
    for i in range(4):
        g = fn.grad(lambda p: F.cross_entropy(fn.functional_call(base, p, (x,)), y))(p0)
        p0 = {k: p0[k] - 0.5 * g[k] for k in p0}
        log.append(F.cross_entropy(fn.functional_call(base, p0, (x,)), y).item())
    J = fn.vmap(fn.jacrev(lambda v: base(v)))(x)
    H = fn.hessian(lambda v: base(v).sum())(x[0])
    return {
        "out": out.detach().numpy(),
        "per": per["0.weight"].numpy(),
        "J": J.detach().numpy(),
        "H": H.detach().numpy(),
        "log": log,
    }
