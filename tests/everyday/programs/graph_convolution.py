"""A graph convolution network: a normalized adjacency matrix, and messages by index_add."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(118)
    n = 30
    edges = T.tensor(r.integers(0, n, (2, 70)))
    A = T.zeros(n, n)
    A[edges[0], edges[1]] = 1
    A = ((A + A.t()) > 0).float()
    A.fill_diagonal_(1)
    deg = A.sum(1)
    norm = deg.pow(-0.5)
    A_hat = norm[:, None] * A * norm[None, :]
    x = T.eye(n)
    y = T.tensor(r.integers(0, 3, n))
    train = T.zeros(n, dtype=T.bool)
    train[::2] = True

    class Layer(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.weight = nn.Parameter(T.tensor((r.normal(size=(i, o)) * 0.3).astype("float32")))

        def forward(self, x, a):
            return a @ (x @ self.weight)

    one, two = Layer(n, 8), Layer(8, 3)
    opt = optim.Adam([{"params": one.parameters(), "weight_decay": 5e-3}, {"params": two.parameters()}], lr=0.02)
    losses = []
    for epoch in range(12):
        opt.zero_grad()
        out = two(F.relu(one(x, A_hat)), A_hat)
        loss = F.cross_entropy(out[train], y[train])
        loss.backward()
        opt.step()
        losses.append(loss.item())
    src, dst = A.nonzero(as_tuple=True)
    with T.no_grad():
        h = out.detach()
        messages = T.zeros(n, 3).index_add_(0, dst, h[src])
        mean = messages / T.bincount(dst, minlength=n).unsqueeze(1)
        right = (out.argmax(1) == y)[~train].float().mean()
    return {"losses": losses, "right": right.item(), "mean": mean.numpy(), "edges": int(A.sum().item())}
