"""Welford's running mean and variance, quantiles, moving windows and exponential averages."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(143)
    stream = T.tensor(r.normal(loc=3, size=(60, 4)))
    n, mean, m2 = 0, T.zeros(4, dtype=T.float64), T.zeros(4, dtype=T.float64)
    low, high = T.full((4,), float("inf"), dtype=T.float64), T.full((4,), -float("inf"), dtype=T.float64)
    ema, emas = None, []
    for row in stream:
        n += 1
        delta = row - mean
        mean += delta / n
        m2 += delta * (row - mean)
        low, high = T.minimum(low, row), T.maximum(high, row)
        ema = row if ema is None else 0.9 * ema + 0.1 * row
        emas.append(ema)
    var = m2 / (n - 1)
    windows = stream.unfold(0, 5, 1)
    rolling, spread = windows.mean(-1), windows.std(-1)
    q = T.quantile(stream, T.tensor([0.1, 0.5, 0.9], dtype=T.float64), dim=0)
    z = (stream - stream.mean(0)) / stream.std(0)
    skew, kurt = (z ** 3).mean(0), (z ** 4).mean(0) - 3
    outliers = (z.abs() > 2).any(1).nonzero().squeeze(1)
    return {"mean": mean.numpy(), "var": var.numpy(), "same": int(T.allclose(var, stream.var(0))), "low": low.numpy(),
            "high": high.numpy(), "ema": T.stack(emas)[::10].numpy(), "rolling": rolling.numpy(), "spread": spread.numpy(),
            "q": q.numpy(), "skew": skew.numpy(), "kurt": kurt.numpy(), "outliers": outliers.tolist(),
            "median": stream.median(0).values.numpy(), "text": f"{mean[0]:.3f} {var.mean():.3e}"}
