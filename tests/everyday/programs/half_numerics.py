"""Sums, products and parts of float16 and bfloat16, rounded as PyTorch rounds them."""

TOL = (2e-2, 1e-2)


def main(T, nn, F, optim, np):
    a = T.arange(1, 2000, dtype=T.float32)
    out = {}
    for dt in (T.float16, T.bfloat16):
        n = str(dt).split(".")[-1]
        h = (a / 7).to(dt)
        out[n + "sum"] = h.sum().float()
        out[n + "mean"] = h.mean().float()
        out[n + "max"] = h.max().item()
        s = T.zeros((), dtype=dt)
        for v in h[:200]:
            s = s + v
        out[n + "acc"] = s.float()
        out[n + "mm"] = (h[:900].view(30, 30) @ h[:900].view(30, 30).T / 100).float()
        out[n + "softmax"] = (h[:50] / 10).softmax(0).float()
        out[n + "cs"] = (h[:100] / 50).cumsum(0).float()
        e = T.finfo(dt)
        out[n + "info"] = np.array([e.max, e.eps, e.tiny])
        k = h[:10].clone()
        k[3] = 5
        k[5:8] *= 2
        k.clamp_(max=4)
        out[n + "k"] = k.float()
        q = h[:12].view(3, 4).contiguous().t()
        out[n + "q"] = q.float()
        out[n + "i"] = (h[:20] * 10).int()
        out[n + "eq"] = (h[:20] == h[:20].float()).sum()
    return out
