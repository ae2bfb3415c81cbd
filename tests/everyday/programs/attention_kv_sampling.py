"""A decoder with a KV cache that grows by cat; top-k and top-p filters with given uniform numbers; repetition penalty."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(21)
    V, d, H = 30, 16, 2

    def W(*s):
        return T.tensor((r.normal(size=s) * 0.3).astype("float32"))

    E, Wq, Wk, Wv, Wo, W1, W2 = W(V, d), W(d, d), W(d, d), W(d, d), W(d, d), W(d, 32), W(32, d)
    P = W(64, d)

    def block(x, cache):
        B, t, _ = x.shape
        h = F.layer_norm(x, (d,))
        q, k, v = (h @ m for m in (Wq, Wk, Wv))
        q, k, v = (z.view(B, t, H, d // H).transpose(1, 2) for z in (q, k, v))
        if cache is not None:
            k = T.cat([cache[0], k], dim=2)
            v = T.cat([cache[1], v], dim=2)
        s = q @ k.transpose(-2, -1) / (d // H) ** 0.5
        if t > 1:
            s = s.masked_fill(T.ones(t, t).tril() == 0, float("-inf"))
        x = x + (s.softmax(-1) @ v).transpose(1, 2).reshape(B, t, d) @ Wo
        return x + F.gelu(F.layer_norm(x, (d,)) @ W1) @ W2, (k, v)

    toks = [1, 5, 9]
    cache = None
    x = E[T.tensor([toks])] + P[:3]
    probs = []
    with T.no_grad():
        for step in range(20):
            out, cache = block(x, cache)
            logits = F.layer_norm(out[:, -1], (d,)) @ E.T
            for tk in set(toks[-5:]):
                logits[0, tk] = logits[0, tk] / 1.3 if logits[0, tk] > 0 else logits[0, tk] * 1.3
            v, _ = T.topk(logits, 10)
            logits[logits < v[:, [-1]]] = -float("inf")
            sl, si = T.sort(logits, descending=True)
            cp = F.softmax(sl, -1).cumsum(-1)
            rm = cp > 0.9
            rm[..., 1:] = rm[..., :-1].clone()
            rm[..., 0] = False
            logits = logits.masked_fill(rm.scatter(1, si, rm), -float("inf"))
            p = F.softmax(logits, -1)
            u = float(r.random())
            nxt = int((p[0].cumsum(0) < u).sum().clamp(max=V - 1))
            toks.append(nxt)
            probs.append(p[0, nxt].item())
            x = E[T.tensor([[nxt]])] + P[len(toks) - 1]
    return {"toks": toks, "probs": probs, "k": cache[0].sum().item(), "len": cache[0].shape[2]}
