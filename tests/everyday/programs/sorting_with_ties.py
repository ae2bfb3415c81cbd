"""Stable sorts with ties, lexicographic order by two keys, ranks, merges and medians."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(149)
    a = T.tensor(r.integers(0, 8, 50))
    b = T.tensor(r.integers(0, 5, 50))
    values, index = T.sort(a, stable=True)
    down, back = T.sort(a, descending=True, stable=True)
    second = T.argsort(b, stable=True)
    lex = second[T.argsort(a[second], stable=True)]
    ranks = T.empty_like(index)
    ranks[index] = T.arange(50)
    dense = T.unique(a, return_inverse=True)[1]
    average = T.zeros(50, dtype=T.float64)
    for v in a.unique():
        where = a == v
        average[where] = ranks[where].double().mean()
    rows = T.tensor(r.integers(0, 4, (10, 6)).astype("float32"))
    uniq, counts = T.unique(rows[:, :2], dim=0, return_counts=True)
    left, right = values[:25].tolist(), T.sort(b[:25])[0].tolist()
    merged = T.zeros(50, dtype=T.long)
    i = j = 0
    for k in range(50):
        if j >= 25 or (i < 25 and left[i] <= right[j]):
            merged[k] = left[i]
            i += 1
        else:
            merged[k] = right[j]
            j += 1
    row_sorted = rows.sort(dim=1).values
    run, lengths = T.unique_consecutive(values, return_counts=True)
    return {"index": index.numpy(), "back": back.numpy(), "lex": lex.numpy(), "ranks": ranks.numpy(),
            "dense": dense.numpy(), "average": average.numpy(), "uniq": uniq.numpy(), "counts": counts.numpy(),
            "merged": merged.numpy(), "rows": row_sorted.numpy(), "median": rows.median(dim=1).values.numpy(),
            "run": run.numpy(), "lengths": lengths.numpy(), "kth": rows.kthvalue(2, dim=1).values.numpy(),
            "down": down.numpy(), "mean_rank": T.arange(50)[T.randperm(50).argsort().argsort() < 50].float().mean().item()}
