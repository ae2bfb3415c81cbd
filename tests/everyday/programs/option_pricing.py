"""Black-Scholes prices and greeks by autograd; a binomial tree; Monte Carlo with antithetic noise."""

import math


def main(T, nn, F, optim, np):
    r = np.random.default_rng(17)
    S = T.tensor(np.linspace(80, 120, 9), requires_grad=True)
    K, rate = 100.0, 0.05
    sig = T.tensor(0.2, dtype=T.float64, requires_grad=True)
    tt = T.tensor(1.0, dtype=T.float64, requires_grad=True)

    def cdf(v):
        return 0.5 * (1 + T.erf(v / math.sqrt(2)))

    d1 = (T.log(S / K) + (rate + sig**2 / 2) * tt) / (sig * tt.sqrt())
    d2 = d1 - sig * tt.sqrt()
    call = S * cdf(d1) - K * T.exp(-rate * tt) * cdf(d2)
    delta, vega, theta = T.autograd.grad(call.sum(), (S, sig, tt), create_graph=True)
    (gamma,) = T.autograd.grad(delta.sum(), S)
    steps = 50
    dt = 1 / steps
    u = math.exp(0.2 * math.sqrt(dt))
    q = (math.exp(rate * dt) - 1 / u) / (u - 1 / u)
    j = T.arange(steps + 1, dtype=T.float64)
    price = 100 * u ** (2 * j - steps)
    val = T.relu(K - price)
    for k in range(steps, 0, -1):
        val = math.exp(-rate * dt) * (q * val[1:] + (1 - q) * val[:-1])
        jj = T.arange(k, dtype=T.float64)
        val = T.maximum(val, K - 100 * u ** (2 * jj - (k - 1)))
    z = T.tensor(r.normal(size=(2000, 12)))
    z = T.cat([z, -z])
    path = T.exp((rate - 0.02) / 12 + 0.2 * math.sqrt(1 / 12) * z).cumprod(1) * 100
    asian = (path.mean(1) - K).clamp(min=0).mul(math.exp(-rate))
    barrier = T.where(
        path.amax(1) > 130, T.zeros(4000, dtype=T.float64), (path[:, -1] - K).clamp(min=0)
    )
    return {
        "call": call.detach().numpy(),
        "delta": delta.detach().numpy(),
        "gamma": gamma.numpy(),
        "vega": vega.item(),
        "theta": theta.item(),
        "tree": val.item(),
        "asian": asian.mean().item(),
        "se": (asian.std() / math.sqrt(4000)).item(),
        "bar": barrier.mean().item(),
    }
