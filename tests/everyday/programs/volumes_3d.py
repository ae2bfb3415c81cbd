"""A little 3-d segmentation net, volume filters, marching through slices, projections."""

TOL = (2e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(29)
    g = T.linspace(-1, 1, 16)
    z, y, x = T.meshgrid(g, g, g, indexing="ij")
    ball = ((x**2 + y**2 + z**2) < 0.4).float()
    noisy = ball + 0.3 * T.tensor(r.normal(size=ball.shape)).float()
    net = nn.Sequential(
        nn.Conv3d(1, 4, 3, padding=1),
        nn.BatchNorm3d(4),
        nn.ReLU(),
        nn.MaxPool3d(2),
        nn.Conv3d(4, 8, 3, padding=1),
        nn.ReLU(),
        nn.ConvTranspose3d(8, 4, 2, stride=2),
        nn.ReLU(),
        nn.Conv3d(4, 1, 1),
    )
    with T.no_grad():
        for p in net.parameters():
            if p.ndim > 1:
                p.copy_(T.tensor(r.normal(size=p.shape) * 0.2))
            else:
                p.fill_(0.5)
    opt = optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for it in range(4):
        out = T.sigmoid(net(noisy[None, None]))[0, 0]
        inter = (out * ball).sum()
        dice = 1 - 2 * inter / (out.sum() + ball.sum() + 1e-6)
        opt.zero_grad()
        dice.backward()
        opt.step()
        losses.append(dice.item())
    k = T.ones(1, 1, 3, 3, 3) / 27
    blur = F.conv3d(noisy[None, None], k, padding=1)[0, 0]
    pooled = F.avg_pool3d(noisy[None, None], 2)[0, 0]
    mip = noisy.amax(0)
    up = F.interpolate(pooled[None, None], scale_factor=2, mode="trilinear", align_corners=False)[
        0, 0
    ]
    grad = T.gradient(blur, dim=(0,))[0]
    return {
        "losses": losses,
        "blur": blur.mean((1, 2)).numpy(),
        "mip": mip.numpy(),
        "up": up[8].numpy(),
        "grad": grad[4].numpy(),
        "ada": F.adaptive_avg_pool3d(noisy[None, None], 4).flatten().numpy(),
    }
