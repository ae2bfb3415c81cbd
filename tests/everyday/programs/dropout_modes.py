"""Dropout in evaluation, masks of one's own, stochastic depth with NumPy's draws, gumbel noise, top-p."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(61)
    net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 10)).eval()
    for p in net.parameters():
        if p.dim() > 1:
            p.data.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.4))
        else:
            nn.init.zeros_(p)
    x = T.tensor(r.normal(size=(20, 8)), dtype=T.float32)
    logits = net(x)
    out = []
    for p in (0.3, 0.7, 0.95):
        s, i = logits.sort(-1, descending=True)
        cum = s.softmax(-1).cumsum(-1)
        cut = cum - s.softmax(-1) > p
        kept = s.masked_fill(cut, float("-inf"))
        back = T.full_like(logits, float("-inf")).scatter(-1, i, kept)
        u = T.tensor(r.random(logits.shape), dtype=T.float32).clamp(1e-6, 1 - 1e-6)
        out.append((back / 0.8 - T.log(-T.log(u))).argmax(-1).tolist())
    rep = logits.clone()
    seen = T.tensor(r.integers(0, 10, (20, 4)))
    score = rep.gather(1, seen)
    rep.scatter_(1, seen, T.where(score < 0, score * 1.2, score / 1.2))
    keep = T.tensor((r.random((20, 16)) > 0.3).astype("float32")) / 0.7
    h = net[0](x) * keep
    h.mean().backward()
    return {"out": out, "rep": rep.detach().numpy(), "g": net[0].weight.grad.numpy(), "ent": T.distributions.Categorical(logits=logits).entropy().detach().numpy() if False else (-(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1)).detach().numpy()}
