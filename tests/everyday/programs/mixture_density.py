"""A mixture density network with distributions, and its likelihood by hand."""

import math
from importlib import import_module

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    dist = import_module(T.__name__ + ".distributions")
    r = np.random.default_rng(127)
    y = r.uniform(-1, 1, (50, 1))
    x = T.tensor((y + 0.3 * np.sin(6 * y)).astype("float32"))
    y = T.tensor(y.astype("float32"))
    body = nn.Sequential(nn.Linear(1, 12), nn.Tanh())
    pi, mu, sigma = nn.Linear(12, 3), nn.Linear(12, 3), nn.Linear(12, 3)
    params = [p for m in (body, pi, mu, sigma) for p in m.parameters()]
    for p in params:
        p.data = T.tensor((r.normal(size=tuple(p.shape)) * 0.5).astype("float32"))
    opt = optim.Adam(params, lr=0.02)
    losses = []
    for _ in range(10):
        h = body(x)
        w, m, s = F.log_softmax(pi(h), 1), mu(h), F.softplus(sigma(h)) + 1e-3
        logp = -0.5 * ((y - m) / s) ** 2 - s.log() - 0.5 * math.log(2 * math.pi)
        loss = -T.logsumexp(w + logp, dim=1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    with T.no_grad():
        normal = dist.Normal(m, s)
        again = -T.logsumexp(w + normal.log_prob(y), 1).mean()
        entropy = dist.Categorical(logits=w).entropy()
    return {"losses": losses, "again": again.item(), "entropy": entropy.numpy()}
