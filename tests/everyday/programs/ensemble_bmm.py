"""An ensemble of nets as batched parameters, by baddbmm; disagreement; bootstrap masks."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(60)
    E, B = 8, 100
    f = lambda *s: nn.Parameter(T.tensor(r.normal(size=s) * 0.4, dtype=T.float32))
    W1, b1, W2, b2 = f(E, 3, 20), f(E, 1, 20), f(E, 20, 1), f(E, 1, 1)
    opt = optim.Adam([W1, b1, W2, b2], lr=0.01)
    x = T.tensor(r.uniform(-2, 2, (B, 3)), dtype=T.float32)
    y = x.prod(1, keepdim=True)
    mask = T.tensor(r.integers(0, 3, (E, B, 1)), dtype=T.float32)
    hist = []
    for _ in range(10):
        h = T.baddbmm(b1, x.expand(E, B, 3), W1).tanh()
        p = T.baddbmm(b2, h, W2)
        loss = ((p - y) ** 2 * mask).sum((1, 2)) / mask.sum((1, 2))
        opt.zero_grad(set_to_none=True)
        loss.sum().backward()
        opt.step()
        hist.append(loss.tolist())
    return {"hist": hist, "std": p.std(0)[:10, 0].detach().numpy(), "var": T.var_mean(p, dim=0)[0][:5, 0].detach().numpy()}
