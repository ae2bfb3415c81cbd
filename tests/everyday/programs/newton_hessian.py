"""Newton's method with Jacobians and Hessians of a function."""


def main(T, nn, F, optim, np):
    def f(v):
        return (v[0] - 1) ** 4 + (v[0] * v[1] - 2) ** 2 + T.exp(v[2] - 1) - v[2]

    x = T.tensor([2.0, 0.5, 0.0], dtype=T.float64)
    hist = []
    for _ in range(8):
        g = T.autograd.functional.jacobian(f, x)
        H = T.autograd.functional.hessian(f, x)
        x = x - T.linalg.solve(H + 1e-3 * T.eye(3, dtype=T.float64), g)
        hist.append(f(x).item())
    return {"x": x, "hist": np.array(hist), "eig": T.linalg.eigvalsh(H)}
