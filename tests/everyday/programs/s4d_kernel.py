"""A diagonal state space layer with complex parameters given as real pairs, convolution by FFT."""

import math

TOL = (2e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(3)
    H, N, L = 4, 8, 32
    logdt = nn.Parameter(T.tensor(r.uniform(-4, -2, H), dtype=T.float32))
    C = nn.Parameter(
        T.view_as_real(
            T.tensor(r.normal(size=(H, N)) + 1j * r.normal(size=(H, N)), dtype=T.cfloat)
        ).contiguous()
    )
    la = nn.Parameter(T.log(0.5 * T.ones(H, N)))
    im = nn.Parameter(math.pi * T.arange(N).float().repeat(H, 1))
    D = nn.Parameter(T.ones(H))
    opt = optim.Adam([logdt, C, la, im, D], lr=1e-2)
    u = T.tensor(r.normal(size=(3, H, L)), dtype=T.float32)
    tgt = u.cumsum(-1) * 0.1
    log = []
    for i in range(6):
        dt = logdt.exp()
        c = T.view_as_complex(C)
        A = -T.exp(la) + 1j * im
        dtA = A * dt[:, None]
        K = dtA.unsqueeze(-1) * T.arange(L)
        c = c * (T.exp(dtA) - 1.0) / A
        k = 2 * T.einsum("hn,hnl->hl", c, T.exp(K)).real
        y = (
            T.fft.irfft(T.fft.rfft(u, n=2 * L) * T.fft.rfft(k, n=2 * L), n=2 * L)[..., :L]
            + u * D[:, None]
        )
        loss = F.mse_loss(y, tgt)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return {"log": log, "D": D.tolist()}
