"""Tracking: an extended Kalman filter with jacobians by autograd, a particle filter with systematic resampling."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(18)
    from_f = T.tensor([[1, 0.1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]])
    Q, R = 0.01 * T.eye(4), T.diag(T.tensor([0.1, 0.01]))

    def h(x):
        return T.stack([T.sqrt(x[0] ** 2 + x[2] ** 2), T.atan2(x[2], x[0])])

    truth = T.tensor([1.0, 0.5, 1.0, -0.2])
    x, P = T.tensor([1.2, 0.3, 0.8, 0.0]), T.eye(4)
    particles = T.tensor(r.normal(size=(200, 4)) * 0.3, dtype=T.float32) + x
    est, pf = [], []
    for k in range(25):
        truth = from_f @ truth
        z = h(truth) + T.tensor(r.normal(size=2) * [0.1, 0.05]).float()
        x, P = from_f @ x, from_f @ P @ from_f.T + Q
        H = T.autograd.functional.jacobian(h, x)
        S = H @ P @ H.T + R
        K = P @ H.T @ T.linalg.inv(S)
        x = x + K @ (z - h(x))
        P = (T.eye(4) - K @ H) @ P
        est.append(x)
        particles = particles @ from_f.T + 0.05 * T.tensor(r.normal(size=(200, 4))).float()
        px, py = particles[:, 0], particles[:, 2]
        guess = T.stack((px.square().add(py.square()).sqrt(), T.arctan2(py, px)), dim=-1)
        logw = -0.5 * (((guess - z) / T.tensor([0.3, 0.1])) ** 2).sum(-1)
        w = T.softmax(logw, 0)
        pf.append((w[:, None] * particles).sum(0))
        ess = 1 / w.pow(2).sum()
        if ess < 100:
            u = (T.arange(200) + 0.5) / 200
            idx = T.searchsorted(w.cumsum(0), u).clamp(max=199)
            particles = particles[idx]
    return {
        "est": T.stack(est).numpy(),
        "pf": T.vstack(pf)[:5].numpy(),
        "P": P.numpy(),
        "det": T.det(P).item(),
    }
