"""Losses for segmentation: dice, focal, Lovász by sorting, boundary by distance; soft ranks; IoU per class."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(8)
    net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 3, 3, padding=1))
    with T.no_grad():
        for p in net.parameters():
            p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.3))
    x = T.tensor(r.random((2, 1, 12, 12)).astype("float32"))
    y = T.tensor(r.integers(0, 3, (2, 12, 12)))
    opt = optim.Adam(net.parameters(), lr=1e-2)
    log = []
    for i in range(6):
        lg = net(x)
        p = lg.softmax(1)
        oh = F.one_hot(y, 3).permute(0, 3, 1, 2).float()
        dice = 1 - (2 * (p * oh).sum((0, 2, 3)) + 1) / (p.sum((0, 2, 3)) + oh.sum((0, 2, 3)) + 1)
        ce = F.cross_entropy(lg, y, reduction="none")
        focal = ((1 - T.exp(-ce)) ** 2 * ce).mean()
        lov = 0
        for c in range(3):
            fg = oh[:, c].reshape(-1)
            err, perm = T.sort((fg - p[:, c].reshape(-1)).abs(), descending=True)
            g = fg[perm]
            inter = g.sum() - g.cumsum(0)
            union = g.sum() + (1 - g).cumsum(0)
            jac = 1 - inter / union
            jac[1:] = jac[1:].clone() - jac[:-1].clone()
            lov = lov + T.dot(err, jac.detach())
        loss = dice.mean() + focal + lov / 3
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    pred = lg.argmax(1)
    iou = [
        ((pred == c) & (y == c)).sum().item() / ((pred == c) | (y == c)).sum().item()
        for c in range(3)
    ]
    return {"log": log, "iou": iou}
