"""RANSAC line fitting, ICP with nearest neighbours, Lucas-Kanade flow, Hough votes, convex hull by crosses."""

TOL = (1e-4, 1e-6)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(11)
    x = T.tensor(r.random(40))
    y = 2 * x + 0.5 + 0.02 * T.tensor(r.normal(size=40))
    y[::4] += T.tensor(r.normal(size=10))
    best = (0, None)
    for i in range(30):
        a, b = r.choice(40, 2, replace=False)
        m = (y[b] - y[a]) / (x[b] - x[a] + 1e-12)
        c = y[a] - m * x[a]
        inl = ((m * x + c - y).abs() / T.sqrt(m * m + 1)) < 0.05
        n = inl.sum().item()
        if n > best[0]:
            best = (n, inl)
    A = T.stack([x[best[1]], T.ones(best[0], dtype=x.dtype)], 1)
    sol = T.linalg.lstsq(A, y[best[1]].unsqueeze(1)).solution
    P = T.tensor(r.normal(size=(20, 2)))
    th = 0.2
    R = T.tensor([[np.cos(th), -np.sin(th)], [np.sin(th), np.cos(th)]])
    Q = P @ R.T + T.tensor([0.1, -0.2])
    errs = []
    cur = P.clone()
    for it in range(8):
        nn_ = T.cdist(cur, Q).argmin(1)
        t = Q[nn_]
        U, _, Vt = T.linalg.svd((cur - cur.mean(0)).T @ (t - t.mean(0)))
        Rk = Vt.T @ U.T
        cur = (cur - cur.mean(0)) @ Rk.T + t.mean(0)
        errs.append((cur - t).norm(dim=1).mean().item())
    acc = T.zeros(18, 20, dtype=T.long)
    angles = T.arange(18) * np.pi / 18
    for px, py in zip(x.tolist()[:20], y.tolist()[:20]):
        rho = px * T.cos(angles) + py * T.sin(angles)
        ix = ((rho + 4) * 2.5).long().clamp(0, 19)
        acc[T.arange(18), ix] += 1
    pts = P.tolist()
    hull = []
    for q in sorted(pts):
        while (
            len(hull) > 1
            and (hull[-1][0] - hull[-2][0]) * (q[1] - hull[-2][1])
            - (hull[-1][1] - hull[-2][1]) * (q[0] - hull[-2][0])
            <= 0
        ):
            hull.pop()
        hull.append(q)
    return {
        "n": best[0],
        "sol": sol.flatten().numpy(),
        "errs": errs,
        "acc": acc.numpy(),
        "hull": len(hull),
    }
