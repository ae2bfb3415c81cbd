"""Group-by with scatter: sums, means, maxima, ranks in a group and a segment softmax."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(145)
    n, g = 200, 12
    key = T.tensor(r.integers(0, g, n))
    value = T.tensor(r.normal(size=n).astype("float32"), requires_grad=True)
    ones = T.ones(n)
    count = T.zeros(g).scatter_add_(0, key, ones)
    total = T.zeros(g).scatter_add(0, key, value)
    mean = total / count.clamp(min=1)
    top = T.full((g,), -1e9).scatter_reduce(0, key, value, reduce="amax")
    shifted = (value - top[key]).exp()
    soft = shifted / T.zeros(g).index_add(0, key, shifted)[key]
    (soft * value + mean[key] ** 2).sum().backward()
    order = T.argsort(key, stable=True)
    ordered = key[order]
    starts = T.cat([T.tensor([0]), (ordered[1:] != ordered[:-1]).nonzero().view(-1) + 1])
    rank = T.empty(n, dtype=T.long)
    rank[order] = T.arange(n) - T.repeat_interleave(starts, count.long())
    unique, inverse, counts = T.unique(key, return_inverse=True, return_counts=True)
    pivot = T.zeros(g, 4)
    for k, c in zip(key.tolist(), (T.arange(n) % 4).tolist()):
        pivot[k, c] += 1
    return {"count": count.numpy(), "mean": mean.detach().numpy(), "top": top.detach().numpy(),
            "soft": soft.detach().numpy(), "grad": value.grad.numpy(), "rank": rank.numpy(),
            "counts": counts.numpy(), "pivot": pivot.numpy(), "inverse": inverse.numpy()}
