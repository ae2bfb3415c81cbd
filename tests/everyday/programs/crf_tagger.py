"""A linear-chain CRF: forward algorithm by logsumexp, gold scores by gather, Viterbi; trained."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(66)
    K, L, B = 5, 12, 6
    emit = nn.Linear(8, K)
    trans = nn.Parameter(T.tensor(r.normal(size=(K, K)) * 0.1, dtype=T.float32))
    for p in emit.parameters():
        p.data.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.3))
    opt = optim.Adam([*emit.parameters(), trans], lr=0.05)
    x, y = T.tensor(r.normal(size=(B, L, 8)), dtype=T.float32), T.tensor(r.integers(0, K, (B, L)))
    lens = T.tensor([12, 10, 9, 12, 5, 7])
    mask = T.arange(L)[None] < lens[:, None]
    hist = []
    for _ in range(4):
        e = emit(x)
        alpha = e[:, 0]
        for t in range(1, L):
            new = T.logsumexp(alpha.unsqueeze(2) + trans + e[:, t].unsqueeze(1), dim=1)
            alpha = T.where(mask[:, t, None], new, alpha)
        Z = alpha.logsumexp(1)
        gold = (e.gather(2, y.unsqueeze(2)).squeeze(2) * mask).sum(1) + (trans[y[:, :-1], y[:, 1:]] * mask[:, 1:]).sum(1)
        loss = (Z - gold).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        hist.append(loss.item())
    with T.no_grad():
        d, back = e[:, 0], []
        for t in range(1, L):
            best, arg = (d.unsqueeze(2) + trans).max(1)
            d = best + e[:, t]
            back.append(arg)
        path = [d.argmax(1)]
        for arg in reversed(back):
            path.append(arg.gather(1, path[-1][:, None])[:, 0])
        path = T.stack(path[::-1], 1)
    return {"hist": hist, "path": path.numpy(), "trans": trans.detach().numpy()}
