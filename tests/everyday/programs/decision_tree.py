"""A data scientist's afternoon: standardizing, one-hot, a decision tree by gini, AdaBoost of stumps, ROC, folds."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(19)
    X = T.tensor(r.normal(size=(120, 5))).float()
    y = ((X[:, 0] * X[:, 1] > 0) | (X[:, 2] > 1)).long()
    cat = T.tensor(r.integers(0, 3, 120))
    X = T.cat([(X - X.mean(0)) / X.std(0, unbiased=True), F.one_hot(cat, num_classes=3).float()], 1)

    def gini(labels):
        if labels.numel() == 0:
            return 0.0
        p = T.bincount(labels, minlength=2).float() / labels.numel()
        return 1 - (p**2).sum().item()

    def split(X, y):
        best = (None, None, float("inf"))
        for f in range(X.shape[1]):
            for q in (0.25, 0.5, 0.75):
                t = T.quantile(X[:, f], q).item()
                left = X[:, f] <= t
                n = left.sum().item()
                if n == 0 or n == len(y):
                    continue
                score = (n * gini(y[left]) + (len(y) - n) * gini(y[~left])) / len(y)
                if score < best[2] - 1e-9:
                    best = (f, t, score)
        return best

    def grow(X, y, depth):
        if depth == 0 or len(y.unique()) < 2:
            return int(y.float().mean().round().item())
        f, t, s = split(X, y)
        if f is None:
            return int(y.mode().values)
        left = X[:, f] <= t
        return (f, t, grow(X[left], y[left], depth - 1), grow(X[~left], y[~left], depth - 1))

    def ask(tree, row):
        while isinstance(tree, tuple):
            tree = tree[2] if row[tree[0]] <= tree[1] else tree[3]
        return tree

    tree = grow(X, y, 3)
    pred = T.tensor([ask(tree, row) for row in X])
    sign = y.float() * 2 - 1
    w = T.full((120,), 1 / 120)
    score = T.zeros(120)
    alphas = []
    for rnd in range(5):
        best = None
        for f in range(5):
            h = T.sign(X[:, f] + 1e-12)
            err = w[h != sign].sum()
            if best is None or err < best[0]:
                best = (err, h)
        err, h = best
        alpha = 0.5 * T.log((1 - err) / err)
        w = w * T.exp(-alpha * sign * h)
        w /= w.sum()
        score += alpha * h
        alphas.append(alpha.item())
    order = score.argsort(descending=True, stable=True)
    tps = y[order].cumsum(0)
    fps = (1 - y[order]).cumsum(0)
    auc = T.trapezoid(tps / tps[-1], fps / fps[-1]).item()
    folds = [(T.arange(120) % 5 == k) for k in range(5)]
    accs = []
    for fold in folds:
        A = T.hstack([X[~fold], T.ones(int((~fold).sum()), 1)])
        beta = T.linalg.lstsq(A[:, :6], sign[~fold].unsqueeze(1)).solution
        accs.append(((X[fold][:, :6] @ beta).squeeze().sign() == sign[fold]).float().mean())
    table = T.zeros(2, 2, dtype=T.long)
    for a, b in zip(y, pred):
        table[a, b] += 1
    return {
        "pred": pred.numpy(),
        "alphas": alphas,
        "auc": auc,
        "acc": T.stack(accs).numpy(),
        "table": table.numpy(),
        "corr": T.corrcoef(X[:, :5].T).numpy(),
    }
