"""PCA, whitening, low-rank approximation, eigenfaces by eigh and svd; explained variance."""
TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(35)
    X = T.tensor(r.normal(size=(80, 5)) @ r.normal(size=(5, 12)) + 0.1 * r.normal(size=(80, 12)))
    X = X - X.mean(0, keepdim=True)
    C = X.T @ X / (len(X) - 1)
    values, vectors = T.linalg.eigh(C)
    values, vectors = values.flip(0), vectors.flip(1)
    ratio = values / values.sum()
    W = vectors[:, :3] / values[:3].sqrt()
    Z = X @ W
    U, S, Vh = T.linalg.svd(X, full_matrices=False)
    low = U[:, :2] @ T.diag(S[:2]) @ Vh[:2]
    Q, R = T.linalg.qr(X)
    return {"ratio": ratio.numpy(), "white": (Z.T @ Z / 79).numpy(), "S": S.numpy(), "err": T.linalg.norm(X - low).item(),
            "R": R.abs().numpy(), "rank": int(T.linalg.matrix_rank(low)), "cov": T.cov(X.T)[:2].numpy(),
            "cond": T.linalg.cond(C + T.eye(12)).item(), "pinv": T.linalg.pinv(X)[:2].numpy(), "corr": T.corrcoef(X.T)[0].numpy()}
