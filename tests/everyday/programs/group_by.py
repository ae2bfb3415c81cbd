"""A data scientist's group-by: unique with inverse, sums, means, mins by scatter_reduce, sorting, a pivot table."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(7)
    city = T.tensor(r.integers(0, 6, 500) * 7 + 3)
    year = T.tensor(r.integers(2000, 2005, 500))
    sales = T.tensor(r.gamma(2.0, 50.0, 500)).float()
    keys, inverse, counts = T.unique(city, return_inverse=True, return_counts=True)
    total = T.zeros(len(keys)).index_add_(0, inverse, sales)
    mean = total / counts
    least = T.full((len(keys),), float("inf")).scatter_reduce(0, inverse, sales, reduce="amin")
    most = T.zeros(len(keys)).scatter_reduce_(0, inverse, sales, reduce="amax", include_self=False)
    var = T.zeros(len(keys)).scatter_add_(0, inverse, (sales - mean[inverse]) ** 2) / (counts - 1)
    pivot = T.zeros(len(keys), 5)
    pivot.index_put_((inverse, year - 2000), sales, accumulate=True)
    order = T.argsort(total, descending=True)
    top, where = sales.topk(5)
    share = pivot / pivot.sum(1, keepdim=True)
    med = T.stack([sales[inverse == k].median() for k in range(len(keys))])
    return {"keys": keys.numpy(), "total": total.numpy(), "mean": mean.numpy(), "least": least.numpy(), "most": most.numpy(),
            "std": var.sqrt().numpy(), "order": order.numpy(), "share": share.numpy(), "med": med.numpy(), "top": top.numpy(),
            "where": where.numpy(), "text": ", ".join(f"{k}:{v:.1f}" for k, v in zip(keys.tolist(), mean.tolist()))}
