"""Metrics of a classifier: curves, confusion, calibration."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(29)
    y = T.tensor(r.integers(0, 2, 300))
    s = T.tensor(r.random(300), dtype=T.float32) * 0.6 + 0.3 * y
    order = T.argsort(s, descending=True)
    tp = T.cumsum(y[order], 0).float()
    fp = T.cumsum(1 - y[order], 0).float()
    tpr, fpr = tp / tp[-1], fp / fp[-1]
    auc = T.trapezoid(tpr, fpr)
    prec = tp / (tp + fp)
    ap = ((tpr[1:] - tpr[:-1]) * prec[1:]).sum()
    cms = []
    for th in T.arange(0.1, 0.9, 0.1):
        pred = (s > th).long()
        cms.append(T.bincount(y * 2 + pred, minlength=4).view(2, 2))
    cm = T.stack(cms)
    f1 = 2 * cm[:, 1, 1] / (2 * cm[:, 1, 1] + cm[:, 0, 1] + cm[:, 1, 0])
    mcc = T.corrcoef(T.stack([y.float(), (s > 0.5).float()]))[0, 1]
    ece = T.zeros(())
    bins = T.bucketize(s, T.linspace(0, 1, 11)[1:-1])
    for b in range(10):
        m = bins == b
        if m.any():
            ece += m.float().mean() * (y[m].float().mean() - s[m].mean()).abs()
    return {
        "auc": auc,
        "ap": ap,
        "cm": cm,
        "f1": f1,
        "best": f1.argmax(),
        "mcc": mcc,
        "ece": ece,
        "kendall": (
            T.sign(s[:50, None] - s[None, :50]) * T.sign(y[:50, None] - y[None, :50])
        ).sum(),
    }
