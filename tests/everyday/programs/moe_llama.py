"""A small Llama block with RMSNorm, rotary embedding, grouped heads, SwiGLU and a mixture of experts by top-k."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(7)
    d, H, KV = 16, 4, 2

    class Norm(nn.Module):
        def __init__(s):
            super().__init__()
            s.w = nn.Parameter(T.ones(d))

        def forward(s, x):
            return x * T.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * s.w

    def rope(x, pos):
        f = 1.0 / (100 ** (T.arange(0, x.shape[-1], 2).float() / x.shape[-1]))
        a = pos[:, None].float() * f
        c, s = a.cos(), a.sin()
        x1, x2 = x[..., ::2], x[..., 1::2]
        return T.stack([x1 * c - x2 * s, x1 * s + x2 * c], -1).flatten(-2)

    class Block(nn.Module):
        def __init__(s):
            super().__init__()
            s.n1, s.n2 = Norm(), Norm()
            s.q, s.k, s.v, s.o = (
                nn.Linear(d, d, bias=False),
                nn.Linear(d, d // 2, bias=False),
                nn.Linear(d, d // 2, bias=False),
                nn.Linear(d, d, bias=False),
            )
            s.gate = nn.Linear(d, 4, bias=False)
            s.ex = nn.ModuleList(
                [
                    nn.ModuleDict(
                        {
                            "w1": nn.Linear(d, 24, bias=False),
                            "w2": nn.Linear(24, d, bias=False),
                            "w3": nn.Linear(d, 24, bias=False),
                        }
                    )
                    for _ in range(4)
                ]
            )

        def forward(s, x):
            B, L, _ = x.shape
            h = s.n1(x)
            pos = T.arange(L)
            q = rope(s.q(h).view(B, L, H, 4).transpose(1, 2), pos)
            k = rope(s.k(h).view(B, L, KV, 4).transpose(1, 2), pos).repeat_interleave(H // KV, 1)
            v = s.v(h).view(B, L, KV, 4).transpose(1, 2).repeat_interleave(H // KV, 1)
            m = T.full((L, L), float("-inf")).triu(1)
            a = F.softmax(q @ k.transpose(2, 3) / 2 + m, -1) @ v
            x = x + s.o(a.transpose(1, 2).reshape(B, L, d))
            h = s.n2(x).reshape(-1, d)
            w, i = T.topk(F.softmax(s.gate(h), -1), 2)
            w = w / w.sum(-1, keepdim=True)
            out = T.zeros_like(h)
            for e, E in enumerate(s.ex):
                rows, slot = T.where(i == e)
                if rows.numel():
                    out.index_add_(
                        0,
                        rows,
                        w[rows, slot, None] * E["w2"](F.silu(E["w1"](h[rows])) * E["w3"](h[rows])),
                    )
            return x + out.view_as(x)

    emb = nn.Embedding(20, d)
    blocks = nn.Sequential(Block(), Block())
    ps = [*emb.parameters(), *blocks.parameters()]
    with T.no_grad():
        for p in ps:
            if p.dim() > 1:
                p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.2))
    t = T.tensor(r.integers(0, 20, (2, 13)))
    opt = optim.AdamW(ps, lr=3e-3)
    log = []
    for i in range(5):
        lg = blocks(emb(t[:, :-1])) @ emb.weight.T
        loss = F.cross_entropy(lg.reshape(-1, 20), t[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(ps, 1.0)
        opt.step()
        log.append(loss.item())
    return {"log": log}
