"""Boxes: pairwise IoU of 300, suppression, matching of anchors, GIoU losses with gradients."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(44)
    xy = T.tensor(r.random((300, 2)) * 80, dtype=T.float32)
    wh = T.tensor(r.random((300, 2)) * 20 + 2, dtype=T.float32)
    boxes, scores = T.cat([xy, xy + wh], 1), T.tensor(r.random(300), dtype=T.float32)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    lt, rb = T.max(boxes[:, None, :2], boxes[None, :, :2]), T.min(boxes[:, None, 2:], boxes[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(-1)
    iou = inter / (area[:, None] + area - inter)
    order, keep = scores.argsort(descending=True), []
    while order.numel():
        i = order[0].item()
        keep.append(i)
        order = order[1:][iou[i, order[1:]] <= 0.3]
    gt = boxes[keep[:10]] + 1.0
    p = boxes[keep[:10]].clone().requires_grad_()
    lt, rb = T.max(p[:, :2], gt[:, :2]), T.min(p[:, 2:], gt[:, 2:])
    w = (rb - lt).clamp(min=0)
    i = w[:, 0] * w[:, 1]
    u = (p[:, 2:] - p[:, :2]).prod(1) + (gt[:, 2:] - gt[:, :2]).prod(1) - i
    e = (T.max(p[:, 2:], gt[:, 2:]) - T.min(p[:, :2], gt[:, :2])).prod(1)
    loss = (1 - i / u + (e - u) / e).sum()
    loss.backward()
    match = iou[:, keep[:10]].max(1)
    return {"keep": keep, "loss": loss.item(), "g": p.grad.numpy(), "m": match.indices.numpy()[:50], "mv": match.values.mean().item()}
