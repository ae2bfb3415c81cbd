"""Variational inference with a full Cholesky factor, reparameterized by given noise; triangular solves; Wishart-like priors."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(15)
    D = T.distributions
    m = T.zeros(3, requires_grad=True)
    raw = T.zeros(6, requires_grad=True)
    X = T.tensor(r.normal(size=(30, 3)).astype("float32"))
    y = X @ T.tensor([1.0, -2.0, 0.5])
    opt = optim.Adam([m, raw], lr=0.05)
    log = []
    il = T.tril_indices(3, 3)
    for i in range(10):
        L = T.zeros(3, 3)
        L[il[0], il[1]] = raw
        L = L.tril(-1) + T.diag_embed(L.diagonal().exp())
        eps = T.tensor(r.normal(size=(8, 3)).astype("float32"))
        w = m + eps @ L.T
        ll = D.Normal(w @ X.T, 0.5).log_prob(y).sum(1).mean()
        kl = 0.5 * ((L @ L.T).trace() + m @ m - 3 - 2 * L.diagonal().log().sum())
        loss = kl - ll
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    S = L.detach() @ L.detach().T
    mv = D.MultivariateNormal(m.detach(), scale_tril=L.detach())
    z = T.linalg.solve_triangular(L.detach(), (X - m.detach()).T, upper=False)
    A = S.clone().requires_grad_()
    T.linalg.cholesky(A).diagonal().log().sum().backward()
    return {
        "log": log,
        "lp": mv.log_prob(X[:5]).numpy(),
        "z": z[:, :4].numpy(),
        "g": A.grad.numpy(),
        "ent": mv.entropy().item(),
    }
