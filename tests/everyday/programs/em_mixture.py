"""Expectation-maximization for a mixture with full covariances: cholesky, solve_triangular, logsumexp."""
TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(33)
    X = T.tensor(np.concatenate([r.normal(m, 0.5, (60, 2)) for m in ([0, 0], [3, 1], [-2, 3])]))
    k, n, d = 3, *X.shape
    mu = X[[0, 60, 120]].clone()
    cov = T.eye(d, dtype=X.dtype).repeat(k, 1, 1)
    pi = T.full((k,), 1 / k, dtype=X.dtype)
    likes = []
    for it in range(15):
        L = T.linalg.cholesky(cov)
        diff = X.unsqueeze(0) - mu.unsqueeze(1)
        z = T.linalg.solve_triangular(L, diff.transpose(1, 2), upper=False)
        logdet = 2 * L.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        logp = -0.5 * ((z ** 2).sum(1) + logdet[:, None] + d * np.log(2 * np.pi)) + pi.log()[:, None]
        norm = T.logsumexp(logp, 0)
        resp = (logp - norm).exp()
        Nk = resp.sum(1)
        mu = resp @ X / Nk[:, None]
        diff = X[None] - mu[:, None]
        cov = T.einsum("kn,kni,knj->kij", resp, diff, diff) / Nk[:, None, None] + 1e-6 * T.eye(d, dtype=X.dtype)
        pi = Nk / n
        likes.append(norm.mean().item())
    return {"likes": likes, "mu": mu.numpy(), "cov": cov.numpy(), "pi": pi.numpy(), "hard": resp.argmax(0).numpy()}
