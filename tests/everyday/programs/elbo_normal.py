"""Stochastic variational inference of a mean-field normal, with kl_divergence of distributions and rsample-like noise."""
TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    from importlib import import_module
    D = import_module(T.__name__ + ".distributions")
    r = np.random.default_rng(20)
    data = T.tensor(r.normal(2.0, 0.7, 50), dtype=T.float32)
    loc = T.tensor([0.0], requires_grad=True)
    raw = T.tensor([-1.0], requires_grad=True)
    opt = optim.Adam([loc, raw], lr=0.1)
    elbos = []
    for step in range(40):
        q = D.Normal(loc, F.softplus(raw))
        z = q.loc + q.scale * T.tensor(r.normal(size=(5, 1)), dtype=T.float32)
        like = D.Normal(z, 0.7).log_prob(data).sum(-1).mean()
        elbo = like - D.kl_divergence(q, D.Normal(T.zeros(1), T.ones(1) * 3)).sum()
        opt.zero_grad()
        (-elbo).backward()
        opt.step()
        elbos.append(elbo.item())
    b = D.Bernoulli(probs=T.tensor([0.2, 0.7]))
    c = D.Categorical(logits=T.tensor([[1.0, 2.0, 0.5], [0.0, 0.0, 0.0]]))
    g = D.Gamma(T.tensor(2.0), T.tensor(3.0))
    be = D.Beta(T.tensor(2.0), T.tensor(5.0))
    po = D.Poisson(T.tensor([3.0, 0.5]))
    return {"elbos": elbos, "loc": loc.item(), "b": b.log_prob(T.tensor([1.0, 0.0])).numpy(), "be": b.entropy().numpy(),
            "c": c.log_prob(T.tensor([1, 2])).numpy(), "ce": c.entropy().numpy(), "g": g.log_prob(T.tensor(0.7)).item(),
            "beta": be.log_prob(T.tensor(0.3)).item(), "gm": g.mean.item(), "po": po.log_prob(T.tensor([2.0, 1.0])).numpy()}
