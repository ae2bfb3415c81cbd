"""One block of a transformer written by hand: heads by view and transpose, a causal mask of -inf."""

import math

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(103)

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.qkv = nn.Linear(width, 3 * width)
            self.proj = nn.Linear(width, width)
            self.register_buffer("mask", T.tril(T.ones(32, 32)).view(1, 1, 32, 32))

        def forward(self, x):
            B, L, C = x.size()
            q, k, v = self.qkv(x).split(C, dim=2)
            q, k, v = (t.view(B, L, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.mask[:, :, :L, :L] == 0, float("-inf"))
            att = F.softmax(att, dim=-1)
            y = (att @ v).transpose(1, 2).contiguous().view(B, L, C)
            return self.proj(y), att

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(16), nn.LayerNorm(16)
            self.attn = Attention(16, 4)
            self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
            self.tok, self.pos = nn.Embedding(10, 16), nn.Embedding(32, 16)
            self.head = nn.Linear(16, 10, bias=False)

        def forward(self, idx):
            x = self.tok(idx) + self.pos(T.arange(idx.shape[1]))
            y, att = self.attn(self.ln1(x))
            x = x + y
            x = x + self.mlp(self.ln2(x))
            return self.head(x), att

    net = Block()
    with T.no_grad():
        for p in net.parameters():
            p.copy_(T.tensor((r.normal(size=tuple(p.shape)) * 0.2).astype("float32")))
    data = T.tensor(r.integers(0, 10, (4, 13)))
    opt = optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.1)
    losses = []
    for _ in range(6):
        logits, att = net(data[:, :-1])
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), data[:, 1:].reshape(-1))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return {"losses": losses, "att": att.detach().numpy(), "count": sum(p.numel() for p in net.parameters())}
