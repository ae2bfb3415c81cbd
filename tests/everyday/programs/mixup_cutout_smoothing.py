"""Images mixed, cut out and flipped; labels smoothed; averaged weights."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(28)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.GroupNorm(2, 8),
        nn.SiLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(128, 5),
    )
    with T.no_grad():
        for p in net.parameters():
            p.copy_(T.tensor(r.standard_normal(tuple(p.shape)) * 0.1, dtype=T.float32))
    opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
    avg = optim.swa_utils.AveragedModel(net)
    losses = []
    for step in range(5):
        x = T.tensor(r.random((8, 3, 16, 16)), dtype=T.float32)
        y = T.tensor(r.integers(0, 5, 8))
        lam = float(r.beta(0.4, 0.4))
        perm = T.tensor(r.permutation(8))
        x = lam * x + (1 - lam) * x[perm]
        cx, cy = r.integers(0, 12, 2)
        x[:, :, cy : cy + 4, cx : cx + 4] = 0
        if step % 2:
            x = x.flip(-1)
        out = net(x)
        loss = lam * F.cross_entropy(out, y, label_smoothing=0.1) + (1 - lam) * F.cross_entropy(
            out, y[perm], label_smoothing=0.1
        )
        opt.zero_grad()
        loss.backward()
        total = nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        avg.update_parameters(net)
        losses.append([loss.item(), total.item()])
    return {"losses": np.array(losses), "avg": avg.module[5].weight.detach(), "n": avg.n_averaged}
