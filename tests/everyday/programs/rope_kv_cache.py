"""A decoder with rotary positions, RMS norms, grouped queries and a cache of keys and values."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(41)
    d, H, KV, L, V = 32, 4, 2, 2, 50
    f = lambda *s: T.tensor(r.normal(size=s) * 0.2, dtype=T.float32)
    W = [{k: f(*s) for k, s in {"q": (d, d), "k": (d // 2, d), "v": (d // 2, d), "o": (d, d), "g": (64, d), "u": (64, d), "dn": (d, 64)}.items()} for _ in range(L)]
    emb = f(V, d)
    inv = 1.0 / (10000 ** (T.arange(0, 8, 2).float() / 8))

    def norm(x):
        return x * T.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def rope(x, pos):
        ang = pos[:, None].float() * inv
        cos, sin = T.cat([ang, ang], -1).cos(), T.cat([ang, ang], -1).sin()
        x1, x2 = x[..., :4], x[..., 4:]
        return x * cos + T.cat([-x2, x1], -1) * sin

    cache = [None] * L
    toks, cur = [5, 9, 2], T.tensor([[5, 9, 2]])
    start = 0
    with T.no_grad():
        for step in range(20):
            x = emb[cur]
            n = x.shape[1]
            pos = T.arange(start, start + n)
            for i, w in enumerate(W):
                h = norm(x)
                q = rope((h @ w["q"].T).view(1, n, H, 8).transpose(1, 2), pos)
                k = rope((h @ w["k"].T).view(1, n, KV, 8).transpose(1, 2), pos)
                v = (h @ w["v"].T).view(1, n, KV, 8).transpose(1, 2)
                if cache[i] is not None:
                    k, v = T.cat([cache[i][0], k], 2), T.cat([cache[i][1], v], 2)
                cache[i] = (k, v)
                k, v = k.repeat_interleave(H // KV, 1), v.repeat_interleave(H // KV, 1)
                s = q @ k.transpose(-1, -2) / 8 ** 0.5
                if n > 1:
                    s = s + T.full((n, n), float("-inf")).triu(1)
                x = x + (s.softmax(-1) @ v).transpose(1, 2).reshape(1, n, d) @ w["o"].T
                h = norm(x)
                x = x + (F.silu(h @ w["g"].T) * (h @ w["u"].T)) @ w["dn"].T
            start += n
            logits = norm(x)[:, -1] @ emb.T
            nxt = logits.argmax(-1, keepdim=True)
            toks.append(nxt.item())
            cur = nxt
    return {"toks": toks, "logits": logits.numpy()}
