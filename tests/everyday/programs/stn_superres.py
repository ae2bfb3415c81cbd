"""A spatial transformer by affine_grid and grid_sample trained; sub-pixel upsampling; unfold and fold patches."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(9)
    loc = nn.Sequential(nn.Flatten(), nn.Linear(64, 6))
    up = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.PReLU(), nn.Conv2d(8, 4, 3, padding=1), nn.PixelShuffle(2)
    )
    with T.no_grad():
        for p in [*loc.parameters(), *up.parameters()]:
            p.copy_(T.tensor(r.normal(size=tuple(p.shape)) * 0.1))
        loc[1].bias.copy_(T.tensor([1.0, 0, 0, 0, 1, 0]))
    x = T.tensor(r.random((4, 1, 8, 8)).astype("float32"))
    tgt = F.interpolate(x.flip(-1), scale_factor=2, mode="bicubic", align_corners=False)
    opt = optim.Adam([*loc.parameters(), *up.parameters()], lr=1e-2)
    log = []
    for i in range(6):
        th = loc(x).view(-1, 2, 3)
        w = F.grid_sample(
            x,
            F.affine_grid(th, x.shape, align_corners=False),
            padding_mode="border",
            align_corners=False,
        )
        loss = F.l1_loss(up(w), tgt)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    pt = F.unfold(x, 3, stride=1, padding=1)
    back = F.fold(pt, (8, 8), 3, padding=1) / F.fold(T.ones_like(pt), (8, 8), 3, padding=1)
    return {
        "log": log,
        "same": T.allclose(back, x, atol=1e-5),
        "rp": F.pad(x, (2, 2, 2, 2), mode="reflect").mean().item(),
    }
