"""Augmentation of images: bicubic and area resizing, flips, crops, rotation, colour jitter, mixup, cutout, pyramids."""

import math

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(28)
    img = T.tensor(r.random((3, 32, 40)), dtype=T.float32)
    big = F.interpolate(img[None], size=(48, 48), mode="bicubic", align_corners=False)[0]
    small = F.interpolate(img[None], scale_factor=0.5, mode="area")[0]
    near = F.interpolate(img[None], size=(20, 30), mode="nearest")[0]
    aa = F.interpolate(img.unsqueeze(0), size=(16, 20), mode="bilinear", antialias=True)[0]
    batch = []
    for k in range(6):
        out = img
        if r.random() < 0.5:
            out = out.flip(-1)
        top, left = int(r.integers(0, 8)), int(r.integers(0, 8))
        out = out[:, top : top + 24, left : left + 24]
        angle = math.radians(float(r.uniform(-20, 20)))
        theta = T.tensor(
            [[[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0]]]
        )
        out = F.grid_sample(
            out[None],
            F.affine_grid(theta, [1, 3, 24, 24], align_corners=False),
            align_corners=False,
        )[0]
        out = (out * float(r.uniform(0.8, 1.2))).clamp(0, 1)
        grey = (out * T.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)).sum(0, keepdim=True)
        out = T.lerp(grey.expand_as(out), out, 0.7)
        y, x = int(r.integers(0, 16)), int(r.integers(0, 16))
        out = out.clone()
        out[:, y : y + 8, x : x + 8] = 0.5
        batch.append(out)
    batch = T.stack(batch)
    lam = 0.3
    mixed = lam * batch + (1 - lam) * batch[T.tensor([3, 4, 5, 0, 1, 2])]
    mean, std = mixed.mean((0, 2, 3)), mixed.std((0, 2, 3))
    normed = (mixed - mean[None, :, None, None]) / std[None, :, None, None]
    pyramid = [batch]
    for _ in range(2):
        pyramid.append(F.avg_pool2d(pyramid[-1], 2))
    lap = pyramid[0] - F.interpolate(
        pyramid[1], scale_factor=2, mode="bilinear", align_corners=False
    )
    mse = F.mse_loss(batch[0], batch[1])
    psnr = 10 * T.log10(1 / mse)
    w = T.ones(3, 1, 7, 7) / 49
    mu1, mu2 = (F.conv2d(b[None], w, groups=3) for b in batch[:2])
    s12 = F.conv2d((batch[0] * batch[1])[None], w, groups=3) - mu1 * mu2
    rot = T.rot90(img, 1, [1, 2])
    patches = batch.unfold(2, 8, 8).unfold(3, 8, 8).permute(0, 2, 3, 1, 4, 5).reshape(6, 9, -1)
    ceil = F.max_pool2d(batch, 3, 2, ceil_mode=True)
    return {
        "big": big.numpy(),
        "small": small.numpy(),
        "near": near.numpy(),
        "aa": aa.numpy(),
        "normed": normed.numpy(),
        "lap": lap.numpy(),
        "psnr": psnr.item(),
        "s12": s12.mean().item(),
        "rot": rot[0].numpy(),
        "patches": patches.norm(dim=-1).numpy(),
        "ceil": ceil.mean((2, 3)).numpy(),
    }
