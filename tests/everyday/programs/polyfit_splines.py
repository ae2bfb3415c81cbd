"""Polynomials and splines through points, by least squares and by solving."""

TOL = (1e-6, 1e-7)


def main(T, nn, F, optim, np):
    x = T.linspace(-1, 1, 30, dtype=T.float64)
    y = T.sin(3 * x) + 0.1 * x**2
    V = T.vander(x, 6, increasing=True)
    coef = T.linalg.lstsq(V, y[:, None]).solution.squeeze(1)
    cheb = T.cos(T.arange(6).double()[None] * T.acos(x)[:, None])
    c2 = T.linalg.pinv(cheb) @ y
    xs, ys = x[::3], y[::3]
    n = len(xs)
    h = xs[1:] - xs[:-1]
    A = T.diag(T.cat([T.ones(1).double(), 2 * (h[:-1] + h[1:]), T.ones(1).double()]))
    for i in range(1, n - 1):
        A[i, i - 1], A[i, i + 1] = h[i - 1], h[i]
    rhs = T.zeros(n, dtype=T.float64)
    rhs[1:-1] = 6 * ((ys[2:] - ys[1:-1]) / h[1:] - (ys[1:-1] - ys[:-2]) / h[:-1])
    M = T.linalg.solve(A, rhs)
    q = T.linspace(-1, 0.79, 40, dtype=T.float64)
    k = T.bucketize(q, xs, right=True).sub(1).clamp(0, n - 2)
    a, b = xs[k + 1] - q, q - xs[k]
    s = (
        (M[k] * a**3 + M[k + 1] * b**3) / (6 * h[k])
        + (ys[k] / h[k] - M[k] * h[k] / 6) * a
        + (ys[k + 1] / h[k] - M[k + 1] * h[k] / 6) * b
    )
    return {"coef": coef, "c2": c2, "M": M, "s": s, "fit": T.einsum("ij,j->i", V, coef)}
