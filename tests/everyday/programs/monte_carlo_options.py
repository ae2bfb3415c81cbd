"""Prices of options by Monte Carlo, greeks by gradients, a lattice beside it."""

import math

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(8)
    z = T.tensor(r.normal(size=(4000, 16))).float()
    S0 = T.tensor(100.0, requires_grad=True)
    sigma = T.tensor(0.2, requires_grad=True)
    rate, years, strike = 0.03, 1.0, 105.0
    dt = years / z.shape[1]
    paths = S0 * T.exp(T.cumsum((rate - 0.5 * sigma**2) * dt + sigma * math.sqrt(dt) * z, dim=1))
    european = math.exp(-rate) * F.relu(paths[:, -1] - strike).mean()
    asian = math.exp(-rate) * T.clamp(paths.mean(1) - strike, min=0).mean()
    knock = (
        math.exp(-rate) * ((paths.max(dim=1).values < 130) * T.relu(paths[:, -1] - strike)).mean()
    )
    delta, vega = T.autograd.grad(european, [S0, sigma], retain_graph=True)
    adelta, avega = T.autograd.grad(asian, (S0, sigma))
    n = 100
    u = math.exp(0.2 * math.sqrt(years / n))
    p = (math.exp(rate * years / n) - 1 / u) / (u - 1 / u)
    prices = 100 * u ** (2 * T.arange(n + 1, dtype=T.float64) - n)
    value = (strike - prices).clamp_min(0)
    for i in range(n, 0, -1):
        value = math.exp(-rate * years / n) * (p * value[1:] + (1 - p) * value[:-1])
        prices = prices[:-1] * u
        value = T.maximum(value, strike - prices)
    normal = T.distributions.Normal(0.0, 1.0)
    d1 = (math.log(100 / strike) + (rate + 0.02) * years) / 0.2
    black = 100 * normal.cdf(T.tensor(d1)) - strike * math.exp(-rate) * normal.cdf(
        T.tensor(d1 - 0.2)
    )
    return {
        "european": european.item(),
        "asian": asian.item(),
        "knock": knock.item(),
        "delta": delta.item(),
        "vega": vega.item(),
        "ad": adelta.item(),
        "av": avega.item(),
        "american": value.item(),
        "bs": black.item(),
        "quantiles": T.quantile(paths[:, -1].detach(), T.tensor([0.05, 0.5, 0.95])).numpy(),
    }
