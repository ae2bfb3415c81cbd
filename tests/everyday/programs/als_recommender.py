"""Alternating least squares and a factor model with biases and embeddings."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(10)
    R = T.tensor(r.integers(1, 6, (18, 14))).double()
    M = T.tensor(r.random((18, 14)) < 0.5).double()
    U = T.tensor(r.normal(size=(18, 4)))
    V = T.tensor(r.normal(size=(14, 4)))
    eye = 0.1 * T.eye(4, dtype=T.float64)
    history = []
    for sweep in range(4):
        for i in range(18):
            Vi = V[M[i] > 0]
            U[i] = T.linalg.solve(Vi.T @ Vi + eye, Vi.T @ R[i][M[i] > 0])
        for j in range(14):
            m = M[:, j].bool()
            Uj = U[m]
            V[j] = T.linalg.solve(Uj.T @ Uj + eye, Uj.T @ R[m, j])
        history.append((M * (R - U @ V.T) ** 2).sum().item())

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.user, self.item = nn.Embedding(18, 4), nn.Embedding(14, 4)
            self.bu, self.bi = nn.Embedding(18, 1), nn.Embedding(14, 1)
            self.mu = nn.Parameter(T.tensor(3.0))

        def forward(self, u, i):
            return (
                (self.user(u) * self.item(i)).sum(-1)
                + self.bu(u).squeeze(-1)
                + self.bi(i).squeeze(-1)
                + self.mu
            )

    model = Model()
    with T.no_grad():
        for p in model.parameters():
            if p.dim() > 0:
                p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.1))
    u, i = M.nonzero().unbind(1)
    y = R[u, i].float()
    opt = optim.Adagrad(model.parameters(), lr=0.1)
    for epoch in range(5):
        perm = T.tensor(r.permutation(len(u)))
        for part in perm.split(32):
            opt.zero_grad()
            loss = F.mse_loss(model(u[part], i[part]), y[part])
            loss.backward()
            opt.step()
    top = (U @ V.T).topk(3, dim=1)
    return {
        "history": history,
        "loss": loss.item(),
        "top": top.indices.numpy(),
        "mu": model.mu.item(),
        "rmse": (M * (R - U @ V.T) ** 2).sum().div(M.sum()).sqrt().item(),
    }
