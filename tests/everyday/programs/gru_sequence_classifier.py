"""A GRU that reads sequences step by step with GRUCell, and a bidirectional one for comparison."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(102)
    x = T.from_numpy(r.normal(size=(8, 10, 4)).astype("float32"))
    y = (x.sum((1, 2)) > 0).long()
    cell, both = nn.GRUCell(4, 6), nn.GRU(4, 3, bidirectional=True, batch_first=True)
    head = nn.Linear(12, 2)
    params = [*cell.parameters(), *both.parameters(), *head.parameters()]
    for p in params:
        p.data.copy_(T.from_numpy((r.normal(size=tuple(p.shape)) * 0.4).astype("float32")))
    opt = optim.RMSprop(params, lr=0.01)
    losses = []
    for epoch in range(5):
        h = T.zeros(8, 6)
        for t in range(x.size(1)):
            h = cell(x[:, t], h)
        _, last = both(x)
        features = T.cat([h, last[0], last[1]], dim=1)
        loss = F.cross_entropy(head(features), y)
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(params, max_norm=0.5)
        opt.step()
        losses.append([loss.item(), float(norm)])
    return {"losses": losses, "w": cell.weight_hh.detach().numpy()}
