"""Chains of einsum: attention, bilinear forms, traces, batch outer products, tensor networks."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(141)
    make = lambda *s: T.tensor(r.normal(size=s).astype("float32"))
    a, b, c = make(4, 6), make(6, 5), make(5, 4)
    out = {"chain": T.einsum("ij,jk,kl->il", a, b, c).numpy(), "trace": T.einsum("ii", a @ b @ c).item()}
    q, k, v = make(2, 3, 8, 4), make(2, 3, 8, 4), make(2, 3, 8, 4)
    scores = T.einsum("bhqd,bhkd->bhqk", q, k) / 2
    out["attention"] = T.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v).reshape(2, 8, 12).numpy()
    out["outer"] = T.einsum("bi,bj->bij", a, c.T[:, :4]).numpy()
    out["bilinear"] = T.einsum("bn,anm,bm->ba", make(7, 6), make(3, 6, 5), make(7, 5)).numpy()
    cores = [make(1, 4, 3), make(3, 4, 3), make(3, 4, 1)]
    for core in cores:
        core.requires_grad_(True)
    target = make(4, 4, 4)
    losses = []
    for step in range(10):
        full = T.einsum("aib,bjc,ckd->ijk", *cores)
        loss = (full - target).pow(2).mean()
        for g, core in zip(T.autograd.grad(loss, cores), cores):
            with T.no_grad():
                core.sub_(g, alpha=0.1)
        losses.append(loss.item())
    out["losses"] = losses
    out["kron"] = T.kron(a[:2, :2], b[:2, :2]).numpy()
    out["dots"] = T.tensordot(q, k, dims=([0, 2], [0, 2])).numpy()
    return out
