"""An actor and a critic with clipped ratios and generalized advantages."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(33)
    body, pi, vf = nn.Linear(5, 24), nn.Linear(24, 3), nn.Linear(24, 1)
    params = [p for m in (body, pi, vf) for p in m.parameters()]
    with T.no_grad():
        for p in params:
            p.copy_(T.tensor(r.standard_normal(tuple(p.shape)) * 0.2, dtype=T.float32))
    opt = optim.Adam(params, lr=3e-3, eps=1e-5)
    stats = []
    for it in range(3):
        obs = T.tensor(r.standard_normal((32, 5)), dtype=T.float32)
        act = T.tensor(r.integers(0, 3, 32))
        rew = T.tensor(r.random(32), dtype=T.float32)
        done = T.tensor(r.random(32) < 0.1).float()
        with T.no_grad():
            h = T.tanh(body(obs))
            old = T.distributions.Categorical(logits=pi(h)).log_prob(act)
            v = vf(h).squeeze(-1)
            adv = T.zeros(32)
            last = 0.0
            for t in reversed(range(32)):
                nv = v[t + 1] if t < 31 else 0.0
                delta = rew[t] + 0.99 * nv * (1 - done[t]) - v[t]
                last = delta + 0.99 * 0.95 * (1 - done[t]) * last
                adv[t] = last
            ret = adv + v
        for ep in range(3):
            for mb in T.arange(32).view(4, 8):
                h = T.tanh(body(obs[mb]))
                d = T.distributions.Categorical(logits=pi(h))
                ratio = (d.log_prob(act[mb]) - old[mb]).exp()
                a = (adv[mb] - adv.mean()) / (adv.std() + 1e-8)
                pg = -T.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
                vl = F.mse_loss(vf(h).squeeze(-1), ret[mb])
                loss = pg + 0.5 * vl - 0.01 * d.entropy().mean()
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(params, 0.5)
                opt.step()
        stats.append([loss.item(), vl.item()])
    return {"stats": np.array(stats)}
