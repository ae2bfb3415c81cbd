"""Point sets aligned by SVD, with gradients through it; ICP; eigh of a graph Laplacian with gradient; QR."""

TOL = (1e-4, 1e-6)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(4)
    P = T.tensor(r.normal(size=(12, 3)))
    R0, _ = np.linalg.qr(r.normal(size=(3, 3)))
    R0 *= np.sign(np.linalg.det(R0))
    Q = P @ T.tensor(R0).T + 0.3

    def kabsch(P, Q):
        p, q = P - P.mean(0), Q - Q.mean(0)
        U, S, Vt = T.linalg.svd(p.T @ q)
        d = T.sign(T.linalg.det(Vt.T @ U.T))
        D = T.diag(T.stack([T.ones_like(d), T.ones_like(d), d]))
        return Vt.T @ D @ U.T

    R = kabsch(P, Q)
    X = (Q + 0.1 * T.tensor(r.normal(size=(12, 3)))).requires_grad_()
    opt = optim.SGD([X], lr=0.5)
    log = []
    for i in range(5):
        Rk = kabsch(P, X)
        loss = ((P - P.mean(0)) @ Rk.T - (X - X.mean(0))).pow(2).mean() + 0.1 * (
            T.linalg.eigvalsh(X.T @ X)
        ).max() / 100
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    W = T.tensor(r.random((6, 6)), requires_grad=True)
    S = (W + W.T) / 2
    L = T.diag(S.sum(1)) - S
    ev, V = T.linalg.eigh(L)
    (ev[1] + (V[:, 1].abs()).sum() * 0.1).backward()
    A = T.tensor(r.normal(size=(5, 3)), requires_grad=True)
    q, rr = T.linalg.qr(A)
    rr.diagonal().abs().log().sum().backward()
    sgn, ld = T.linalg.slogdet(A.T.detach() @ A.detach())
    M = T.tensor(r.normal(size=(3, 3)) * 0.3, requires_grad=True)
    T.matrix_exp(M).sum().backward()
    B = T.tensor(r.normal(size=(6, 3)), requires_grad=True)
    T.linalg.pinv(B).pow(2).sum().backward()
    return {
        "R": R.numpy(),
        "log": log,
        "gW": W.grad.numpy(),
        "gA": A.grad.numpy(),
        "ld": ld.item(),
        "gM": M.grad.numpy(),
        "gB": B.grad.numpy(),
    }
