"""Rays through a field of densities, blended by cumulative products; the field is trained."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(150)
    rays, samples = 24, 16
    t = T.linspace(0.5, 2.5, samples)
    origins = T.tensor(r.normal(size=(rays, 3)).astype("float32") * 0.1)
    dirs = F.normalize(T.tensor(r.normal(size=(rays, 3)).astype("float32")), dim=-1)
    goal = T.sigmoid(dirs * 2)
    net = nn.Sequential(nn.Linear(15, 24), nn.ReLU(), nn.Linear(24, 4))
    for p in net.parameters():
        p.data = T.tensor((r.normal(size=tuple(p.shape)) * 0.2).astype("float32"))
    opt = optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for step in range(6):
        points = origins[:, None, :] + dirs[:, None, :] * t[None, :, None]
        encoded = T.cat([points] + [f(points * 2 ** k) for k in range(2) for f in (T.sin, T.cos)], dim=-1)
        raw = net(encoded)
        color, density = T.sigmoid(raw[..., :3]), F.relu(raw[..., 3] + 0.5)
        delta = T.cat([t[1:] - t[:-1], T.tensor([1e3])])
        alpha = 1 - T.exp(-density * delta)
        passed = T.cumprod(T.cat([T.ones(rays, 1), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        weight = alpha * passed
        rgb = (weight[..., None] * color).sum(dim=1)
        depth = (weight * t).sum(1)
        loss = ((rgb - goal) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return {"losses": losses, "depth": depth.detach().numpy(), "psnr": -10 * np.log10(losses[-1])}
