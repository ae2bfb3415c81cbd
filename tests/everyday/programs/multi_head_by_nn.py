"""nn.MultiheadAttention with masks, TransformerEncoderLayer in evaluation, positional encoding."""

import math

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(10)
    d = 16
    pe = T.zeros(20, d)
    pos = T.arange(0, 20).unsqueeze(1).float()
    div = T.exp(T.arange(0, d, 2).float() * (-math.log(10000.0) / d))
    pe[:, 0::2] = T.sin(pos * div)
    pe[:, 1::2] = T.cos(pos * div)
    layer = nn.TransformerEncoderLayer(d, 4, 32, dropout=0.0, batch_first=True)
    mha = nn.MultiheadAttention(d, 2, batch_first=True)
    with T.no_grad():
        for m in (layer, mha):
            for p in m.parameters():
                p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.2))
    x = T.tensor(r.normal(size=(3, 20, d)).astype("float32")) + pe
    lens = T.tensor([20, 13, 7])
    pad = T.arange(20)[None] >= lens[:, None]
    causal = nn.Transformer.generate_square_subsequent_mask(20)
    layer.train()
    opt = optim.Adam(layer.parameters(), 1e-3)
    losses = []
    for i in range(4):
        out = layer(x, src_key_padding_mask=pad)
        loss = (out[~pad] ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    layer.eval()
    mha.eval()
    with T.no_grad():
        ev = layer(x, src_mask=causal)
        o, wts = mha(x, x, x, key_padding_mask=pad, need_weights=True)
    return {
        "losses": losses,
        "ev": ev.numpy(),
        "o": o.numpy(),
        "w": wts.sum(-1).numpy(),
        "tri": T.triu(T.ones(4, 4), 1).numpy(),
    }
