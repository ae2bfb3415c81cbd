"""Windows over a series: averages, medians, extremes, correlations."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(30)
    x = T.tensor(r.standard_normal(300).cumsum(), dtype=T.float32)
    sma = x.unfold(0, 10, 1).mean(-1)
    conv = F.conv1d(x.view(1, 1, -1), T.ones(1, 1, 10) / 10).flatten()
    ema, e = [], x[0]
    for v in x:
        e = 0.9 * e + 0.1 * v
        ema.append(e)
    std = x.unfold(0, 20, 5).std(-1)
    mx = F.max_pool1d(x[None, None], 15, 1).squeeze()
    pct = (x[1:] - x[:-1]) / x[:-1].abs().clamp(min=1e-2)
    med = x.unfold(0, 5, 1).median(-1).values
    acf = T.stack([(x[: len(x) - k] * x[k:]).mean() for k in range(12)])
    draw = x - T.cummax(x, 0).values
    return {
        "sma": sma,
        "conv": conv,
        "ema": T.stack(ema),
        "std": std,
        "mx": mx,
        "pct": pct,
        "med": med,
        "acf": acf,
        "draw": draw.min(),
    }
