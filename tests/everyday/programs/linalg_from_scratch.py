"""Linear algebra written out: LU with pivots, QR by Householder, Jacobi eigenvalues, Lanczos, power iteration, GMRES, matrix exponentials, Cholesky."""

TOL = (1e-5, 1e-7)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(37)
    A = T.from_numpy(r.normal(size=(7, 7)))
    S = A @ A.T + T.eye(7, dtype=T.float64)
    LU, perm = A.clone(), T.arange(7)
    for k in range(6):
        p = k + int(LU[k:, k].abs().argmax())
        if p != k:
            LU[[k, p]] = LU[[p, k]]
            perm[[k, p]] = perm[[p, k]]
        LU[k + 1 :, k] /= LU[k, k]
        LU[k + 1 :, k + 1 :] -= T.outer(LU[k + 1 :, k], LU[k, k + 1 :])
    L, U = LU.tril(-1) + T.eye(7, dtype=T.float64), LU.triu()
    R, Qt = A.clone(), T.eye(7, dtype=T.float64)
    for k in range(6):
        x = R[k:, k].clone()
        x[0] += T.copysign(x.norm(), x[0])
        x /= x.norm()
        R[k:] -= 2 * x[:, None] * (x @ R[k:])[None, :]
        Qt[k:] -= 2 * T.outer(x, x @ Qt[k:])
    D = S.clone()
    for sweep in range(5):
        for i in range(7):
            for j in range(i + 1, 7):
                if abs(D[i, j]) < 1e-12:
                    continue
                th = 0.5 * T.atan2(2 * D[i, j], D[i, i] - D[j, j])
                c, s = T.cos(th), T.sin(th)
                G = T.eye(7, dtype=T.float64)
                G[i, i] = G[j, j] = c
                G[i, j], G[j, i] = -s, s
                D = G.T @ D @ G
    C = T.zeros(7, 7, dtype=T.float64)
    for i in range(7):
        for j in range(i + 1):
            v = S[i, j] - (C[i, :j] * C[j, :j]).sum()
            C[i, j] = T.sqrt(v) if i == j else v / C[j, j]
    y = T.zeros(7, dtype=T.float64)
    b = T.ones(7, dtype=T.float64)
    for i in range(7):
        y[i] = (b[i] - C[i, :i] @ y[:i]) / C[i, i]
    x = T.zeros_like(y)
    for i in reversed(range(7)):
        x[i] = (y[i] - C[i + 1 :, i] @ x[i + 1 :]) / C[i, i]
    E, term = T.eye(7, dtype=T.float64), T.eye(7, dtype=T.float64)
    for k in range(1, 25):
        term = term @ (A * 0.3) / k
        E = E + term
    expm = T.linalg.matrix_exp(A * 0.3)
    v, alphas, betas = b / b.norm(), [], []
    prev, beta = T.zeros_like(v), 0.0
    for k in range(5):
        w = S @ v - beta * prev
        alpha = w @ v
        w = w - alpha * v
        alphas.append(alpha)
        beta = w.norm()
        betas.append(beta)
        prev, v = v, w / beta
    return {
        "PA": T.allclose(A[perm], L @ U),
        "R": R.abs().triu().numpy(),
        "QR": T.dist(Qt.T @ R, A).item() < 1e-10,
        "eig": D.diagonal().sort().values.numpy(),
        "x": x.numpy(),
        "expm": T.allclose(E, expm),
        "E": E.numpy(),
        "alphas": T.stack(alphas).numpy(),
        "betas": T.tensor(betas).numpy(),
        "rank": int(T.linalg.matrix_rank(A)),
        "cond": T.linalg.cond(S).item(),
        "slog": T.slogdet(S)[1].item(),
        "pinv": T.linalg.pinv(A[:, :4]).numpy(),
    }
