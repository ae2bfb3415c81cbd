"""Diffusion of lines: a small network, a schedule over one cycle, sampling in steps."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(44)
    betas = T.linspace(1e-4, 0.02, 50)
    ab = (1 - betas).cumprod(0)

    class Net(nn.Module):
        def __init__(s):
            super().__init__()
            s.t = nn.Embedding(50, 16)
            s.i = nn.Conv1d(1, 16, 3, padding=1)
            s.m = nn.Conv1d(16, 16, 3, padding=1, groups=4)
            s.o = nn.Conv1d(16, 1, 1)
            s.n = nn.GroupNorm(4, 16)

        def forward(s, x, t):
            h = F.silu(s.i(x) + s.t(t)[..., None])
            return s.o(F.silu(s.n(s.m(h))) + h)

    net = Net()
    with T.no_grad():
        for p in net.parameters():
            p.copy_(T.tensor(r.standard_normal(tuple(p.shape)) * 0.1, dtype=T.float32))
    ema = [p.detach().clone() for p in net.parameters()]
    opt = optim.AdamW(net.parameters(), lr=2e-3)
    sched = optim.lr_scheduler.OneCycleLR(opt, 5e-3, total_steps=6)
    ls = []
    for k in range(6):
        x = T.tensor(r.standard_normal((8, 1, 32)), dtype=T.float32)
        t = T.tensor(r.integers(0, 50, 8))
        e = T.tensor(r.standard_normal((8, 1, 32)), dtype=T.float32)
        a = ab[t].view(-1, 1, 1)
        loss = F.mse_loss(net(a.sqrt() * x + (1 - a).sqrt() * e, t), e)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        with T.no_grad():
            for m, p in zip(ema, net.parameters()):
                m.lerp_(p, 0.1)
        ls.append(loss.item())
    x = T.tensor(r.standard_normal((2, 1, 32)), dtype=T.float32)
    with T.no_grad():
        for i in reversed(range(0, 50, 5)):
            t = T.full((2,), i, dtype=T.long)
            eps = net(x, t)
            x0 = (x - (1 - ab[i]).sqrt() * eps) / ab[i].sqrt()
            pa = ab[i - 5] if i >= 5 else T.tensor(1.0)
            x = pa.sqrt() * x0 + (1 - pa).sqrt() * eps
    return {"ls": np.array(ls), "x": x, "ema": T.cat([m.flatten() for m in ema])[:50]}
