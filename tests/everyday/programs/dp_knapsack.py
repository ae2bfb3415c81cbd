"""Dynamic programming: knapsack row by row, longest common subsequence, dynamic time warping."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(30)
    wts, vals = r.integers(1, 20, 25), r.integers(1, 50, 25)
    best = T.zeros(201, dtype=T.long)
    for w, v in zip(wts.tolist(), vals.tolist()):
        best[w:] = T.maximum(best[w:], best[:-w] + v)
    a, b = T.tensor(r.integers(0, 4, 20)), T.tensor(r.integers(0, 4, 18))
    L = T.zeros(21, 19, dtype=T.long)
    for i in range(20):
        for j in range(18):
            L[i + 1, j + 1] = L[i, j] + 1 if a[i] == b[j] else max(L[i, j + 1], L[i + 1, j])
    p, q = T.tensor(r.normal(size=16)), T.tensor(r.normal(size=16))
    D = T.full((17, 17), float("inf"), dtype=T.float64)
    D[0, 0] = 0
    cost = (p[:, None] - q[None]).abs()
    for i in range(1, 17):
        for j in range(1, 17):
            D[i, j] = cost[i - 1, j - 1] + T.min(T.stack([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]]))
    return {"best": best.numpy(), "L": L.numpy(), "D": D[1:, 1:].numpy()}
