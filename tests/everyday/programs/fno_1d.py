"""A Fourier neural operator in one dimension: spectral convolution with complex weights, trained."""

TOL = (2e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(1)

    class Spectral(nn.Module):
        def __init__(s, c, m):
            super().__init__()
            s.m = m
            s.w = nn.Parameter(
                T.tensor(
                    (r.normal(size=(c, c, m)) + 1j * r.normal(size=(c, c, m))) * 0.1, dtype=T.cfloat
                )
            )

        def forward(s, x):
            X = T.fft.rfft(x)
            out = T.zeros(x.shape[0], x.shape[1], X.shape[-1], dtype=T.cfloat)
            out[:, :, : s.m] = T.einsum("bix,iox->box", X[:, :, : s.m], s.w)
            return T.fft.irfft(out, n=x.shape[-1])

    class Net(nn.Module):
        def __init__(s):
            super().__init__()
            s.up = nn.Linear(2, 6)
            s.sp = nn.ModuleList([Spectral(6, 5) for _ in range(2)])
            s.ws = nn.ModuleList([nn.Conv1d(6, 6, 1) for _ in range(2)])
            s.out = nn.Linear(6, 1)

        def forward(s, x):
            x = s.up(x).permute(0, 2, 1)
            for a, b in zip(s.sp, s.ws):
                x = F.gelu(a(x) + b(x))
            return s.out(x.permute(0, 2, 1)).squeeze(-1)

    net = Net()
    with T.no_grad():
        for p in net.parameters():
            if not p.is_complex():
                p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.3))
    g = T.linspace(0, 1, 32)
    A = T.stack([T.sin(6.28 * k * g) for k in range(1, 9)])
    Y = A.cumsum(-1) / 32
    X = T.stack([A, g.expand(8, 32)], -1)
    opt = optim.Adam(net.parameters(), lr=1e-2)
    log = []
    for i in range(8):
        loss = F.mse_loss(net(X), Y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return {"log": log}
