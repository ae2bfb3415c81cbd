"""A vision transformer and an encoder of the library: patches, a class token, nn.TransformerEncoderLayer, MultiheadAttention."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(35)

    class ViT(nn.Module):
        def __init__(self, dim=24):
            super().__init__()
            self.patch = nn.Conv2d(3, dim, 4, stride=4)
            self.cls = nn.Parameter(T.zeros(1, 1, dim))
            self.pos = nn.Parameter(T.zeros(1, 17, dim))
            layer = nn.TransformerEncoderLayer(
                dim,
                nhead=4,
                dim_feedforward=48,
                dropout=0.0,
                activation="gelu",
                batch_first=True,
                norm_first=True,
            )
            self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
            self.head = nn.Linear(dim, 5)

        def forward(self, x):
            x = self.patch(x).flatten(2).transpose(1, 2)
            x = T.cat([self.cls.expand(x.size(0), -1, -1), x], dim=1) + self.pos
            return self.head(self.encoder(x)[:, 0])

    net = ViT()
    with T.no_grad():
        for n, p in net.named_parameters():
            if p.dim() > 1:
                p.copy_(T.tensor(r.normal(size=p.shape) * 0.15))
            elif n.endswith("bias"):
                p.zero_()
    x = T.tensor(r.normal(size=(8, 3, 16, 16))).float()
    y = T.tensor(r.integers(0, 5, 8))
    opt = optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05)
    sched = optim.lr_scheduler.OneCycleLR(opt, max_lr=5e-3, total_steps=6)
    losses, lrs = [], []
    for it in range(5):
        loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        losses.append(loss.item())
        lrs.append(sched.get_last_lr()[0])
    mha = nn.MultiheadAttention(16, 4, batch_first=True)
    for p in mha.parameters():
        p.data = T.tensor(r.normal(size=p.shape) * 0.2).float()
    seq = T.tensor(r.normal(size=(3, 7, 16))).float()
    mask = T.triu(T.full((7, 7), float("-inf")), diagonal=1)
    pad = T.tensor([[False] * 7, [False] * 5 + [True] * 2, [False] * 3 + [True] * 4])
    out, weights = mha(seq, seq, seq, attn_mask=mask, key_padding_mask=pad)
    q, k, v = (t.unflatten(-1, (4, 4)).transpose(1, 2) for t in (seq, seq.flip(1), seq * 2))
    sdpa = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return {
        "losses": losses,
        "lrs": lrs,
        "norm": norm.item(),
        "out": out.detach().numpy(),
        "weights": weights.detach().numpy(),
        "sdpa": sdpa.numpy(),
    }
