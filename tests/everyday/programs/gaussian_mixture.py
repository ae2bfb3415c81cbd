"""Expectation maximization for a mixture of Gaussians with full covariances."""

import math

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(107)
    points = np.concatenate([r.normal(size=(40, 2)) + m for m in ([0, 0], [4, 1], [-3, 3])])
    x = T.tensor(points)
    k, d = 3, 2
    mean = x[[0, 50, 100]].clone()
    cov = T.eye(d, dtype=T.float64).repeat(k, 1, 1)
    weight = T.full((k,), 1 / k, dtype=T.float64)
    history = []
    for it in range(12):
        parts = []
        for j in range(k):
            diff = x - mean[j]
            inv = T.linalg.inv(cov[j])
            quad = (diff @ inv * diff).sum(1)
            parts.append(-0.5 * (quad + T.logdet(cov[j]) + d * math.log(2 * math.pi)) + weight[j].log())
        logp = T.stack(parts, 1)
        total = T.logsumexp(logp, 1, keepdim=True)
        resp = (logp - total).exp()
        n = resp.sum(0)
        mean = (resp.T @ x) / n[:, None]
        for j in range(k):
            diff = x - mean[j]
            cov[j] = (resp[:, j, None] * diff).T @ diff / n[j] + 1e-6 * T.eye(d, dtype=T.float64)
        weight = n / n.sum()
        history.append(total.sum().item())
        if it and abs(history[-1] - history[-2]) < 1e-3:
            break
    return {"history": history, "mean": mean.numpy(), "cov": cov.numpy(), "label": resp.argmax(1).numpy()}
