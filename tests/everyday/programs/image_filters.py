"""Sobel, Gaussian blur, sharpening, median filter, thresholds, histogram, flips and rotations."""

import math

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(13)
    img = T.tensor(r.integers(0, 256, (3, 40, 36)), dtype=T.uint8)
    x = img.float() / 255
    gray = (x * T.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)).sum(0)
    kx = T.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    k = T.stack([kx, kx.t()]).unsqueeze(1)
    e = F.conv2d(gray[None, None], k, padding=1)
    mag = e.pow(2).sum(1).sqrt()
    ang = T.atan2(e[:, 1], e[:, 0])
    ax = T.arange(-3, 4).float()
    g = T.exp(-(ax**2) / 4.5)
    g = g / g.sum()
    g2 = T.outer(g, g)
    blur = F.conv2d(F.pad(x[None], (3, 3, 3, 3), mode="reflect"), g2.expand(3, 1, 7, 7), groups=3)
    sharp = (x + 0.8 * (x - blur[0])).clamp(0, 1)
    med = (
        F.unfold(F.pad(gray[None, None], (1, 1, 1, 1), mode="replicate"), 3)
        .median(1)
        .values.view(40, 36)
    )
    hist = T.histc(gray, bins=16, min=0, max=1)
    th = 0.0
    p = hist / hist.sum()
    cs = p.cumsum(0)
    mu = (p * T.arange(16)).cumsum(0)
    between = (mu[-1] * cs - mu) ** 2 / (cs * (1 - cs)).clamp_min(1e-6)
    th = (between.argmax().item() + 1) / 16
    binary = gray > th
    er = -F.max_pool2d(-binary[None].float(), 3, 1, 1)
    di = F.max_pool2d(binary[None].float(), 3, 1, 1)
    back = (sharp * 255).round().to(T.uint8)
    theta = T.tensor([[math.cos(0.3), -math.sin(0.3), 0], [math.sin(0.3), math.cos(0.3), 0]])[None]
    rot = F.grid_sample(
        x[None], F.affine_grid(theta, [1, 3, 40, 36], align_corners=False), align_corners=False
    )
    return {
        "mag": mag.numpy(),
        "ang": T.cos(ang).numpy(),
        "med": med.numpy(),
        "th": th,
        "er": er.sum().item(),
        "di": di.sum().item(),
        "back": back.numpy(),
        "flip": img.flip(-1)[:, :2, :3].numpy(),
        "rot": rot.mean((0, 2, 3)).numpy(),
        "r90": T.rot90(img, 1, (1, 2)).shape[1],
        "roll": img.roll((2, -1), (1, 2))[0, 0].tolist(),
        "up": F.interpolate(x[None], scale_factor=2, mode="bilinear", align_corners=False)[
            0, 0, ::9, ::9
        ].numpy(),
    }
