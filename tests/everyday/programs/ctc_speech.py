"""A recurrent net trained by CTC on log probabilities; greedy decoding that merges repeats."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(33)
    gru, fc = nn.GRU(8, 16, batch_first=False), nn.Linear(16, 6)
    for p in [*gru.parameters(), *fc.parameters()]:
        p.data.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.3))
    opt = optim.Adam([*gru.parameters(), *fc.parameters()], lr=0.02)
    x = T.tensor(r.normal(size=(20, 4, 8)), dtype=T.float32)
    y = T.tensor(r.integers(1, 6, (4, 7)))
    xl, yl = T.tensor([20, 18, 15, 20]), T.tensor([7, 5, 4, 6])
    crit = nn.CTCLoss(blank=0, zero_infinity=True)
    hist = []
    for _ in range(4):
        lp = fc(gru(x)[0]).log_softmax(-1)
        loss = crit(lp, y, xl, yl)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hist.append(loss.item())
    texts = []
    for b in range(4):
        ids = T.unique_consecutive(lp[: xl[b], b].argmax(-1)).tolist()
        texts.append("".join("-abcde"[i] for i in ids if i))
    return {"hist": hist, "texts": " ".join(texts)}
