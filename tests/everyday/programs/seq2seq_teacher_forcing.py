"""Sequences turned round by a recurrent network that is sometimes told the truth."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(13)

    class S2S(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(12, 10)
            self.enc = nn.GRU(10, 16, batch_first=True)
            self.dec = nn.GRUCell(10, 16)
            self.out = nn.Linear(16, 12)

        def forward(self, src, tgt, force):
            _, h = self.enc(self.emb(src))
            h = h.squeeze(0)
            tok = T.zeros(src.size(0), dtype=T.long)
            logits = []
            for t in range(tgt.size(1)):
                h = self.dec(self.emb(tok), h)
                y = self.out(h)
                logits.append(y)
                tok = tgt[:, t] if force[t] else y.argmax(-1)
            return T.stack(logits, 1)

    m = S2S()
    with T.no_grad():
        for p in m.parameters():
            p.copy_(T.tensor(r.standard_normal(tuple(p.shape)) * 0.2))
    opt = optim.Adam(m.parameters(), lr=5e-3)
    losses = []
    for step in range(6):
        src = T.tensor(r.integers(1, 12, (8, 5 + step % 3)))
        tgt = src.flip(1)
        logits = m(src, tgt, r.random(tgt.size(1)) > 0.3)
        loss = F.cross_entropy(logits.flatten(0, 1), tgt.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    return {"losses": np.array(losses)}
