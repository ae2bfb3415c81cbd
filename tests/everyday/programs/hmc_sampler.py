"""Hamiltonian Monte Carlo on a banana density, gradients by autograd, noise from NumPy."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(9)

    def U(q):
        return 0.5 * q[0] ** 2 + 0.5 * (q[1] - q[0] ** 2) ** 2 / 0.5

    def grad(q):
        q = q.detach().requires_grad_(True)
        return T.autograd.grad(U(q), q)[0]

    q = T.tensor([0.5, 0.5])
    chain = []
    accepted = 0
    for it in range(15):
        p = T.tensor(r.normal(size=2), dtype=T.float32)
        q0, p0 = q.clone(), p.clone()
        qn = q.clone()
        pn = p - 0.05 * grad(qn)
        for l in range(6):
            qn = qn + 0.1 * pn
            if l < 5:
                pn = pn - 0.1 * grad(qn)
        pn = -(pn - 0.05 * grad(qn))
        dH = U(q0) + p0.pow(2).sum() / 2 - U(qn) - (pn**2).sum() / 2
        if np.log(r.random()) < dH.item():
            q = qn
            accepted += 1
        chain.append(q)
    c = T.stack(chain)
    return {
        "chain": c.numpy(),
        "acc": accepted,
        "mean": c.mean(0).tolist(),
        "var": c.var(0).tolist(),
    }
