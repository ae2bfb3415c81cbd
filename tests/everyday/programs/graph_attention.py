"""A graph attention layer on edges: softmax over neighbours by scatter, two layers, node classes."""
TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(21)
    n = 30
    edges = T.tensor(np.array([(i, j) for i in range(n) for j in range(n) if i == j or r.random() < 0.1]).T)
    src, dst = edges
    x = T.tensor(r.normal(size=(n, 6)), dtype=T.float32)
    y = T.tensor(r.integers(0, 3, n))

    class GAT(nn.Module):
        def __init__(self, inp, out):
            super().__init__()
            self.lin = nn.Linear(inp, out, bias=False)
            self.a_src, self.a_dst = nn.Parameter(T.empty(out)), nn.Parameter(T.empty(out))

        def forward(self, x):
            h = self.lin(x)
            e = F.leaky_relu((h @ self.a_src)[src] + (h @ self.a_dst)[dst], 0.2)
            e = T.exp(e - e.max())
            z = T.zeros(n).index_add(0, dst, e)
            alpha = e / z[dst]
            return T.zeros(n, h.size(1)).index_add(0, dst, alpha.unsqueeze(1) * h[src]), alpha

    l1, l2 = GAT(6, 8), GAT(8, 3)
    params = [*l1.parameters(), *l2.parameters()]
    for p in params:
        p.data.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.4))
    opt = optim.Adam(params, lr=0.02, weight_decay=5e-4)
    losses = []
    for epoch in range(20):
        h, _ = l1(x)
        out, alpha = l2(F.elu(h))
        loss = F.nll_loss(F.log_softmax(out, 1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return {"losses": losses, "alpha": alpha.detach().numpy(), "acc": (out.argmax(1) == y).float().mean().item()}
