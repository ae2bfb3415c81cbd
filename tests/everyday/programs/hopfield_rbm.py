"""Older networks: a perceptron, Hopfield memory, a restricted Boltzmann machine by CD-1, a self-organizing map, Hebb, an echo state net."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(31)
    patterns = T.tensor(np.sign(r.normal(size=(3, 36)))).float()
    W = patterns.t().mm(patterns) / 36
    W.fill_diagonal_(0)
    s = patterns[0].clone()
    s[:8] *= -1
    for _ in range(3):
        for i in range(36):
            s[i] = 1.0 if T.dot(W[i], s) >= 0 else -1.0
    energy = -0.5 * s @ W @ s
    V = T.tensor(r.random((20, 12)) < 0.4).float()
    w, a, b = T.tensor(r.normal(size=(12, 6)) * 0.1).float(), T.zeros(12), T.zeros(6)
    for e in range(15):
        ph = T.sigmoid(V @ w + b)
        h = (T.tensor(r.random((20, 6))).float() < ph).float()
        pv = T.sigmoid(h @ w.T + a)
        ph2 = T.sigmoid(pv @ w + b)
        w += 0.1 * (V.T @ ph - pv.T @ ph2) / 20
        a += 0.1 * (V - pv).mean(0)
        b += 0.1 * (ph - ph2).mean(0)
    grid = T.stack(T.meshgrid(T.arange(5.0), T.arange(5.0), indexing="ij"), -1).view(25, 2)
    som = T.tensor(r.random((25, 3))).float()
    for t in range(60):
        x = T.tensor(r.random(3)).float()
        best = (som - x).pow(2).sum(1).argmin()
        d = (grid - grid[best]).pow(2).sum(1)
        som += (
            0.3
            * (1 - t / 60)
            * T.exp(-d / (2 * (2 * (1 - t / 60) + 0.1) ** 2)).unsqueeze(1)
            * (x - som)
        )
    X = T.tensor(r.normal(size=(40, 2))).float()
    y = T.where(X[:, 0] + 2 * X[:, 1] > 0.1, 1.0, -1.0)
    p, bias, errors = T.zeros(2), 0.0, []
    for e in range(5):
        wrong = 0
        for xi, yi in zip(X, y):
            if yi.item() * (p.dot(xi).item() + bias) <= 0:
                p += yi * xi
                bias += yi.item()
                wrong += 1
        errors.append(wrong)
    R = T.tensor(r.normal(size=(30, 30))).float()
    R *= 0.9 / T.linalg.eigvals(R).abs().max()
    win = T.tensor(r.uniform(-1, 1, 30)).float()
    state, states = T.zeros(30), []
    u = T.sin(T.arange(80) * 0.3)
    for t in range(79):
        state = 0.7 * state + 0.3 * T.tanh(R @ state + win * u[t])
        states.append(state)
    S = T.stack(states[20:])
    out = T.linalg.solve(S.T @ S + 1e-2 * T.eye(30), S.T @ u[21:80])
    return {
        "s": s.numpy(),
        "energy": energy.item(),
        "w": w.numpy(),
        "som": som.numpy(),
        "p": p.numpy(),
        "errors": errors,
        "fit": (S @ out).numpy(),
    }
