"""Support vectors: hinge loss by Pegasos, a kernel machine by dual ascent, kernel ridge, spectral clustering, DBSCAN."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(25)
    X = T.tensor(np.concatenate([r.normal(size=(30, 2)) - 1, r.normal(size=(30, 2)) + 1])).float()
    y = T.cat([-T.ones(30), T.ones(30)])
    w, b = T.zeros(2), T.zeros(1)
    for t in range(1, 151):
        i = int(r.integers(60))
        eta = 1 / (0.1 * t)
        if y[i] * (w @ X[i] + b) < 1:
            w = (1 - eta * 0.1) * w + eta * y[i] * X[i]
            b = b + 0.01 * y[i]
        else:
            w = (1 - eta * 0.1) * w
    D = T.cdist(X, X)
    K = T.exp(-(D**2) / 2)
    alpha = T.zeros(60)
    for _ in range(40):
        g = 1 - y * (K @ (alpha * y))
        alpha = T.clamp(alpha + 0.05 * g, 0, 1)
    ridge = T.linalg.solve(K + 0.1 * T.eye(60), y.unsqueeze(-1)).squeeze(-1)
    L = T.linalg.cholesky(K + 0.1 * T.eye(60))
    ridge2 = T.cholesky_solve(y[:, None], L)[:, 0]
    W = (D < 1.0).float() - T.eye(60)
    deg = W.sum(1).clamp(min=1)
    lap = T.eye(60) - W / T.sqrt(deg[:, None] * deg[None, :])
    values = T.linalg.eigvalsh(lap)
    labels = T.full((60,), -1)
    cluster = 0
    near = D <= 0.7
    core = near.sum(1) >= 4
    for i in range(60):
        if labels[i] != -1 or not core[i]:
            continue
        stack = [i]
        while stack:
            j = stack.pop()
            if labels[j] != -1:
                continue
            labels[j] = cluster
            if core[j]:
                stack.extend(T.nonzero(near[j] & (labels == -1)).flatten().tolist())
        cluster += 1
    return {
        "w": w.numpy(),
        "b": b.numpy(),
        "alpha": alpha.numpy(),
        "ridge": ridge.numpy(),
        "ok": T.allclose(ridge, ridge2, atol=1e-3),
        "values": values[:5].numpy(),
        "labels": labels.numpy(),
        "clusters": cluster,
    }
