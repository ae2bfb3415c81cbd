"""Metrics: precision at k, mean average precision, NDCG, calibration error, Matthews, log loss."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(1)
    scores = T.tensor(r.normal(size=(20, 50)).astype("float32"))
    rel = T.tensor(r.random((20, 50)) < 0.2)
    order = scores.argsort(dim=1, descending=True)
    hits = rel.gather(1, order).float()
    ranks = T.arange(1, 51, dtype=T.float32)
    prec = hits.cumsum(1) / ranks
    ap = (prec * hits).sum(1) / hits.sum(1).clamp(min=1)
    dcg = (hits / T.log2(ranks + 1)).sum(1)
    ideal = (hits.sort(dim=1, descending=True).values / T.log2(ranks + 1)).sum(1)
    ndcg = T.where(ideal > 0, dcg / ideal, T.zeros_like(ideal))
    mrr = 1.0 / (hits.argmax(1) + 1).float()
    p = T.sigmoid(scores).flatten()
    y = rel.flatten().float()
    bins = T.bucketize(p, T.linspace(0, 1, 11)[1:-1])
    ece = 0.0
    for b in range(10):
        m = bins == b
        if m.any():
            ece += (m.float().mean() * (p[m].mean() - y[m].mean()).abs()).item()
    pred = p > 0.5
    tp = (pred & rel.flatten()).sum()
    fp = (pred & ~rel.flatten()).sum()
    fn = (~pred & rel.flatten()).sum()
    tn = (~pred & ~rel.flatten()).sum()
    mcc = (tp * tn - fp * fn) / T.sqrt(((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)).double())
    return {
        "map": ap.mean().item(),
        "ndcg": ndcg.numpy(),
        "mrr": mrr.mean().item(),
        "ece": ece,
        "mcc": mcc.item(),
        "logloss": F.binary_cross_entropy(p, y).item(),
        "top": prec[:, [0, 4, 9]].mean(0).tolist(),
        "brier": ((p - y) ** 2).mean().item(),
        "hist": T.histc(p, 5, 0, 1).numpy(),
        "count": T.bincount(bins, minlength=10).numpy(),
    }
