"""An image fitted to the Gram matrices of another, through a small fixed convolution."""

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(111)
    filters = T.tensor((r.normal(size=(6, 3, 3, 3)) * 0.3).astype("float32"))
    content = T.tensor(r.random((1, 3, 16, 16)).astype("float32"))
    style = T.tensor(r.random((1, 3, 16, 16)).astype("float32"))

    def features(image):
        first = F.relu(F.conv2d(image, filters, padding=1))
        return first, F.avg_pool2d(first, 2)

    def gram(f):
        b, c, h, w = f.shape
        flat = f.view(b * c, h * w)
        return flat @ flat.t() / (b * c * h * w)

    with T.no_grad():
        goals = [gram(f) for f in features(style)]
        keep = features(content)[1]
    image = content.clone().requires_grad_(True)
    opt = optim.Adam([image], lr=0.05)
    parts = []
    for _ in range(8):
        opt.zero_grad()
        found = features(image)
        style_loss = sum(F.mse_loss(gram(f), g) for f, g in zip(found, goals))
        content_loss = F.mse_loss(found[1], keep)
        (1000 * style_loss + content_loss).backward()
        opt.step()
        image.data.clamp_(0, 1)
        parts.append([style_loss.item(), content_loss.item()])
    return {"parts": parts, "image": image.detach().numpy()}
