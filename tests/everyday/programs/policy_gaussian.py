"""Policy gradient with a Gaussian policy over a small continuous control task; fixed noise."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(5)
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    log_std = nn.Parameter(T.tensor([-0.5]))
    for p in net.parameters():
        p.data = T.tensor(r.normal(size=tuple(p.shape)) * 0.3, dtype=T.float32)
    opt = optim.Adam([*net.parameters(), log_std], lr=1e-2)
    returns = []
    for episode in range(8):
        s = T.tensor([1.0, 0.0])
        logps, rewards = [], []
        for t in range(15):
            d = T.distributions.Normal(net(s), log_std.exp())
            a = (d.mean + d.stddev * float(r.normal())).detach()
            logps.append(d.log_prob(a).sum())
            s = T.stack([s[0] + 0.1 * s[1], s[1] + 0.1 * (a[0].clamp(-2, 2) - s[0])])
            rewards.append(-(s[0] ** 2 + 0.1 * a[0] ** 2).item())
        R, G = 0.0, []
        for x in rewards[::-1]:
            R = x + 0.95 * R
            G.insert(0, R)
        G = T.tensor(G)
        G = (G - G.mean()) / (G.std() + 1e-8)
        loss = -(T.stack(logps) * G).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        returns.append(sum(rewards))
    return {"returns": returns, "std": log_std.exp().item(), "w": net[2].weight.detach().numpy()}
