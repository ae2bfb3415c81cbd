"""A spatial transformer: affine_grid and grid_sample inside of a trained net."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(38)
    loc = nn.Sequential(nn.Flatten(), nn.Linear(400, 16), nn.Tanh(), nn.Linear(16, 6))
    clf = nn.Linear(400, 4)
    for p in [*loc.parameters(), *clf.parameters()]:
        p.data.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.05))
    loc[3].weight.data.zero_()
    loc[3].bias.data.copy_(T.tensor([1, 0, 0, 0, 1, 0], dtype=T.float))
    opt = optim.SGD([*loc.parameters(), *clf.parameters()], lr=0.05)
    x, y = T.tensor(r.random((12, 1, 20, 20)), dtype=T.float32), T.tensor(r.integers(0, 4, 12))
    hist = []
    for _ in range(5):
        theta = loc(x).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        warped = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
        loss = F.cross_entropy(clf(warped.flatten(1)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hist.append(loss.item())
    return {"hist": hist, "theta": theta[:2].detach().numpy(), "w": warped[0, 0, :4].detach().numpy()}
