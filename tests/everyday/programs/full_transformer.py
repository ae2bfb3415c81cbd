"""nn.Transformer on a copy task with masks and greedy decoding; nn.TransformerDecoderLayer; learned positions."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(13)
    V, d = 12, 16
    emb = nn.Embedding(V, d)
    pos = nn.Parameter(T.zeros(1, 12, d))
    tr = nn.Transformer(d, 2, 1, 1, 32, dropout=0.0, batch_first=True)
    out = nn.Linear(d, V)
    ps = [*emb.parameters(), pos, *tr.parameters(), *out.parameters()]
    with T.no_grad():
        for p in ps:
            p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.2)) if p.dim() > 1 else p.fill_(0.1)
    src = T.tensor(r.integers(2, V, (6, 7)))
    tgt = T.cat([T.ones(6, 1, dtype=T.long), src], 1)
    opt = optim.Adam(ps, lr=3e-3)
    log = []
    for i in range(4):
        m = tr.generate_square_subsequent_mask(7)
        o = out(tr(emb(src) + pos[:, :7], emb(tgt[:, :-1]) + pos[:, :7], tgt_mask=m))
        loss = F.cross_entropy(o.transpose(1, 2), tgt[:, 1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    tr.eval()
    ys = T.ones(2, 1, dtype=T.long)
    with T.no_grad():
        mem = tr.encoder(emb(src[:2]) + pos[:, :7])
        for k in range(6):
            o = tr.decoder(
                emb(ys) + pos[:, : ys.size(1)],
                mem,
                tgt_mask=tr.generate_square_subsequent_mask(ys.size(1)),
            )
            nx = out(o[:, -1]).argmax(-1, keepdim=True)
            ys = T.cat([ys, nx], 1)
    return {"log": log, "ys": ys.numpy()}
