"""Log-densities, entropies and divergences of distributions, and their gradients."""


def main(T, nn, F, optim, np):
    D = T.distributions
    loc = T.tensor([0.0, 1.0, -1.0], requires_grad=True)
    scale = T.tensor([1.0, 0.5, 2.0], requires_grad=True)
    x = T.tensor([0.3, -0.2, 1.4])
    n = D.Normal(loc, scale)
    lp = n.log_prob(x).sum()
    lp.backward()
    out = {
        "normal": lp.item(),
        "gl": loc.grad.numpy(),
        "gs": scale.grad.numpy(),
        "ent": n.entropy().detach().numpy(),
        "cdf": n.cdf(x).detach().numpy(),
    }
    logits = T.tensor([[0.1, 0.5, -0.3], [1.0, -1.0, 0.0]], requires_grad=True)
    c = D.Categorical(logits=logits)
    a = T.tensor([2, 0])
    loss = -(c.log_prob(a) * T.tensor([1.0, -0.5])).mean() - 0.01 * c.entropy().mean()
    loss.backward()
    out.update(cat=loss.item(), cg=logits.grad.numpy(), probs=c.probs.detach().numpy())
    b = D.Bernoulli(probs=T.tensor([0.2, 0.7]))
    out["bern"] = b.log_prob(T.tensor([1.0, 0.0])).numpy()
    be = D.Beta(T.tensor([2.0, 0.5]), T.tensor([3.0, 0.5]))
    out["beta"] = be.log_prob(T.tensor([0.4, 0.9])).numpy()
    out["bmean"] = be.mean.numpy()
    g = D.Gamma(T.tensor([2.0]), T.tensor([1.5]))
    out["gamma"] = g.log_prob(T.tensor([0.7])).numpy()
    po = D.Poisson(T.tensor([3.0]))
    out["pois"] = po.log_prob(T.tensor([2.0])).numpy()
    ex = D.Exponential(T.tensor([1.5]))
    out["exp"] = ex.log_prob(T.tensor([0.4])).numpy()
    la = D.Laplace(T.tensor([0.0]), T.tensor([1.0]))
    out["lap"] = la.log_prob(T.tensor([0.4])).numpy()
    out["kl"] = D.kl_divergence(n, D.Normal(T.zeros(3), T.ones(3))).detach().numpy()
    out["klc"] = D.kl_divergence(c, D.Categorical(logits=T.zeros(2, 3))).detach().numpy()
    ind = D.Independent(D.Normal(T.zeros(4, 3), T.ones(4, 3)), 1)
    out["ind"] = ind.log_prob(x.expand(4, 3)).numpy()
    mix = D.MixtureSameFamily(
        D.Categorical(T.tensor([0.3, 0.7])), D.Normal(T.tensor([-1.0, 1.0]), T.tensor([0.5, 0.5]))
    )
    out["mix"] = mix.log_prob(x).numpy()
    out["shape"] = list(n.rsample((5, 2)).shape)
    out["u"] = D.Uniform(0.0, 2.0).log_prob(T.tensor(1.0)).item()
    out["mv"] = (
        D.MultivariateNormal(T.zeros(2), T.tensor([[2.0, 0.3], [0.3, 1.0]]))
        .log_prob(T.tensor([0.4, -0.1]))
        .item()
    )
    return out
