"""A GRU by matrices over ragged sequences that are padded, masked and packed back."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(3)
    lens = [int(v) for v in r.integers(2, 12, 9)]
    seqs = [T.tensor(r.normal(size=(n, 5)), dtype=T.float32) for n in lens]
    W = T.tensor(r.normal(size=(5, 24)) * 0.3, dtype=T.float32, requires_grad=True)
    U = T.tensor(r.normal(size=(8, 24)) * 0.3, dtype=T.float32, requires_grad=True)
    b = T.zeros(24, requires_grad=True)
    batch = nn.utils.rnn.pad_sequence(seqs, batch_first=True, padding_value=0.0)
    lengths = T.tensor(lens)
    mask = T.arange(batch.size(1))[None, :] < lengths[:, None]
    out = []
    for epoch in range(4):
        h = T.zeros(len(lens), 8)
        states = []
        for t in range(batch.size(1)):
            gx = batch[:, t] @ W + b
            gh = h @ U
            rx, zx, nx = gx.chunk(3, dim=1)
            rh, zh, nh = gh.chunk(3, 1)
            reset = T.sigmoid(rx + rh)
            z = T.sigmoid(zx + zh)
            n = T.tanh(nx + reset * nh)
            h = T.where(mask[:, t : t + 1], (1 - z) * n + z * h, h)
            states.append(h)
        H = T.stack(states, 1)
        loss = ((H.sum(-1) - batch.sum(-1)) ** 2)[mask].mean()
        gW, gU, gb = T.autograd.grad(loss, [W, U, b])
        with T.no_grad():
            W -= 0.02 * gW
            U -= 0.02 * gU
            b -= 0.02 * gb
        out.append(loss.item())
    unpadded = T.cat([H[i, :n] for i, n in enumerate(lens)])
    return {
        "losses": out,
        "last": h.detach().numpy(),
        "un": unpadded.detach().numpy(),
        "mask": mask.sum(1).tolist(),
    }
