"""float64 numerics: Simpson and Gauss, bisection, power iteration, Gram-Schmidt, Runge-Kutta."""


def main(T, nn, F, optim, np):
    f64 = T.float64
    xs = T.linspace(0, 1, 101, dtype=f64)
    fx = T.exp(-xs ** 2)
    simpson = (fx[0] + fx[-1] + 4 * fx[1:-1:2].sum() + 2 * fx[2:-1:2].sum()) / 300
    trapezoid = T.trapezoid(fx, xs)
    low, high = T.tensor(0.0, dtype=f64), T.tensor(2.0, dtype=f64)
    steps = 0
    while (high - low).item() > 1e-10:
        mid = (low + high) / 2
        if mid ** 3 - mid - 1 > 0:
            high = mid
        else:
            low = mid
        steps += 1
    r = np.random.default_rng(148)
    A = T.from_numpy(r.normal(size=(6, 6)))
    S = A @ A.T
    v = T.ones(6, dtype=f64)
    for _ in range(60):
        w = S @ v
        v = w / w.norm()
    value = v.dot(S @ v)
    Q = T.zeros_like(A)
    for j in range(6):
        q = A[:, j].clone()
        for i in range(j):
            q -= (Q[:, i] @ A[:, j]) * Q[:, i]
        Q[:, j] = q / T.linalg.norm(q)
    y = T.tensor([1.0, 0.0], dtype=f64)
    M = T.tensor([[0.0, 1.0], [-1.0, -0.1]], dtype=f64)
    path = [y]
    for _ in range(50):
        k1 = M @ y
        k2 = M @ (y + 0.05 * k1)
        k3 = M @ (y + 0.05 * k2)
        k4 = M @ (y + 0.1 * k3)
        y = y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    err = (T.linalg.matrix_exp(M * 5) @ path[0] - y).abs().max().item()
    return {"simpson": simpson.item(), "trapezoid": trapezoid.item(), "root": low.item(), "steps": steps,
            "value": value.item(), "orth": (Q.T @ Q).numpy(), "path": T.stack(path).numpy(), "err": int(err < 1e-4)}
