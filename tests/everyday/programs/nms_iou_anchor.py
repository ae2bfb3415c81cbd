"""Boxes: IoU matrix, soft-NMS, anchor grid, encode and decode, GIoU loss trained, average precision."""

TOL = (1e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(42)
    xy = T.tensor(r.random((40, 2)).astype("float32")) * 80
    wh = T.tensor(r.random((40, 2)).astype("float32")) * 30 + 5
    B = T.cat([xy, xy + wh], 1)
    s = T.tensor(r.random(40).astype("float32"))

    def area(b):
        return (b[..., 2] - b[..., 0]).clamp(0) * (b[..., 3] - b[..., 1]).clamp(0)

    def iou(a, b):
        lt = T.max(a[:, None, :2], b[None, :, :2])
        rb = T.min(a[:, None, 2:], b[None, :, 2:])
        i = (rb - lt).clamp(min=0).prod(2)
        return i / (area(a)[:, None] + area(b)[None] - i)

    M = iou(B, B)
    keep, order = [], s.argsort(descending=True)
    while order.numel() > 0:
        k = order[0]
        keep.append(k.item())
        order = order[1:][M[k, order[1:]] <= 0.3]
    soft = s.clone()
    done = []
    for _ in range(8):
        k = int(soft.argmax())
        done.append(k)
        soft = soft * T.exp(-(M[k] ** 2) / 0.5)
        soft[done] = 0
    ys, xs = T.meshgrid(T.arange(4), T.arange(4), indexing="ij")
    A = (
        T.stack([xs, ys, xs, ys], -1).reshape(-1, 1, 4) * 20
        + T.tensor([[-8.0, -8, 8, 8], [-16, -8, 16, 8]])
    ).reshape(-1, 4)
    best = iou(A, B).max(1)
    p = B[:8].clone().add(3).requires_grad_()
    opt = optim.SGD([p], lr=20.0)
    log = []
    for st in range(10):
        t = B[:8]
        lt = T.maximum(p[:, :2], t[:, :2])
        rb = T.minimum(p[:, 2:], t[:, 2:])
        i = (rb - lt).clamp(0).prod(1)
        u = area(p) + area(t) - i
        c = (T.maximum(p[:, 2:], t[:, 2:]) - T.minimum(p[:, :2], t[:, :2])).prod(1)
        loss = (1 - i / u + (c - u) / c).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return {
        "keep": keep,
        "done": done,
        "best": best.values.numpy(),
        "bi": best.indices.numpy(),
        "log": log,
        "p": p.detach().numpy(),
    }
