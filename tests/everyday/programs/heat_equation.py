"""The heat equation by slices, by a convolution, and an implicit step by a linear solve."""


def main(T, nn, F, optim, np):
    n = 24
    u = T.zeros(n, n)
    u[0, :] = 100.0
    u[n // 2 - 2:n // 2 + 2, n // 2 - 2:n // 2 + 2] = 50.0
    v = u.clone()
    kernel = T.tensor([[0.0, 1, 0], [1, -4, 1], [0, 1, 0]]).view(1, 1, 3, 3)
    changes = []
    for step in range(60):
        new = u.clone()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.2 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        changes.append((new - u).abs().max().item())
        u = new
        v[1:-1, 1:-1] += 0.2 * F.conv2d(v[None, None], kernel)[0, 0]
    m = 30
    L = T.diag(T.full((m,), 2.0)) - T.diag(T.ones(m - 1), 1) - T.diag(T.ones(m - 1), -1)
    w = T.sin(T.linspace(0, 3.14159, m))
    for _ in range(10):
        w = T.linalg.solve(T.eye(m) + 0.5 * L, w)
    return {"u": u.numpy(), "v": v.numpy(), "changes": changes, "w": w.numpy(),
            "same": int(T.allclose(u, v, atol=1e-3))}
