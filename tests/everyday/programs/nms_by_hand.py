"""Boxes: intersection over union, non-maximum suppression, average precision."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(15)
    xy = r.uniform(0, 80, (60, 2))
    wh = r.uniform(8, 30, (60, 2))
    boxes = T.tensor(np.concatenate([xy, xy + wh], 1), dtype=T.float32)
    scores = T.tensor(r.random(60), dtype=T.float32)

    def iou(a, b):
        area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
        area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        lt = T.max(a[:, None, :2], b[None, :, :2])
        rb = T.min(a[:, None, 2:], b[None, :, 2:])
        inter = (rb - lt).clamp(min=0).prod(2)
        return inter / (area_a[:, None] + area_b[None, :] - inter)

    keep, order = [], scores.sort(descending=True).indices
    while order.numel() > 0:
        i = order[0]
        keep.append(int(i))
        if order.numel() == 1:
            break
        rest = order[1:]
        order = rest[iou(boxes[i].unsqueeze(0), boxes[rest])[0] <= 0.3]
    truth = boxes[:15] + T.tensor(r.normal(size=(15, 4)), dtype=T.float32)
    m = iou(boxes[keep], truth)
    best, which = m.max(dim=1)
    hits, used = [], set()
    for v, w in zip(best.tolist(), which.tolist()):
        ok = v > 0.5 and w not in used
        used.add(w)
        hits.append(float(ok))
    tp = T.tensor(hits).cumsum(0)
    precision = tp / T.arange(1, len(hits) + 1)
    return {"keep": keep, "best": best.numpy(), "precision": precision.numpy(), "mean": m.mean().item()}
