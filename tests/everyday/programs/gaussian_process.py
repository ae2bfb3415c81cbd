"""Gaussian process regression: Cholesky, cholesky_solve, and the likelihood maximized by gradient."""

import math

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(121)
    x = T.linspace(0, 5, 25, dtype=T.float64)
    y = T.sin(x) + 0.1 * T.from_numpy(r.normal(size=25))
    xs = T.linspace(-1, 6, 40, dtype=T.float64)
    log_scale = T.tensor(0.0, dtype=T.float64, requires_grad=True)
    log_noise = T.tensor(-1.0, dtype=T.float64, requires_grad=True)

    def kernel(a, b):
        return T.exp(-0.5 * (a[:, None] - b[None, :]) ** 2 / log_scale.exp() ** 2)

    opt = optim.Adam([log_scale, log_noise], lr=0.1)
    losses = []
    for _ in range(8):
        K = kernel(x, x) + log_noise.exp() ** 2 * T.eye(25, dtype=T.float64)
        L = T.linalg.cholesky(K)
        alpha = T.cholesky_solve(y[:, None], L)
        loss = 0.5 * (y @ alpha[:, 0]) + L.diagonal().log().sum() + 0.5 * len(y) * math.log(2 * math.pi)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    with T.no_grad():
        K = kernel(x, x) + log_noise.exp() ** 2 * T.eye(25, dtype=T.float64)
        L = T.linalg.cholesky(K)
        Ks = kernel(x, xs)
        alpha = T.linalg.solve_triangular(L.T, T.linalg.solve_triangular(L, y[:, None], upper=False), upper=True)
        mean = (Ks.T @ alpha).squeeze()
        v = T.linalg.solve_triangular(L, Ks, upper=False)
        var = 1 - (v * v).sum(0)
    return {"losses": losses, "mean": mean.numpy(), "std": var.clamp(min=0).sqrt().numpy()}
