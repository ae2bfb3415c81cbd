"""A quantized autoencoder whose codes are moving averages."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(43)
    code = T.tensor(r.standard_normal((16, 8)), dtype=T.float32)
    N, M = T.ones(16), code.clone()
    enc = nn.Linear(12, 8)
    dec = nn.Linear(8, 12)
    with T.no_grad():
        for p in [*enc.parameters(), *dec.parameters()]:
            p.copy_(T.tensor(r.standard_normal(tuple(p.shape)) * 0.3, dtype=T.float32))
    opt = optim.Adam([*enc.parameters(), *dec.parameters()], lr=1e-2)
    logs = []
    for step in range(8):
        x = T.tensor(r.standard_normal((32, 12)), dtype=T.float32)
        z = enc(x)
        d = (z**2).sum(1, keepdim=True) - 2 * z @ code.T + (code**2).sum(1)
        i = d.argmin(1)
        q = code[i]
        commit = F.mse_loss(z, q.detach())
        st = z + (q - z).detach()
        loss = F.mse_loss(dec(st), x) + 0.25 * commit
        opt.zero_grad()
        loss.backward()
        opt.step()
        oh = F.one_hot(i, 16).float()
        N.mul_(0.9).add_(oh.sum(0), alpha=0.1)
        M.mul_(0.9).add_(oh.T @ z.detach(), alpha=0.1)
        code = M / N.clamp(min=1e-5)[:, None]
        p = oh.mean(0)
        logs.append([loss.item(), T.exp(-(p * (p + 1e-10).log()).sum()).item()])
    return {"logs": np.array(logs), "code": code}
