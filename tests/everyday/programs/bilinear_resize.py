"""Bilinear interpolation by hand against interpolate; a warp by grid_sample and an affine grid."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(142)
    image = T.tensor(r.random((7, 9)).astype("float32"))

    def resize(img, h, w):
        ys = ((T.arange(h) + 0.5) * img.shape[0] / h - 0.5).clamp(0, img.shape[0] - 1)
        xs = ((T.arange(w) + 0.5) * img.shape[1] / w - 0.5).clamp(0, img.shape[1] - 1)
        y0, x0 = ys.floor().long(), xs.floor().long()
        y1, x1 = (y0 + 1).clamp(max=img.shape[0] - 1), (x0 + 1).clamp(max=img.shape[1] - 1)
        fy, fx = (ys - y0)[:, None], (xs - x0)[None, :]
        top = img[y0][:, x0] * (1 - fx) + img[y0][:, x1] * fx
        low = img[y1][:, x0] * (1 - fx) + img[y1][:, x1] * fx
        return top * (1 - fy) + low * fy

    out, same = {}, []
    for h, w in [(14, 18), (5, 4), (10, 13)]:
        by_hand = resize(image, h, w)
        built = F.interpolate(image[None, None], size=(h, w), mode="bilinear", align_corners=False)[0, 0]
        same.append(T.allclose(by_hand, built, atol=1e-5))
        out[f"size{h}"] = by_hand.numpy()
    out["same"] = np.array(same)
    angle = T.tensor(0.3, requires_grad=True)
    losses = []
    for step in range(4):
        theta = T.stack([T.stack([angle.cos(), -angle.sin(), T.tensor(0.0)]),
                         T.stack([angle.sin(), angle.cos(), T.tensor(0.0)])]).unsqueeze(0)
        grid = F.affine_grid(theta, (1, 1, 7, 9), align_corners=False)
        turned = F.grid_sample(image[None, None], grid, align_corners=False)
        loss = F.mse_loss(turned[0, 0], image)
        (g,) = T.autograd.grad(loss, angle)
        angle = (angle - 0.5 * g).detach().requires_grad_()
        losses.append(loss.item())
    out["losses"] = losses
    out["nearest"] = F.interpolate(image[None, None], scale_factor=2, mode="nearest").numpy()
    return out
