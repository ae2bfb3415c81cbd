"""Graph algorithms: Bellman-Ford, Prim, BFS by frontiers, components, triangles, centrality."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(9)
    n, m = 40, 140
    src = T.tensor(r.integers(0, n, m))
    dst = T.tensor(r.integers(0, n, m))
    w = T.tensor(r.integers(1, 20, m)).float()
    dist = T.full((n,), float("inf"))
    dist[0] = 0
    for i in range(n - 1):
        cand = dist[src] + w
        new = dist.scatter_reduce(0, dst, cand, reduce="amin")
        if T.equal(new, dist):
            break
        dist = new
    A = T.zeros(n, n, dtype=T.bool)
    A[src, dst] = True
    A = A | A.T
    A.fill_diagonal_(False)
    level = T.full((n,), -1, dtype=T.long)
    frontier = T.zeros(n, dtype=T.bool)
    frontier[0] = True
    depth = 0
    while frontier.any():
        level[frontier] = depth
        frontier = (A[frontier].any(0)) & (level < 0)
        depth += 1
    W = T.full((n, n), 1e9)
    W[src, dst] = w
    W = T.minimum(W, W.t())
    seen = T.zeros(n, dtype=T.bool)
    best = W[0].clone()
    seen[0] = True
    total, order = 0.0, [0]
    for _ in range(n - 1):
        masked = best.masked_fill(seen, float("inf"))
        cost, j = masked.min(0)
        if cost >= 1e9:
            break
        total += cost.item()
        seen[j] = True
        order.append(int(j))
        best = T.minimum(best, W[j])
    label = T.arange(n)
    while True:
        new = T.where(A, label[None, :].expand(n, n), label[:, None]).amin(1)
        if (new == label).all():
            break
        label = new
    a = A.float()
    triangles = T.trace(a @ a @ a).item() / 6
    v = T.ones(n)
    for _ in range(30):
        v = a @ v
        v /= v.norm()
    degree = a.sum(1)
    coo = A.nonzero(as_tuple=False)
    return {
        "dist": dist.numpy(),
        "hops": i,
        "level": level.numpy(),
        "total": total,
        "order": order,
        "label": label.numpy(),
        "triangles": triangles,
        "v": v.abs().numpy(),
        "degree": degree.numpy(),
        "coo": coo[:10].numpy(),
        "unique": T.unique(label, return_counts=True)[1].numpy(),
    }
